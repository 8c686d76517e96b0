//! Converting between Rust types and values: what is exact, what is refused and with which words, and how deep it goes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::thread;

use hotcell::json::{
    ConvertError, DEPTH_MAX, INTEGER_DIGITS_MAX, Object, Value, decode, encode, from_value, to_value,
};
use serde::de::DeserializeOwned;
use serde::ser::{Error as _, SerializeMap as _};
use serde::{Deserialize, Serialize, Serializer};

fn read<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    from_value(&decode(text).expect("JSON")).map_err(|error: ConvertError| error.to_string())
}

fn refusal<T: DeserializeOwned + Debug>(text: &str) -> String {
    read::<T>(text).expect_err(text)
}

fn unwritable<T: Serialize>(value: &T) -> String {
    to_value(value).expect_err("refused").to_string()
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Item {
    a: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Items {
    items: Vec<Item>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    a: u32,
    #[serde(default)]
    b: Option<u8>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Dot,
    Circle(f64),
    Line(u8, u8),
    Box { w: f64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(u32),
    Many(Vec<Value>),
}

#[test]
fn integers_are_exact_or_refused() {
    assert_eq!(read("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(read("-170141183460469231731687303715884105728"), Ok(i128::MIN));
    assert_eq!(read("340282366920938463463374607431768211455"), Ok(u128::MAX));
    assert_eq!((read("1.0"), read("-0.0"), read("-2e0")), (Ok(1_u8), Ok(0_u64), Ok(-2_i128)));
    assert_eq!(read("170141183460469231731687303715884105728.0"), Ok(1_u128 << 127));
    assert_eq!(read("1e10"), Ok(10_000_000_000_u64));
    let nines = "9".repeat(41);
    let shown = "integer 9999999999999999999999999…999999999999";
    for (message, expected) in [
        (refusal::<u32>("-1"), "invalid value: integer -1, expected u32"),
        (refusal::<i8>("128"), "invalid value: integer 128, expected i8"),
        (refusal::<u8>("256.0"), "invalid value: integer 256, expected u8"),
        (refusal::<u32>("1.5"), "invalid type: float 1.5, expected u32"),
        (refusal::<i64>("9223372036854775808"), "invalid value: integer 9223372036854775808, expected i64"),
        (refusal::<u64>("18446744073709551616"), "invalid value: integer 18446744073709551616, expected u64"),
        (refusal::<u128>("1e300"), "invalid value: float 1e300, expected u128"),
        (refusal::<u32>("1e300"), "invalid value: float 1e300, expected u32"),
        (refusal::<u64>(&nines), &format!("invalid value: {shown}, expected u64")),
        (refusal::<i128>(&nines), &format!("invalid value: {shown}, expected i128")),
        (refusal::<f64>(&nines), &format!("{shown} is no exact f64")),
        (refusal::<String>(&nines), "invalid type: integer beyond 128 bits, expected a string"),
        (refusal::<Shape>(&nines), &format!("invalid type: {shown}, expected a string or an object with one key")),
        (refusal::<u64>("true"), "invalid type: boolean true, expected u64"),
    ] {
        assert_eq!(message, format!("$: {expected}"));
    }
}

#[test]
fn floats_are_exact_or_refused() {
    assert_eq!(read("9007199254740992"), Ok(9_007_199_254_740_992.0_f64));
    assert_eq!(read(&format!("1{}", "0".repeat(22))), Ok(1e22));
    assert_eq!(read::<f64>("-0.0").map(f64::to_bits), Ok((-0.0_f64).to_bits()));
    assert_eq!((read("0.1"), read("1"), read("16777216")), (Ok(0.1_f32), Ok(1_f32), Ok(16_777_216_f32)));
    for (message, expected) in [
        (refusal::<f64>("9007199254740993"), "integer 9007199254740993 is no exact f64"),
        (refusal::<f32>("16777217"), "integer 16777217 is no exact f32"),
        (refusal::<f32>("9007199254740993"), "integer 9007199254740993 is no exact f32"),
        (refusal::<f32>("1e300"), "float 1e300 is beyond 3.4028235e38, the largest f32"),
        (refusal::<f64>("\"1\""), "invalid type: string \"1\", expected f64"),
        (refusal::<f32>("null"), "invalid type: null, expected f32"),
        (unwritable(&f64::NAN), "float NaN is not finite"),
        (unwritable(&f64::NEG_INFINITY), "float -inf is not finite"),
        (unwritable(&f32::INFINITY), "float inf is not finite"),
        (unwritable(&f32::NAN), "float NaN is not finite"),
    ] {
        assert_eq!(message, format!("$: {expected}"));
    }
    // The nearest `f64` of its text lies halfway between two `f32`, and the tie goes to the other one.
    for bits in [0x15ae_43fd, 0x95ae_43fd] {
        let twice_rounded = f32::from_bits(bits);
        let value = to_value(&twice_rounded).unwrap();
        assert_eq!(from_value::<f32>(&value).map(f32::to_bits), Ok(bits));
    }
    assert_eq!(encode(&to_value(&(0.1_f32, 1e-40_f32, f32::MAX)).unwrap()), "[0.1,1e-40,3.4028235e38]");
}

#[test]
fn refusals_name_the_path() {
    let long = "x".repeat(1000);
    let clipped = format!("$: invalid type: string \"{}…{}\", expected u32", "x".repeat(41), "x".repeat(20));
    for (message, expected) in [
        (
            refusal::<Items>(r#"{"items":[{"a":1},{"a":2},{"a":3},{"a":"x"}]}"#),
            r#"$.items[3].a: invalid type: string "x", expected u32"#,
        ),
        (refusal::<Items>(r#"{"items":[{}]}"#), "$.items[0]: missing field `a`"),
        (refusal::<Items>(r#"{"items":{"a":1}}"#), "$.items: invalid type: object, expected a sequence"),
        (refusal::<Vec<Strict>>(r#"[{"a":1,"z\n":2}]"#), {
            r#"$[0]["z\n"]: unknown field "z\n", expected one of "a", "b""#
        }),
        (refusal::<(u8, u8)>("[1,2,3]"), "$: invalid length 3, expected an array of 2"),
        (refusal::<(u8, u8)>("[1]"), "$: invalid length 1, expected a tuple of size 2"),
        (refusal::<BTreeMap<u8, u8>>(r#"{"01":1}"#), r#"$["01"]: invalid type: string "01", expected u8"#),
        (refusal::<BTreeMap<u8, u8>>(r#"{"256":1}"#), r#"$["256"]: invalid value: integer 256, expected u8"#),
        (
            refusal::<BTreeMap<bool, u8>>(r#"{"True":1}"#),
            r#"$.True: invalid type: string "True", expected a boolean"#,
        ),
        (refusal::<Shape>("\"Dott\""), {
            r#"$: unknown variant "Dott", expected one of "Dot", "Circle", "Line", "Box""#
        }),
        (refusal::<Shape>(r#"{"Box":{"w":[]}}"#), "$.Box.w: invalid type: array, expected f64"),
        (refusal::<Shape>(r#"{"Line":[1,true]}"#), "$.Line[1]: invalid type: boolean true, expected u8"),
        (refusal::<Shape>("\"Line\""), r#"$: invalid type: string "Line", expected a variant with data"#),
        (refusal::<Shape>(r#"{"Dot":1}"#), "$.Dot: invalid type: integer 1, expected unit"),
        (
            refusal::<Shape>("{}"),
            "$: invalid value: object of 0 keys, expected a string or an object with one key",
        ),
        (refusal::<Shape>("null"), "$: invalid type: null, expected a string or an object with one key"),
        (refusal::<Vec<Either>>("[1,-1]"), "$[1]: data did not match any variant of untagged enum Either"),
        (refusal::<u32>(&format!("{long:?}")), &clipped),
    ] {
        assert_eq!(message, expected);
    }
    let value = decode(r#"{"items":[{"a":null}]}"#).unwrap();
    assert_eq!(from_value::<Items>(&value).unwrap_err().path(), "$.items[0].a");
}

/// A map that serializes the same key as often as it is told.
struct Repeating(usize);

impl Serialize for Repeating {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for _ in 0..self.0 {
            map.serialize_entry("b c", &f32::MIN_POSITIVE)?;
        }
        map.end()
    }
}

/// A map that forgets a value.
struct Forgetful;

impl Serialize for Forgetful {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_key("k")?;
        map.end()
    }
}

/// What reports an error of its own.
struct Failing;

impl Serialize for Failing {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("out of\norder"))
    }
}

#[derive(Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Data(u8),
}

#[test]
fn what_json_cannot_say_is_refused_with_its_path() {
    #[derive(Serialize)]
    enum Deep {
        Tuple(u8, Vec<f64>),
        Struct { x: f64 },
        Newtype(f64),
    }
    #[derive(Serialize)]
    struct Twice {
        a: u8,
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    assert!(to_value(&Repeating(1)).is_ok());
    let keys = "as a key; keys are strings, characters, integers, booleans and unit variants";
    for (message, expected) in [
        (unwritable(&vec![Repeating(2)]), "$[0][\"b c\"]: duplicate key"),
        (unwritable(&Twice { a: 1, rest: [("a".to_owned(), 2)].into() }), "$.a: duplicate key"),
        (unwritable(&[Forgetful]), "$[0].k: a key without a value"),
        (unwritable(&(1, Failing)), "$[1]: out of\\u000aorder"),
        (unwritable(&Deep::Tuple(1, vec![0.0, f64::NAN])), "$.Tuple[1][1]: float NaN is not finite"),
        (unwritable(&Deep::Struct { x: f64::NAN }), "$.Struct.x: float NaN is not finite"),
        (unwritable(&[Deep::Newtype(f64::NAN)]), "$[0].Newtype: float NaN is not finite"),
        (unwritable(&[BTreeMap::from([((), 1)])]), &format!("$[0]: a unit {keys}")),
        (unwritable(&BTreeMap::from([(Some(1), 1)])), &format!("$: an option {keys}")),
        (unwritable(&BTreeMap::from([(vec![1], 1)])), &format!("$: a sequence {keys}")),
        (unwritable(&BTreeMap::from([((1, 2), 1)])), &format!("$: a tuple {keys}")),
        (unwritable(&BTreeMap::from([(Key::Data(1), 1)])), &format!("$: a variant with data {keys}")),
    ] {
        assert_eq!(message, expected);
    }
}

#[test]
fn a_value_inside_a_type_stays_itself() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Outer {
        payload: Value,
        more: Option<Vec<Value>>,
    }
    let longest =
        Value::Integer(hotcell::json::Integer::parse(&format!("-{}", "7".repeat(INTEGER_DIGITS_MAX))).unwrap());
    let outer = Outer { payload: longest.clone(), more: Some(vec![longest.clone(), Value::Null]) };
    let value = to_value(&outer).unwrap();
    assert_eq!(value.get("payload"), Some(&longest));
    assert_eq!(from_value::<Outer>(&value), Ok(outer));
    assert_eq!(from_value::<Value>(&value), Ok(value.clone()));
    assert_eq!(to_value(&value), Ok(value));

    let buffered = decode(&format!("[[null,0.5],{}]", "9".repeat(50))).unwrap();
    let message = "$[1]: integer 9999999999999999999999999…999999999999 is beyond what serde can carry; at most 128 bits are";
    assert_eq!(from_value::<Vec<Either>>(&buffered).unwrap_err().to_string(), message);
    let kept = decode(r#"[[1,{"b":[null,0.5,"x"]},18446744073709551615]]"#).unwrap();
    let either: Vec<Either> = from_value(&kept).unwrap();
    assert_eq!(to_value(&either), Ok(kept));
}

/// A list of a list of a list, made by hand so that nothing in between is generated.
#[derive(Debug, PartialEq)]
struct Nest(Option<Box<Self>>);

impl Nest {
    fn of(levels: usize) -> Self {
        (0..levels).fold(Self(None), |inner, _| Self(Some(Box::new(inner))))
    }
}

impl Serialize for Nest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(inner) => serializer.collect_seq([inner]),
            None => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for Nest {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let inner = Option::<(Box<Self>,)>::deserialize(deserializer)?;
        Ok(Self(inner.map(|(inner,)| inner)))
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, _| Value::from(vec![inner]))
}

#[test]
fn depth_is_bounded_exactly_both_ways() {
    let steps = "[0]".repeat(32);
    let message = format!("${steps}…{steps}: nesting deeper than 512 levels");
    let refused = |made: Result<Value, ConvertError>| made.unwrap_err().to_string();
    for levels in [DEPTH_MAX - 1, DEPTH_MAX] {
        let value = nested(levels);
        assert_eq!(to_value(&Nest::of(levels)).as_ref(), Ok(&value));
        assert_eq!(from_value::<Nest>(&value), Ok(Nest::of(levels)));
        assert_eq!(to_value(&value).as_ref(), Ok(&value));
        assert_eq!(from_value::<Value>(&value).as_ref(), Ok(&value));
    }
    let deep = nested(DEPTH_MAX + 1);
    assert_eq!(refused(to_value(&Nest::of(DEPTH_MAX + 1))), message);
    assert_eq!(from_value::<Nest>(&deep).unwrap_err().to_string(), message);
    assert_eq!(refused(from_value::<Value>(&deep)), message);
    assert_eq!(refused(to_value(&[nested(DEPTH_MAX)])), message);
    // That a value is too deep by itself is known before its levels are entered.
    assert_eq!(refused(to_value(&[&deep])), "$[0]: nesting deeper than 512 levels");

    let wide = decode(&format!("{}{}{}", "[".repeat(512), "9".repeat(50), "]".repeat(512))).unwrap();
    assert_eq!(from_value::<Value>(&to_value(&wide).unwrap()), Ok(wide));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    children: Vec<Self>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Chain {
    Link(Option<Box<Self>>),
    Fork { chain: Box<Self> },
}

#[derive(Debug, Serialize, Deserialize)]
struct Onion(Option<Box<Self>>);

#[test]
fn derived_types_and_wrappers_are_bounded_too() {
    let tree = |levels| (0..levels).fold(Tree { children: vec![] }, |inner, _| Tree { children: vec![inner] });
    let value = to_value(&tree(255)).unwrap();
    assert_eq!(from_value::<Tree>(&value), Ok(tree(255)));
    let message = |error: ConvertError| error.to_string().split_once(": ").map(|(_, text)| text.to_owned());
    let too_deep = Some("nesting deeper than 512 levels".to_owned());
    assert_eq!(to_value(&tree(256)).map_err(message), Err(too_deep.clone()));

    let chain = |levels| (0..levels).fold(Chain::Link(None), |inner, _| Chain::Link(Some(Box::new(inner))));
    assert_eq!(from_value::<Chain>(&to_value(&chain(511)).unwrap()), Ok(chain(511)));
    assert_eq!(to_value(&chain(512)).map_err(message), Err(too_deep.clone()));
    assert_eq!(from_value::<Chain>(&deep_chain(512)).map_err(message), Err(too_deep));

    let onion = |layers| (0..layers).fold(Onion(None), |inner, _| Onion(Some(Box::new(inner))));
    assert_eq!(to_value(&onion(511)), Ok(Value::Null));
    let wrapped = "$: nested in more than 1024 options and newtypes";
    assert_eq!(to_value(&onion(512)).unwrap_err().to_string(), wrapped);
    assert_eq!(from_value::<Onion>(&Value::from(1)).unwrap_err().to_string(), wrapped);
    // An onion of many layers is dropped by recursion, which is not what is looked at here.
    let body = move || {
        let onion = onion(100_000);
        assert_eq!(to_value(&onion).unwrap_err().to_string(), wrapped);
    };
    thread::Builder::new().stack_size(256 << 20).spawn(body).unwrap().join().unwrap();
}

/// What serde buffers before it knows what it is. One variant holds the enum; with two, time would double every level.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Buffered {
    Leaf(u8),
    List(Vec<Self>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t")]
enum Tagged {
    End,
    Next { next: Box<Self> },
}

#[test]
fn buffered_types_are_bounded_and_say_what_they_cannot_hold() {
    let lists = |levels| (0..levels).fold(Buffered::Leaf(1), |inner, _| Buffered::List(vec![inner]));
    let value = to_value(&lists(DEPTH_MAX)).unwrap();
    assert_eq!(from_value::<Buffered>(&value), Ok(lists(DEPTH_MAX)));
    let deep = Value::from(vec![value]);
    assert!(from_value::<Buffered>(&deep).unwrap_err().to_string().ends_with("nesting deeper than 512 levels"));

    let tagged = |levels| (1..levels).fold(Tagged::End, |inner, _| Tagged::Next { next: Box::new(inner) });
    let value = to_value(&tagged(DEPTH_MAX)).unwrap();
    assert_eq!(from_value::<Tagged>(&value), Ok(tagged(DEPTH_MAX)));
    assert!(to_value(&tagged(DEPTH_MAX + 1)).is_err());

    for (text, message) in [
        ("18446744073709551616", "$: invalid type: integer `18446744073709551616` as i128, expected any value"),
        ("1.0", "$: data did not match any variant of untagged enum Either"),
    ] {
        assert_eq!(refusal::<Either>(text), message);
    }
}

fn deep_chain(levels: usize) -> Value {
    (0..=levels).fold(Value::Null, |inner, _| {
        let mut object = Object::new();
        object.insert("Link", inner);
        Value::from(object)
    })
}

#[test]
fn errors_cross_threads_and_are_errors() {
    fn crosses<T: std::error::Error + Send + Sync + Clone + PartialEq + 'static>() {}
    crosses::<ConvertError>();
    assert_eq!(read::<Chain>(r#"{"Fork":{"chain":{"Link":null}}}"#).map(|chain| to_value(&chain).unwrap()), {
        Ok(decode(r#"{"Fork":{"chain":{"Link":null}}}"#).unwrap())
    });
}
