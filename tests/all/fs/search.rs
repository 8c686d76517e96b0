//! `fs_search`.

use super::Tree;

fn found(path: &str, line: u32, column: u32, text: &str) -> String {
    format!(r#"{{"path":"{path}","line":{line},"column":{column},"text":"{text}"}}"#)
}

fn answer(matches: &[String], searched: u32, skipped: &[(&str, &str)], truncated: bool) -> String {
    let named: Vec<String> =
        skipped.iter().map(|(path, reason)| format!(r#"{{"path":"{path}","reason":"{reason}"}}"#)).collect();
    format!(
        "{{\"matches\":[{}],\"files_searched\":{searched},\"files_skipped\":[{}],\"files_skipped_total\":{},\
         \"truncated\":{truncated}}}",
        matches.join(","),
        named.join(","),
        skipped.len()
    )
}

#[test]
fn the_first_match_of_every_line_is_found() {
    let tree = Tree::new();
    tree.file("docs/a", "one two\nnothing\n  two two\r\n\ntwo");
    tree.file("docs/d/b", "été two");
    tree.file("docs/d/c", "Two");
    let a = [found("docs/a", 1, 5, "one two"), found("docs/a", 3, 3, "  two two"), found("docs/a", 5, 1, "two")];
    let b = found("docs/d/b", 1, 5, "été two");
    let c = found("docs/d/c", 1, 1, "Two");
    let search = |arguments: &str| tree.call("fs_search", &format!("{{{arguments}}}"));
    let all = [a.as_slice(), std::slice::from_ref(&b)].concat();
    assert_eq!(search(r#""path":"docs","pattern":"two""#), answer(&all, 3, &[], false));
    assert_eq!(search(r#""path":"docs/","pattern":"\\btwo\\b""#), answer(&all, 3, &[], false));
    assert_eq!(search(r#""path":"docs/a","pattern":"two""#), answer(&a, 1, &[], false));
    let ends =
        [found("docs/a", 1, 5, "one two"), found("docs/a", 3, 7, "  two two"), found("docs/a", 5, 1, "two")];
    assert_eq!(search(r#""path":"docs/a","pattern":"two$""#), answer(&ends, 1, &[], false));
    assert_eq!(search(r#""path":"docs/d","pattern":"two""#), answer(std::slice::from_ref(&b), 2, &[], false));
    let ignoring = [b.clone(), c];
    assert_eq!(search(r#""path":"docs/d","pattern":"TWO","ignore_case":true"#), answer(&ignoring, 2, &[], false));
    assert_eq!(search(r#""path":"docs/d","pattern":"none""#), answer(&[], 2, &[], false));
    assert_eq!(search(r#""path":"out","pattern":"none""#), answer(&[], 0, &[], false));
    for (limit, kept, searched, truncated) in
        [(3, 3, 2, true), (4, 4, 3, false), (5, 4, 3, false), (1, 1, 1, true)]
    {
        assert_eq!(
            search(&format!(r#""path":"docs","pattern":"two","limit":{limit}"#)),
            answer(&all[..kept], searched, &[], truncated)
        );
    }
}

#[test]
fn a_glob_chooses_by_file_name() {
    let tree = Tree::new();
    for path in ["docs/a.rs", "docs/a.txt", "docs/rs/b.rs", "docs/rs/c"] {
        tree.file(path, "x");
    }
    tree.link("docs/link.rs", "a.rs");
    tree.link("docs/link.txt", "a.rs");
    let search = |path: &str, glob: &str| {
        tree.call("fs_search", &format!(r#"{{"path":"{path}","pattern":"x","glob":"{glob}"}}"#))
    };
    let link = ("docs/link.rs", "is a link, which no walk follows");
    let both = [found("docs/a.rs", 1, 1, "x"), found("docs/rs/b.rs", 1, 1, "x")];
    assert_eq!(search("docs", "*.rs"), answer(&both, 2, &[link], false));
    assert_eq!(search("docs", "?"), answer(&[found("docs/rs/c", 1, 1, "x")], 1, &[], false));
    assert_eq!(search("docs/a.txt", "*.txt"), answer(&[found("docs/a.txt", 1, 1, "x")], 1, &[], false));
    assert_eq!(search("docs/a.txt", "*.rs"), answer(&[], 0, &[], false));
    assert_eq!(
        search("docs", "rs/*"),
        "the argument `glob` has a `/` in it; it is compared with file names, which have none"
    );
}

#[test]
fn a_file_that_is_no_text_is_skipped_with_none_of_its_matches() {
    let tree = Tree::new();
    tree.file("docs/binary", "x\nx\0");
    tree.file("docs/latin1", b"x\nx\nab\xE9");
    tree.file("docs/text", "x");
    let skipped = [
        ("docs/binary", "is not text: byte 3 is NUL"),
        ("docs/latin1", "is not UTF-8 text: no character begins at byte 6"),
    ];
    assert_eq!(
        tree.call("fs_search", r#"{"path":"docs","pattern":"x"}"#),
        answer(&[found("docs/text", 1, 1, "x")], 1, &skipped, false)
    );
    assert_eq!(
        tree.call("fs_search", r#"{"path":"docs/binary","pattern":"x"}"#),
        answer(&[], 0, &skipped[..1], false)
    );
}

#[test]
fn a_hundred_skipped_files_are_named_and_all_are_counted() {
    let tree = Tree::new();
    let mut names: Vec<String> = (0..101).map(|number| format!("docs/{number}")).collect();
    for name in &names {
        tree.file(name, "\0");
    }
    names.sort();
    let named: Vec<(&str, &str)> =
        names.iter().take(100).map(|name| (name.as_str(), "is not text: byte 0 is NUL")).collect();
    let expected =
        answer(&[], 0, &named, false).replace("\"files_skipped_total\":100", "\"files_skipped_total\":101");
    assert_eq!(tree.call("fs_search", r#"{"path":"docs","pattern":"x"}"#), expected);
}

#[test]
fn a_long_line_is_cut_visibly_around_its_match() {
    let tree = Tree::new();
    let search = |line: &str| {
        tree.file("docs/a", line);
        tree.call("fs_search", r#"{"path":"docs","pattern":"x"}"#)
    };
    let dots = |count: usize| "é".repeat(count);
    for (before, behind, text) in [
        (0, 499, format!("x{}", dots(499))),
        (0, 500, format!("x{}…", dots(499))),
        (100, 400, format!("{}x{}…", dots(100), dots(399))),
        (101, 399, format!("…{}x{}", dots(100), dots(399))),
        (101, 400, format!("…{}x{}…", dots(100), dots(399))),
        (500, 0, format!("…{}x", dots(499))),
        (1000, 1000, format!("…{}x{}…", dots(100), dots(399))),
    ] {
        let column = u32::try_from(before).expect("a small number") + 1;
        let line = format!("{}x{}", dots(before), dots(behind));
        assert_eq!(search(&line), answer(&[found("docs/a", 1, column, &text)], 1, &[], false));
    }
}

#[test]
fn a_pattern_that_is_no_pattern_is_refused() {
    let tree = Tree::new();
    let search = |pattern: &str| tree.call("fs_search", &format!(r#"{{"path":"docs","pattern":"{pattern}"}}"#));
    let bad = "the argument `pattern` is not a regular expression";
    assert_eq!(search("(a"), format!("{bad}: unclosed group"));
    assert_eq!(search("a\\nb\\n["), format!("{bad}: unclosed character class"));
    assert_eq!(
        search("(?=a)"),
        format!("{bad}: look-around, including look-ahead and look-behind, is not supported")
    );
    let nested = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(search(&nested(99)), answer(&[], 0, &[], false));
    assert_eq!(
        search(&nested(101)),
        format!("{bad}: exceed the maximum number of nested parentheses/brackets (100)")
    );
    assert_eq!(search(&"a".repeat(4096)), answer(&[], 0, &[], false));
    assert_eq!(search(&"a".repeat(4097)), "the argument `pattern` has 4097 bytes; at most 4096 are taken");
    assert_eq!(
        search("((a{100}){100}){100}"),
        "the argument `pattern` needs more than 524288 bytes when compiled; use fewer or smaller repetitions"
    );
}
