//! `fs_read`.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use super::Tree;

#[test]
fn a_file_is_its_text() {
    let tree = Tree::new();
    for (path, text, json) in [
        ("docs/empty", "", r#""""#),
        ("docs/text", "a\r\nb\n", r#""a\r\nb\n""#),
        ("docs/unicode", "\u{FEFF}é🦀\0", "\"\u{FEFF}é🦀\\u0000\""),
        ("docs/a b/`c`", "odd", r#""odd""#),
    ] {
        tree.file(path, text);
        assert_eq!(tree.about("fs_read", path), json);
    }
}

#[test]
fn a_range_is_exactly_its_bytes() {
    let tree = Tree::new();
    tree.file("docs/a", "aé🦀z");
    let read = |range: &str| tree.call("fs_read", &format!(r#"{{"path":"docs/a",{range}}}"#));
    for (range, text) in [
        (r#""offset":0"#, r#""aé🦀z""#),
        (r#""length":8"#, r#""aé🦀z""#),
        (r#""length":16777216"#, r#""aé🦀z""#),
        (r#""offset":1,"length":2"#, r#""é""#),
        (r#""offset":3,"length":4"#, r#""🦀""#),
        (r#""offset":7"#, r#""z""#),
        (r#""offset":8"#, r#""""#),
        (r#""offset":8,"length":5"#, r#""""#),
        (r#""offset":2,"length":0"#, r#""""#),
    ] {
        assert_eq!(read(range), text, "{range}");
    }
    assert_eq!(read(r#""offset":9"#), "`docs/a` has 8 bytes; the offset 9 is behind its end");
    assert_eq!(
        read(r#""offset":9223372036854775807"#),
        "`docs/a` has 8 bytes; the offset 9223372036854775807 is behind its end"
    );
    for (range, cut, better) in [
        (r#""offset":2"#, 2, "offset 1 or 3"),
        (r#""offset":4"#, 4, "offset 3 or 7"),
        (r#""offset":5,"length":1"#, 5, "offset 3 or 7"),
        (r#""offset":6,"length":2"#, 6, "offset 3 or 7"),
        (r#""length":2"#, 2, "length 1 or 3"),
        (r#""offset":1,"length":3"#, 4, "length 2 or 6"),
        (r#""offset":3,"length":3"#, 6, "length 4"),
        (r#""offset":1,"length":1"#, 2, "length 2"),
    ] {
        let message = format!("`docs/a` would be cut at byte {cut}, inside a character; use the {better}");
        assert_eq!(read(range), message, "{range}");
    }
}

#[test]
fn what_is_not_utf_8_is_refused_with_its_place() {
    let tree = Tree::new();
    for (bytes, range, offset) in [
        (&b"abc\xFFdef"[..], "", 3),
        (b"\xFF", "", 0),
        (b"ab\xC3", "", 2),
        (b"\xED\xA0\x80", "", 0),
        (b"ab\xBF\xBFcd", r#","offset":3"#, 3),
        (b"abcdef\x80", r#","offset":2,"length":5"#, 6),
        (b"abcdef\xE2\x82", r#","offset":2,"length":5"#, 6),
        (b"a\xF0\x9F\xA6a", r#","offset":0,"length":3"#, 1),
    ] {
        tree.file("docs/a", bytes);
        assert_eq!(
            tree.call("fs_read", &format!(r#"{{"path":"docs/a"{range}}}"#)),
            format!("`docs/a` is not UTF-8 text: no character begins at byte {offset}")
        );
    }
    assert_eq!(tree.call("fs_read", r#"{"path":"docs/a","offset":4}"#), r#""a""#, "what is text can be read");
}

#[test]
fn what_is_no_file_cannot_be_read() {
    let tree = Tree::new();
    tree.file("docs/d/a", "");
    tree.link("docs/dangling", "none");
    tree.link("docs/link", "d");
    for (path, why) in [
        ("docs", "is a granted directory, not a file"),
        ("docs/", "is a granted directory, not a file"),
        ("docs/d", "is a directory, not a file"),
        ("docs/d/", "names a directory, because it ends in `/`"),
        ("docs/d/a/", "names a directory, because it ends in `/`"),
        ("docs/link", "is a directory, not a file"),
        ("docs/d/a/b", "passes through something that is not a directory"),
        ("docs/none", "does not exist"),
        ("docs/dangling", "does not exist"),
    ] {
        assert_eq!(tree.about("fs_read", path), format!("`{path}` {why}"));
        let search = tree.call("fs_search", &format!(r#"{{"path":"{path}","pattern":"x"}}"#));
        if why == "does not exist" || why.starts_with("passes") {
            assert_eq!(search, format!("`{path}` {why}"));
        }
    }
    let search = tree.call("fs_search", r#"{"path":"docs/d/a/","pattern":"x"}"#);
    assert_eq!(search, "`docs/d/a/` names a directory, because it ends in `/`");
}

#[test]
fn a_file_that_may_not_be_read_is_refused() {
    let tree = Tree::new();
    tree.file("docs/closed", "x");
    fs::set_permissions(tree.at("docs/closed"), Permissions::from_mode(0o000)).expect("its owner may");
    let privileged = File::open(tree.at("docs/closed")).is_ok();
    let answer = if privileged { r#""x""# } else { "`docs/closed` cannot be accessed: permission denied" };
    assert_eq!(tree.about("fs_read", "docs/closed"), answer);
}

#[test]
fn a_file_is_read_whole_up_to_16_mib() {
    let tree = Tree::new();
    let max = 16 * 1024 * 1024;
    tree.file("docs/at", vec![b'x'; max]);
    assert_eq!(tree.about("fs_read", "docs/at").len(), max + 2);
    tree.file("docs/over", vec![b'x'; max + 1]);
    assert_eq!(
        tree.about("fs_read", "docs/over"),
        "`docs/over` has 16777217 bytes; one call reads at most 16777216, so read it in parts with `offset` and `length`"
    );
    assert_eq!(tree.call("fs_read", r#"{"path":"docs/over","offset":16777216}"#), r#""x""#);
    // A file may claim to be larger than any memory.
    let huge = File::create(tree.at("docs/huge")).expect("a file");
    huge.set_len(1 << 40).expect("a file may have a hole");
    assert_eq!(
        tree.about("fs_read", "docs/huge"),
        "`docs/huge` has 1099511627776 bytes; one call reads at most 16777216, so read it in parts with `offset` and \
         `length`"
    );
    let end = tree.call("fs_read", r#"{"path":"docs/huge","offset":1099511627774,"length":5}"#);
    assert_eq!(end, r#""\u0000\u0000""#);
}
