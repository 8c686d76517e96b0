//! Converting between Rust types and values gives what another implementation of the same conventions gives.

use std::collections::BTreeMap;
use std::fmt::Debug;

use hotcell::json::{decode, encode, from_value, to_value};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Wrapper(String);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Pair(i8, Option<bool>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum External {
    Unit,
    Newtype(u64),
    Tuple(i32, String),
    Struct { a: bool, b: Vec<char> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Internal {
    Unit,
    Newtype(Named),
    Struct { a: bool, items: Vec<i64> },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(f64),
    Tuple(u8, u8),
    Struct { a: String },
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Float(f64),
    Text(String),
    Pair(bool, bool),
    Named(Named),
    Nothing,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Named {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    age: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Flat {
    id: u64,
    #[serde(flatten)]
    named: Named,
    #[serde(flatten)]
    rest: BTreeMap<String, Untagged>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Color {
    Red,
    #[serde(rename = "dark green")]
    Green,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Maps {
    colors: BTreeMap<Color, u8>,
    integers: BTreeMap<i64, Unit>,
    wide: BTreeMap<u128, ()>,
    truths: BTreeMap<bool, f32>,
    characters: BTreeMap<char, (u8, String)>,
}

/// Both serialize to the same tree with keys in the same order, and each reads it back as the same Rust value.
fn agree<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let reference = serde_json::to_string(value).expect("the other serializes");
    let made = to_value(value).expect("ours serializes");
    let reread = decode(&reference).expect("the other writes JSON");
    assert_eq!((encode(&made), &made), (encode(&reread), &reread));
    assert_eq!(from_value::<T>(&made).as_ref(), Ok(value));
    assert_eq!(&serde_json::from_str::<T>(&reference).expect("the other deserializes"), value);
}

/// Both read a text as the same Rust value, or both refuse it.
fn agree_on<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
    let value = decode(text).expect("JSON");
    let ours = from_value::<T>(&value);
    let reference = serde_json::from_str::<T>(text);
    assert_eq!(ours.as_ref().ok(), reference.as_ref().ok(), "{text}: {ours:?}");
    ours.is_ok()
}

fn named(name: &str, age: Option<u32>) -> Named {
    Named { name: name.to_owned(), age }
}

#[test]
fn scalars_and_containers_agree() {
    agree(&());
    agree(&Unit);
    agree(&true);
    agree(&'é');
    agree(&"a\n\"b\"".to_owned());
    agree(&(i8::MIN, i16::MIN, i32::MIN, i64::MIN, i128::MIN));
    agree(&(u8::MAX, u16::MAX, u32::MAX, u64::MAX, u128::MAX));
    agree(&(0.1_f32, f32::MAX, f32::MIN_POSITIVE, -0.0_f32, 16_777_216_f32));
    agree(&(0.1_f64, f64::MIN_POSITIVE, -0.0_f64, 5e-324_f64));
    agree(&Wrapper("x".to_owned()));
    agree(&Pair(-1, Some(true)));
    agree(&[Pair(1, None), Pair(2, Some(false))]);
    agree(&vec![None, Some(vec![1_u8, 2]), Some(vec![])]);
    agree(&(1, ("a".to_owned(), [true, false]), Wrapper(String::new())));
    agree(&named("a", Some(3)));
    agree(&named("a", None));
}

#[test]
fn the_four_kinds_of_enum_agree() {
    for value in [
        External::Unit,
        External::Newtype(u64::MAX),
        External::Tuple(-1, "x".to_owned()),
        External::Struct { a: true, b: vec!['x', '🦀'] },
    ] {
        agree(&value);
        agree(&Some(vec![value]));
    }
    for value in [
        Internal::Unit,
        Internal::Newtype(named("x", Some(1))),
        Internal::Struct { a: false, items: vec![i64::MIN, 0] },
    ] {
        agree(&value);
    }
    for value in
        [Adjacent::Unit, Adjacent::Newtype(0.5), Adjacent::Tuple(1, 2), Adjacent::Struct { a: "x".to_owned() }]
    {
        agree(&value);
    }
    for value in [
        Untagged::Number(i64::MIN),
        Untagged::Float(0.25),
        Untagged::Text("x".to_owned()),
        Untagged::Pair(true, false),
        Untagged::Named(named("x", None)),
        Untagged::Nothing,
    ] {
        agree(&vec![value]);
    }
}

#[test]
fn maps_and_flattened_fields_agree() {
    agree(&Maps {
        colors: [(Color::Red, 1), (Color::Green, 2)].into(),
        integers: [(i64::MIN, Unit), (0, Unit)].into(),
        wide: [(u128::MAX, ())].into(),
        truths: [(true, 0.1), (false, 1.0)].into(),
        characters: [('"', (1, "x".to_owned())), ('é', (2, String::new()))].into(),
    });
    let rest = BTreeMap::from([
        ("a".to_owned(), Untagged::Number(1)),
        ("b c".to_owned(), Untagged::Named(named("y", Some(2)))),
    ]);
    agree(&Flat { id: u64::MAX, named: named("x", Some(1)), rest });
}

#[test]
fn other_spellings_are_read_or_refused_alike() {
    for (text, accepted) in [
        (r#"{"Unit":null}"#, true),
        (r#"{"Unit":1}"#, false),
        (r#""Newtype""#, false),
        (r#""Tuple""#, false),
        (r#"{"Newtype":1}"#, true),
        (r#"{"Newtype":"1"}"#, false),
        (r#"{"Tuple":[1]}"#, false),
        (r#"{"Tuple":[1,"a",2]}"#, false),
        (r#"{"Tuple":{}}"#, false),
        (r#"{"Struct":[true,["a"]]}"#, true),
        (r#"{"Struct":{"a":true,"b":[],"c":0}}"#, true),
        (r#"{"Struct":{"a":true}}"#, false),
        (r#"{"Unit":null,"Newtype":1}"#, false),
        ("{}", false),
        ("null", false),
        ("[]", false),
        (r#""Other""#, false),
    ] {
        assert_eq!(agree_on::<External>(text), accepted, "{text}");
    }
    for (text, accepted) in [
        (r#"{"name":"a"}"#, true),
        (r#"{"name":"a","age":null,"more":[{}]}"#, true),
        (r#"["a",1]"#, true),
        (r#"["a",1,2]"#, false),
        (r#"{"age":1}"#, false),
        (r#"{"name":1}"#, false),
        (r#"{"name":"a","age":-1}"#, false),
        (r#"{"name":"a","age":4294967296}"#, false),
    ] {
        assert_eq!(agree_on::<Named>(text), accepted, "{text}");
    }
    for text in [r#"{"type":"unit","x":1}"#, r#"{"name":"a","type":"newtype"}"#, r#"{"type":"other"}"#, "{}"] {
        agree_on::<Internal>(text);
        agree_on::<Adjacent>(text);
        agree_on::<Flat>(text);
        agree_on::<Untagged>(text);
    }
    assert!(agree_on::<BTreeMap<u8, bool>>(r#"{"0":true,"255":false}"#));
    assert!(!agree_on::<BTreeMap<u8, bool>>(r#"{"256":true}"#));
    assert!(!agree_on::<BTreeMap<u8, bool>>(r#"{"":true}"#));
    assert!(!agree_on::<char>(r#""ab""#));
}

#[test]
fn text_and_bytes_are_borrowed_or_listed() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
    }
    let value = decode(r#"{"text":"abc"}"#).expect("JSON");
    let borrowed: Borrowed<'_> = from_value(&value).expect("it is text");
    assert_eq!(borrowed, Borrowed { text: "abc" });

    struct Bytes;
    impl Serialize for Bytes {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(&[0, 255])
        }
    }
    assert_eq!(encode(&to_value(&Bytes).expect("it serializes")), "[0,255]");
}
