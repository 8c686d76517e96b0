//! The JSON boundary: what is accepted, what is refused and with which words,
//! and that no depth reaches the native stack.

use std::thread;

use hotcell::json::{
    Array, DEPTH_MAX, Error, ErrorKind, FLOAT_BYTES_MAX, Float, INTEGER_DIGITS_MAX, Integer, Object, Value, check,
    cost, decode, decode_bounded, decode_bytes, encode, encode_into, encoded_len, pretty, string_len,
};
mod agreement;
mod convert;
mod properties;

fn refusal(text: &str) -> Result<Value, (ErrorKind, String)> {
    decode(text).map_err(|error| (error.kind(), error.to_string()))
}

fn round_trip(text: &str) -> Result<String, Error> {
    decode(text).map(|value| encode(&value))
}

#[test]
fn texts_survive_unchanged() {
    for text in [
        "null",
        "true",
        "false",
        "0",
        "-1",
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "1.0",
        "-0.0",
        "0.1",
        "1e300",
        "5e-324",
        "1e16",
        "9007199254740993",
        "123456789.25",
        r#""""#,
        r#""a\"b\\c/d""#,
        "\"\u{2028}\u{2029}\u{7f}é🦀\"",
        r#""\n\t\r\b\f\u0000\u001f""#,
        "[]",
        "{}",
        r#"[[],{},[{"":[]}]]"#,
        r#"{"b":1,"a":{"__proto__":2,"constructor":3},"":null}"#,
    ] {
        assert_eq!(round_trip(text).as_deref(), Ok(text));
        assert_eq!(encoded_len(&decode(text).unwrap()), text.len());
    }
}

