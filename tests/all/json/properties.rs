//! Properties: encoding and decoding are inverse, another decoder agrees, and
//! nothing panics.

use hotcell::json::{
    ErrorKind, Float, Integer, Object, Value, cost, decode, decode_bounded, decode_bytes, encode, encoded_len,
    from_value, pretty, string_len, to_value,
};
use proptest::prelude::*;

fn any_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![any::<char>(), (0..0x80_u8).prop_map(char::from)];
    prop::collection::vec(character, 0..20).prop_map(String::from_iter)
}

fn any_integer() -> impl Strategy<Value = Integer> {
    let digits = prop::collection::vec(0..10_u8, 1..=60).prop_filter_map("leading zero", |digits| {
        let text: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        Integer::parse(&text).ok()
    });
    prop_oneof![any::<i64>().prop_map(Integer::from), any::<i128>().prop_map(Integer::from), digits]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any_integer().prop_map(Value::from),
        any::<u64>().prop_filter_map("finite", |bits| Value::try_from(f64::from_bits(bits)).ok()),
        any_text().prop_map(Value::from),
    ];
    scalar.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((any_text(), inner), 0..8)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Object>())),
        ]
    })
}

/// Converts what another decoder read; exact as long as integers fit 64 bits.
fn from_reference(value: &serde_json::Value) -> Value {
    use serde_json::Value as Reference;
    match value {
        Reference::Null => Value::Null,
        Reference::Bool(truth) => Value::from(*truth),
        Reference::String(text) => Value::from(text.as_str()),
        Reference::Array(items) => Value::from(items.iter().map(from_reference).collect::<Vec<_>>()),
        Reference::Object(entries) => Value::from(
            entries.iter().map(|(key, value)| (key.clone(), from_reference(value))).collect::<Object>(),
        ),
        Reference::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::from(number),
            (None, Some(number)) => Value::from(number),
            (None, None) => number.as_f64().and_then(Float::new).map_or(Value::Null, Value::Float),
        },
    }
}

/// What another decoder can hold: integers beyond 64 bits become floats there.
fn is_within_reference(value: &Value) -> bool {
    match value {
        Value::Integer(integer) => integer.as_i64().is_some() || integer.as_u64().is_some(),
        Value::Array(items) => items.iter().all(is_within_reference),
        Value::Object(entries) => entries.iter().all(|(_, value)| is_within_reference(value)),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::String(_) => true,
    }
}

proptest! {
    #[test]
    fn decoding_what_was_encoded_is_the_identity(value in any_value()) {
        let text = encode(&value);
        let (decoded, charged) = decode_bounded(&text, usize::MAX).unwrap();
        prop_assert_eq!(&decoded, &value);
        prop_assert_eq!(encode(&decoded), text.as_str());
        prop_assert_eq!(encoded_len(&value), text.len());
        prop_assert_eq!(cost(&decoded), charged);
        prop_assert!(cost(&decoded.clone()) <= charged);
        prop_assert_eq!(decode(&pretty(&value)), Ok(decoded.clone()));
        prop_assert_eq!(decode_bounded(&text, charged).map(|(value, _)| value), Ok(decoded));
        let refused = decode_bounded(&text, charged - 1).map_err(|error| error.kind());
        prop_assert_eq!(refused, Err(ErrorKind::Cost));
    }

    #[test]
    fn converting_a_value_is_the_identity(value in any_value()) {
        let made = to_value(&value);
        prop_assert_eq!(made.as_ref(), Ok(&value));
        prop_assert_eq!(encode(&made.unwrap()), encode(&value));
        let read = from_value::<Value>(&value);
        prop_assert_eq!(read.as_ref(), Ok(&value));
        prop_assert_eq!(encode(&read.unwrap()), encode(&value));
    }

    #[test]
    fn numbers_convert_exactly_or_not_at_all(integer in any_integer(), bits in any::<u64>(), small in any::<f32>()) {
        let value = Value::from(integer.clone());
        match from_value::<f64>(&value) {
            Ok(float) => prop_assert_eq!(format!("{float:.0}"), integer.to_string()),
            Err(_) => prop_assert_ne!(format!("{:.0}", integer.to_f64()), integer.to_string()),
        }
        prop_assert_eq!(from_value::<i64>(&value).ok(), integer.as_i64());
        prop_assert_eq!(from_value::<u64>(&value).ok(), integer.as_u64());
        prop_assert_eq!(from_value::<i128>(&value).ok(), integer.to_string().parse().ok());
        prop_assert_eq!(from_value::<u128>(&value).ok(), integer.to_string().parse().ok());
        let float = f64::from_bits(bits);
        match to_value(&float) {
            Ok(value) => prop_assert_eq!(from_value::<f64>(&value).map(f64::to_bits), Ok(bits)),
            Err(_) => prop_assert!(!float.is_finite()),
        }
        if small.is_finite() {
            let value = to_value(&small).unwrap();
            prop_assert_eq!(encode(&value).parse(), Ok(small));
            prop_assert_eq!(from_value::<f32>(&value), Ok(small));
        }
    }

    #[test]
    fn any_value_into_any_type_converts_or_is_refused(value in any_value()) {
        type Odd = std::collections::BTreeMap<String, (Option<u8>, Vec<f32>)>;
        if let Err(error) = from_value::<Odd>(&value) {
            prop_assert!(error.path().len() <= 200 && error.to_string().len() <= 602);
        }
    }

    #[test]
    fn another_decoder_reads_the_same(value in any_value().prop_filter("64 bits", is_within_reference)) {
        let reference: serde_json::Value = serde_json::from_str(&encode(&value)).unwrap();
        prop_assert_eq!(from_reference(&reference), value.clone());
        prop_assert_eq!(decode(&reference.to_string()), Ok(value));
    }

    #[test]
    fn two_decoders_accept_the_same_texts(
        tokens in prop::collection::vec(prop::sample::select(&[
            "[", "]", "{", "}", ",", ":", "\"a\"", "\"b\"", "\"", "\\u00", "\\ud800", "\\udc00",
            "41", "0", "1", "-", ".", "e", "E+", "true", "null", "fals", " ", "\n", "\u{1}", "é",
        ][..]), 0..12),
    ) {
        let text = tokens.concat();
        match (decode(&text), serde_json::from_str::<serde_json::Value>(&text)) {
            (Ok(value), Ok(reference)) if is_within_reference(&value) => {
                prop_assert_eq!(from_reference(&reference), value);
            }
            (Ok(_), Ok(_)) | (Err(_), Err(_)) => {}
            (Err(error), Ok(_)) => prop_assert_eq!(error.kind(), ErrorKind::DuplicateKey),
            (Ok(_), Err(error)) => prop_assert!(false, "{text:?} accepted, but {error}"),
        }
    }

    #[test]
    fn any_bytes_are_decoded_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        if let Err(error) = decode_bytes(&bytes) {
            prop_assert!(error.to_string().len() < 400);
        }
    }

    #[test]
    fn any_damage_to_a_text_is_decoded_or_refused(
        value in any_value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut bytes = encode(&value).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Err(error) = decode_bytes(&bytes) {
            prop_assert!(error.offset().unwrap() <= bytes.len());
            prop_assert!(error.to_string().len() < 400);
        }
    }

    #[test]
    fn string_length_is_the_length_of_the_text(text in any_text()) {
        prop_assert_eq!(string_len(&text), encode(&Value::from(text)).len());
    }
}