#[test]
fn other_spellings_become_the_one_spelling() {
    for (text, canonical) in [
        (" \t\r\n[ 1 , 2 ]\n", "[1,2]"),
        ("{ \"a\" : 1 , \"b\" : 2 }", r#"{"a":1,"b":2}"#),
        ("-0", "-0.0"),
        ("1E2", "100.0"),
        ("1e+2", "100.0"),
        ("-0e5", "-0.0"),
        ("1e-400", "0.0"),
        ("-1e-400", "-0.0"),
        ("1.00000000000000000000000000000001", "1.0"),
        ("1.7976931348623157e308", "1.7976931348623157e308"),
        ("100000000000000000000.0", "1e20"),
        (r#""\u0041\u00e9\/\ud83e\udd80\uD83E\uDD80""#, "\"Aé/🦀🦀\""),
        (r#""\u2028\ue000\ud7ff""#, "\"\u{2028}\u{e000}\u{d7ff}\""),
    ] {
        assert_eq!(round_trip(text).as_deref(), Ok(canonical));
    }
}

#[test]
fn every_control_character_is_escaped_and_refused_raw() {
    for code in 0..0x20_u8 {
        let raw = char::from(code).to_string();
        let spelled = match raw.as_str() {
            "\n" => r"\n".to_owned(),
            "\t" => r"\t".to_owned(),
            "\r" => r"\r".to_owned(),
            "\u{8}" => r"\b".to_owned(),
            "\u{c}" => r"\f".to_owned(),
            _ => format!("\\u{code:04x}"),
        };
        let text = format!("\"{spelled}\"");
        assert_eq!(encode(&Value::from(raw.as_str())), text);
        assert_eq!(decode(&text), Ok(Value::from(raw.as_str())));
        assert_eq!(string_len(&raw), text.len());
        let message = format!("control character U+{code:04X} is not escaped at $.a (byte 7)");
        assert_eq!(refusal(&format!("{{\"a\":\"x{raw}\"}}")), Err((ErrorKind::Syntax, message)));
    }
}

#[test]
fn syntax_errors_name_what_was_expected_and_where() {
    for (text, message) in [
        ("", "expected a value, found the end of the text at $ (byte 0)"),
        (" ", "expected a value, found the end of the text at $ (byte 1)"),
        ("nul", "expected a value, found \"n\" at $ (byte 0)"),
        ("NaN", "expected a value, found \"N\" at $ (byte 0)"),
        ("\u{feff}1", "expected a value, found \"\u{feff}\" at $ (byte 0)"),
        ("\0", "expected a value, found \"\\u0000\" at $ (byte 0)"),
        ("[1,]", "expected a value, found \"]\" at $[1] (byte 3)"),
        ("[1 2]", "expected ',' or ']', found \"2\" at $ (byte 3)"),
        ("[1}", "expected ',' or ']', found \"}\" at $ (byte 2)"),
        ("[[1],", "expected a value, found the end of the text at $[1] (byte 5)"),
        ("{", "expected a key, found the end of the text at $ (byte 1)"),
        ("{a:1}", "expected a key, found \"a\" at $ (byte 1)"),
        ("{\"a\":1,}", "expected a key, found \"}\" at $ (byte 7)"),
        ("{\"a\" 1}", "expected ':', found \"1\" at $.a (byte 5)"),
        ("{\"a\":}", "expected a value, found \"}\" at $.a (byte 5)"),
        ("{\"a\":1]", "expected ',' or '}', found \"]\" at $ (byte 6)"),
        ("{\"a\":{\"b\":1;}}", "expected ',' or '}', found \";\" at $.a (byte 11)"),
        ("1 2", "expected the end of the text, found \"2\" at $ (byte 2)"),
        ("01", "expected the end of the text, found \"1\" at $ (byte 1)"),
    ] {
        assert_eq!(refusal(text), Err((ErrorKind::Syntax, message.to_owned())));
    }
}

#[test]
fn syntax_errors_inside_a_scalar_name_the_character() {
    for (text, message) in [
        ("-", "expected a digit, found the end of the text at $ (byte 1)"),
        ("+1", "expected a value, found \"+\" at $ (byte 0)"),
        (".5", "expected a value, found \".\" at $ (byte 0)"),
        ("[1.]", "expected a digit, found \"]\" at $[0] (byte 3)"),
        ("1e", "expected a digit, found the end of the text at $ (byte 2)"),
        ("1e+x", "expected a digit, found \"x\" at $ (byte 3)"),
        ("\"a", "expected the end of the string, found the end of the text at $ (byte 2)"),
        ("\"\\x\"", "expected an escape, found \"x\" at $ (byte 2)"),
        ("\"\\u12é4\"", "expected a hexadecimal digit, found \"é\" at $ (byte 5)"),
        ("{\"a\":[0,{\"b c\":[", "expected a value, found the end of the text at $.a[1][\"b c\"][0] (byte 16)"),
    ] {
        assert_eq!(refusal(text), Err((ErrorKind::Syntax, message.to_owned())));
    }
}

#[test]
fn lossy_texts_are_refused_with_their_path() {
    use ErrorKind::{DuplicateKey, FloatRange, Surrogate};
    for (text, kind, message) in [
        (r#"{"a":1,"a":1}"#, DuplicateKey, "duplicate key at $.a (byte 7)"),
        (
            r#"[{"x":{"__proto__":1,"b":2,"\u005f_proto__":3}}]"#,
            DuplicateKey,
            "duplicate key at $[0].x.__proto__ (byte 27)",
        ),
        (r#"{"":0,"":0}"#, DuplicateKey, "duplicate key at $[\"\"] (byte 6)"),
        (r#"["\ud800"]"#, Surrogate, r"lone surrogate \ud800 at $[0] (byte 2)"),
        (r#""\udc00\ud800""#, Surrogate, r"lone surrogate \udc00 at $ (byte 1)"),
        (r#""\uD83E\u0041""#, Surrogate, r"lone surrogate \ud83e at $ (byte 1)"),
        (r#""\uD83E\n""#, Surrogate, r"lone surrogate \ud83e at $ (byte 1)"),
        (r#"{"a":{"\udfff":1}}"#, Surrogate, r"lone surrogate \udfff at $.a (byte 7)"),
        (
            "[1e400]",
            FloatRange,
            "float 1e400 is beyond 1.7976931348623157e308, the largest binary64 at $[0] (byte 1)",
        ),
        (
            "-1e400",
            FloatRange,
            "float -1e400 is beyond 1.7976931348623157e308, the largest binary64 at $ (byte 0)",
        ),
    ] {
        assert_eq!(refusal(text), Err((kind, message.to_owned())));
    }
    let long = format!("{}.0", "9".repeat(4000));
    let message = "float 9999999999999999999999999…9999999999.0 is beyond \
                   1.7976931348623157e308, the largest binary64 at $ (byte 0)";
    assert_eq!(refusal(&long), Err((FloatRange, message.to_owned())));
}

#[test]
fn bytes_that_are_not_utf8_are_named() {
    for (bytes, path, message) in [
        (&b"\xff"[..], "$", "byte 0xff is not UTF-8 at $ (byte 0)"),
        (b"{\"a\":[1,\"b\xc3\"]}", "$.a[1]", "byte 0xc3 is not UTF-8 at $.a[1] (byte 10)"),
        (b"[1]\x80", "$", "byte 0x80 is not UTF-8 at $ (byte 3)"),
        (b"[1,x\x80", "$", "byte 0x80 is not UTF-8 at $ (byte 4)"),
    ] {
        let error = decode_bytes(bytes).unwrap_err();
        assert_eq!((error.kind(), error.path()), (ErrorKind::Utf8, path));
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(decode_bytes("[\"é\"]".as_bytes()), decode("[\"é\"]"));
}

#[test]
fn depth_is_bounded_exactly() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for levels in [DEPTH_MAX - 1, DEPTH_MAX] {
        let value = decode(&nested(levels)).unwrap();
        assert_eq!(encode(&value), nested(levels));
        assert_eq!(check(&value), Ok(()));
    }
    let steps = "[0]".repeat(32);
    let message = format!("nesting deeper than 512 levels at ${steps}…{steps} (byte 512)");
    for levels in [DEPTH_MAX + 1, 100_000] {
        assert_eq!(refusal(&nested(levels)), Err((ErrorKind::Depth, message.clone())));
    }
    assert_eq!(refusal(&"[".repeat(10_000_000)), Err((ErrorKind::Depth, message)));

    let objects = r#"{"a":"#.repeat(100_000);
    let steps = ".a".repeat(48);
    let message = format!("nesting deeper than 512 levels at ${steps}…{steps}.a (byte 2560)");
    assert_eq!(refusal(&objects), Err((ErrorKind::Depth, message)));
}

#[test]
fn a_hand_built_value_is_checked_for_depth() {
    let nested =
        |levels: usize| (0..levels).fold(Value::Null, |inner, _| Value::from(vec![Value::from(1), inner]));
    assert_eq!(check(&nested(DEPTH_MAX - 1)), Ok(()));
    assert_eq!(check(&nested(DEPTH_MAX)), Ok(()));
    let error = check(&nested(DEPTH_MAX + 1)).unwrap_err();
    let steps = "[1]".repeat(32);
    assert_eq!(error.to_string(), format!("nesting deeper than 512 levels at ${steps}…{steps}"));
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Depth, None));
}

#[test]
fn a_path_is_bounded_whatever_its_keys_are() {
    let key = format!("{}é{}", "x".repeat(5000), "\\u0001".repeat(5000));
    let text = format!("{}[?", format!("{{\"{key}\":").repeat(400));
    let error = decode(&text).unwrap_err();
    let start = "x".repeat(41);
    let tail = r"\u0001".repeat(3);
    let step = format!("[\"{}…1{tail}\"]", "x".repeat(40));
    assert_eq!(start.len(), 41);
    assert_eq!(error.path(), format!("${step}…{step}[0]"));
    assert!(error.path().len() <= 200);
}

#[test]
fn integers_are_exact_to_their_last_digit() {
    for count in [INTEGER_DIGITS_MAX - 1, INTEGER_DIGITS_MAX] {
        for sign in ["", "-"] {
            let text = format!("{sign}{}", "7".repeat(count));
            assert_eq!(round_trip(&text).as_ref(), Ok(&text));
            assert_eq!(Integer::parse(&text).unwrap().to_string(), text);
        }
    }
    let text = "7".repeat(INTEGER_DIGITS_MAX + 1);
    let message = "integer of 4097 digits is longer than 4096 digits at $[1] (byte 3)";
    assert_eq!(refusal(&format!("[0,-{text}]")), Err((ErrorKind::IntegerDigits, message.to_owned())));
    let error = Integer::parse(&text).unwrap_err();
    assert_eq!(error.to_string(), "integer of 4097 digits is longer than 4096 digits at $");
    for text in ["", "-", "-0", "01", "+1", "1.0", "1e3", " 1", "0x1", "١"] {
        let error = Integer::parse(text).unwrap_err();
        assert_eq!(error.to_string(), format!("expected an integer, found \"{text}\" at $"));
    }
}

#[test]
fn integers_convert_and_compare_by_number() {
    let big = Integer::from(u64::MAX);
    assert_eq!((big.as_i64(), big.as_u64()), (None, Some(u64::MAX)));
    assert_eq!(big, Integer::parse("18446744073709551615").unwrap());
    assert_eq!(Integer::from(-1).as_u64(), None);
    assert_eq!(Integer::from(i128::MIN).to_string(), i128::MIN.to_string());
    assert_eq!(Integer::from(i128::from(i64::MIN)), Integer::from(i64::MIN));
    assert_eq!(Integer::from((1_u64 << 53) + 1).to_f64().to_bits(), 9_007_199_254_740_992_f64.to_bits());
    let huge = Integer::parse(&"9".repeat(400)).unwrap();
    assert_eq!(huge.to_f64(), f64::INFINITY);
    assert_eq!(Value::Integer(huge).as_f64(), None);
    let ordered = [
        "-100000000000000000000",
        "-99999999999999999999",
        "-5",
        "0",
        "7",
        "18446744073709551615",
        "99999999999999999999",
        "100000000000000000000",
    ];
    let sorted = ordered.map(|text| Integer::parse(text).unwrap());
    for (left, rank) in sorted.iter().zip(0..) {
        for (right, other) in sorted.iter().zip(0..) {
            assert_eq!(left.cmp(right), i32::cmp(&rank, &other), "{left} {right}");
        }
    }
}

#[test]
fn floats_are_finite_and_read_as_floats() {
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Float::new(number), None);
        let error = Value::try_from(number).unwrap_err();
        assert_eq!(error.to_string(), format!("float {number} is not finite at $"));
    }
    for (number, text) in [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (0.0001, "0.0001"),
        (0.00001, "1e-5"),
        (f64::MAX, "1.7976931348623157e308"),
        (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
    ] {
        assert_eq!(Float::new(number).unwrap().to_string(), text);
    }
    assert_ne!(Value::try_from(0.0), Value::try_from(-0.0));
    assert_ne!(Value::try_from(1.0).unwrap(), Value::from(1));
    let one = format!("0.{}1e2001", "0".repeat(2000));
    assert_eq!(round_trip(&one).as_deref(), Ok("1.0"));
    assert_eq!(round_trip("0e99999999999999999999").as_deref(), Ok("0.0"));
}

#[test]
fn float_texts_are_bounded_exactly() {
    // A parser that saturates exponents would read a long enough one as zero.
    let one = |zeros: usize| format!("0.{}1e{:05}", "0".repeat(zeros), zeros + 1);
    for bytes in [FLOAT_BYTES_MAX - 1, FLOAT_BYTES_MAX] {
        let text = one(bytes - 9);
        assert_eq!(text.len(), bytes);
        assert_eq!(round_trip(&text).as_deref(), Ok("1.0"));
    }
    let message = "float of 4097 bytes is longer than 4096 bytes at $.a (byte 5)";
    let text = format!("{{\"a\":{}}}", one(FLOAT_BYTES_MAX + 1 - 9));
    assert_eq!(refusal(&text), Err((ErrorKind::FloatRange, message.to_owned())));
}

#[test]
fn cost_is_bounded_exactly_and_counts_what_decoding_charged() {
    let digits = "8".repeat(100);
    for (text, expected) in [
        ("null", 32),
        ("[]", 32),
        (r#""""#, 32),
        (r#""abc""#, 32 + 3 + 32),
        (r#""\u0061bc""#, 32 + 3 + 32),
        (digits.as_str(), 32 + 100 + 32),
        ("[1]", 32 + 4 * 32 + 32),
        ("[1,2,3,4,5]", 32 + 8 * 32 + 32),
        ("{}", 32 + 72 + 32),
        (r#"{"a":1}"#, 32 + 72 + 32 + 4 * 73 + 64 + 1 + 32),
        (r#"{"a":1,"b":2,"c":3,"d":4}"#, 32 + 72 + 32 + 8 * 73 + 64 + 4 * 33),
    ] {
        let (value, charged) = decode_bounded(text, expected).unwrap();
        assert_eq!((charged, cost(&value)), (expected, expected), "{text}");
        assert_eq!(decode_bounded(text, expected + 1), Ok((value, expected)));
        let error = decode_bounded(text, expected - 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cost);
    }
    for (cost_max, place) in [
        (100, "$ (byte 0)"),
        (150, "$ (byte 4)"),
        (500, "$ (byte 4)"),
        (550, "$.a[0] (byte 13)"),
        (600, "$.a (byte 13)"),
    ] {
        let error = decode_bounded(r#"{"a":["bcdef"]}"#, cost_max).unwrap_err();
        let message = format!("value costs more than {cost_max} bytes of host memory at {place}");
        assert_eq!(error.to_string(), message);
    }
    assert!(decode_bounded(&format!("[{}1]", "1,".repeat(1_000_000)), 1_000_000).is_err());
}

#[test]
fn many_keys_decode_in_one_pass() {
    let body: Vec<String> = (0..200_000).map(|index| format!("\"{index}\":{index}")).collect();
    let text = format!("{{{}}}", body.join(","));
    let (value, charged) = decode_bounded(&text, usize::MAX).unwrap();
    assert_eq!(value.as_object().unwrap().len(), 200_000);
    assert_eq!(cost(&value), charged);
    assert_eq!(encode(&value), text);
}

#[test]
fn a_million_levels_never_reach_the_native_stack() {
    let body = || {
        let levels = 1_000_000;
        let deep = (0..levels).fold(Value::from(7), |inner, level| {
            if level % 10 == 9 {
                Value::Object(Object::from_iter([("k".to_owned(), inner)]))
            } else {
                Value::from(vec![inner])
            }
        });
        let copy = deep.clone();
        assert!(copy == deep);
        let text = encode(&deep);
        assert_eq!(text.len(), levels / 10 * (9 * 2 + 6) + 1);
        assert_eq!(encoded_len(&deep), text.len());
        assert_eq!(format!("{copy:?}").len(), text.len());
        assert!(pretty(&deep).len() < text.len() + 200);
        assert!(cost(&deep) > text.len());
        assert_eq!(check(&deep).unwrap_err().kind(), ErrorKind::Depth);
        assert_eq!(decode(&text).unwrap_err().kind(), ErrorKind::Depth);
        let Value::Object(object) = copy else { panic!("the outermost level is an object") };
        assert!(Some(&object) == deep.as_object());
        drop(object.into_iter());
    };
    thread::Builder::new().stack_size(256 * 1024).spawn(body).unwrap().join().unwrap();
}

#[test]
fn pretty_spreads_five_levels() {
    let value = decode(r#"{"a":[],"b":{},"c":[1,"x\n",{"d":[[[1,[2],{}],3]]}],"e":{"f":null}}"#);
    let expected = r#"{
  "a": [],
  "b": {},
  "c": [
    1,
    "x\n",
    {
      "d": [
        [
          [1,[2],{}],
          3
        ]
      ]
    }
  ],
  "e": {
    "f": null
  }
}"#;
    assert_eq!(pretty(&value.unwrap()), expected);
    assert_eq!(pretty(&Value::from("raw")), "\"raw\"");
    assert_eq!(pretty(&Value::Null), "null");
}

#[test]
fn values_are_built_and_read_by_kind() {
    let mut object = Object::new();
    assert_eq!(object.insert("a", 1), None);
    assert_eq!(object.insert("b", "x"), None);
    assert_eq!(object.insert("c", vec![Value::from(Some(true)), Value::from(None::<i64>)]), None);
    assert_eq!(object.insert("a", 2_u64), Some(Value::from(1)));
    assert_eq!(object.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(object.remove("a"), Some(Value::from(2)));
    assert_eq!((object.len(), object.is_empty(), object.contains_key("a")), (2, false, false));
    let value = Value::from(object.clone());
    assert_eq!(format!("{value:?}"), r#"{"b":"x","c":[true,null]}"#);
    assert_eq!(value.get("b").and_then(Value::as_str), Some("x"));
    let items = value.get("c").and_then(Value::as_array).unwrap();
    assert_eq!((items[0].as_bool(), items[1].is_null(), items.len()), (Some(true), true, 2));
    assert_eq!(items.into_iter().map(Value::kind).collect::<Vec<_>>(), ["boolean", "null"]);
    assert_eq!(items.clone().into_vec(), items.clone().into_iter().collect::<Vec<_>>());
    assert_eq!(object.into_iter().collect::<Object>(), *value.as_object().unwrap());
    assert_eq!(decode("1.5").unwrap().as_f64(), Some(1.5));
    assert_eq!(decode("3").unwrap().as_f64(), Some(3.0));
    assert_eq!((decode("1.0").unwrap().as_i64(), decode("1").unwrap().as_u64()), (None, Some(1)));
    let mut array = Array::new();
    array.push(Value::Null);
    let mut out = "x".to_owned();
    encode_into(&Value::from(array), &mut out);
    assert_eq!(out, "x[null]");
}

#[test]
fn objects_are_equal_in_any_order_and_never_by_less() {
    let equal = |left: &str, right: &str| decode(left).unwrap() == decode(right).unwrap();
    assert!(equal(r#"{"a":1,"b":[{}]}"#, r#"{"b":[{}],"a":1}"#));
    for (left, right) in [
        (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1}"#, r#"{"b":1}"#),
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        ("[1,2]", "[2,1]"),
        ("[1]", "[1,1]"),
        ("[]", "{}"),
        ("[[[0]]]", "[[[1]]]"),
        ("null", "false"),
    ] {
        assert!(!equal(left, right) && !equal(right, left), "{left} {right}");
    }
}

#[test]
fn public_types_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Value>();
    crosses::<Error>();
}
