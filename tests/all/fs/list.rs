//! `fs_list` and `fs_stat`.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, UNIX_EPOCH};

use super::Tree;

fn entry(path: &str, kind: &str, size: u32) -> String {
    format!(r#"{{"path":"{path}","kind":"{kind}","size":{size}}}"#)
}

fn listing(entries: &[String], truncated: bool) -> String {
    format!(r#"{{"entries":[{}],"skipped":[],"truncated":{truncated}}}"#, entries.join(","))
}

#[test]
fn the_top_is_the_granted_directories() {
    let tree = Tree::new();
    tree.file("docs/a", "1");
    let docs = r#"{"path":"docs","kind":"directory","size":0,"access":"read-only"}"#.to_owned();
    let out = r#"{"path":"out","kind":"directory","size":0,"access":"read-write"}"#.to_owned();
    for path in ["", "/"] {
        assert_eq!(tree.about("fs_list", path), listing(&[docs.clone(), out.clone()], false));
    }
    let all = [docs.clone(), entry("docs/a", "file", 1), out];
    assert_eq!(tree.call("fs_list", r#"{"path":"","recursive":true}"#), listing(&all, false));
    assert_eq!(tree.call("fs_list", r#"{"path":"","limit":1}"#), listing(&[docs], true));
}

#[test]
fn entries_come_in_the_order_of_their_paths() {
    let tree = Tree::new();
    // `.` sorts before `/` and `0` after it, so a directory's contents stand between its neighbours.
    for path in ["docs/a/b/c", "docs/a/z", "docs/a.txt", "docs/a0", "docs/B", "docs/é"] {
        tree.file(path, "12");
    }
    let directory = |path: &str| entry(path, "directory", 0);
    let file = |path: &str| entry(path, "file", 2);
    let here = [file("docs/B"), directory("docs/a"), file("docs/a.txt"), file("docs/a0"), file("docs/é")];
    for path in ["docs", "docs/"] {
        assert_eq!(tree.about("fs_list", path), listing(&here, false));
    }
    let all = [
        file("docs/B"),
        directory("docs/a"),
        file("docs/a.txt"),
        directory("docs/a/b"),
        file("docs/a/b/c"),
        file("docs/a/z"),
        file("docs/a0"),
        file("docs/é"),
    ];
    assert_eq!(tree.call("fs_list", r#"{"path":"docs","recursive":true}"#), listing(&all, false));
    for limit in 1..=9 {
        let kept = limit.min(all.len());
        let answer = tree.call("fs_list", &format!(r#"{{"path":"docs","recursive":true,"limit":{limit}}}"#));
        assert_eq!(answer, listing(&all[..kept], limit < all.len()));
    }
    assert_eq!(tree.about("fs_list", "docs/a/b/"), listing(&[file("docs/a/b/c")], false));
}

#[test]
fn the_default_limit_is_a_thousand() {
    let tree = Tree::new();
    let mut names: Vec<String> = (0..1000).map(|number| format!("docs/{number}")).collect();
    for name in &names {
        tree.file(name, "");
    }
    names.sort();
    let entries: Vec<String> = names.iter().map(|name| entry(name, "file", 0)).collect();
    assert_eq!(tree.about("fs_list", "docs"), listing(&entries, false));
    tree.file("docs/more", "");
    assert_eq!(tree.about("fs_list", "docs"), listing(&entries, true));
}

#[test]
fn what_is_no_directory_cannot_be_listed() {
    let tree = Tree::new();
    tree.file("docs/a", "");
    tree.link("docs/dangling", "none");
    for (path, why) in [
        ("docs/a", "is not a directory"),
        ("docs/a/", "is not a directory"),
        ("docs/a/b", "passes through something that is not a directory"),
        ("docs/none", "does not exist"),
        ("docs/none/b", "does not exist"),
        ("docs/dangling", "does not exist"),
    ] {
        assert_eq!(tree.about("fs_list", path), format!("`{path}` {why}"));
    }
}

#[test]
fn a_name_that_is_not_utf_8_is_reported() {
    let tree = Tree::new();
    fs::write(tree.at("docs").join(OsStr::from_bytes(b"a\xFFb")), "x").expect("a file");
    let skipped = r#"[{"path":"docs/a�b","reason":"has a name that is not UTF-8"}]"#;
    assert_eq!(
        tree.about("fs_list", "docs"),
        format!(r#"{{"entries":[],"skipped":{skipped},"truncated":false}}"#)
    );
    assert_eq!(
        tree.call("fs_search", r#"{"path":"docs","pattern":"x"}"#),
        format!(
            "{{\"matches\":[],\"files_searched\":0,\"files_skipped\":{skipped},\"files_skipped_total\":1,\
             \"truncated\":false}}"
        )
    );
    assert_eq!(tree.about("fs_read", "docs/a\u{FFFD}b"), "`docs/a\u{FFFD}b` does not exist");
}

#[test]
fn a_path_has_a_longest_length_and_a_greatest_depth() {
    let tree = Tree::new();
    let deep = |names: usize| format!("docs{}", "/d".repeat(names - 1));
    assert_eq!(
        tree.about("fs_stat", &deep(256)),
        format!("`{}…{}` does not exist", &deep(256)[..100], "/d".repeat(50))
    );
    assert_eq!(
        tree.about("fs_stat", &deep(257)),
        format!("`{}…{}` has 257 names; a path has at most 256", &deep(257)[..100], "/d".repeat(50))
    );
    let long = |bytes: usize| {
        let names = format!("docs/{}", format!("{}/", "n".repeat(200)).repeat(21));
        names[..bytes].to_owned()
    };
    let message = |bytes: usize, why: &str| {
        let path = long(bytes);
        format!("`{}…{}` {why}", &path[..100], &path[bytes - 100..])
    };
    assert_eq!(tree.about("fs_stat", &long(4096)), message(4096, "does not exist"));
    assert_eq!(tree.about("fs_stat", &long(4097)), message(4097, "has 4097 bytes; a path has at most 4096"));
}

#[test]
fn a_tree_too_deep_for_paths_is_walked_as_far_as_they_go() {
    let tree = Tree::new();
    let deepest = format!("docs{}", "/d".repeat(255));
    tree.file(&format!("{deepest}/f"), "x");
    let answer = tree.call("fs_list", r#"{"path":"docs","recursive":true}"#);
    let entries: Vec<String> =
        (1..=255).map(|depth| entry(&format!("docs{}", "/d".repeat(depth)), "directory", 0)).collect();
    assert_eq!(
        answer,
        format!(
            r#"{{"entries":[{}],"skipped":[{{"path":"{deepest}/f","reason":"is too deep to have a path"}}],"truncated":false}}"#,
            entries.join(",")
        )
    );
}

#[test]
fn a_directory_that_may_not_be_read_is_skipped_by_a_walk() {
    let tree = Tree::new();
    tree.file("docs/closed/a", "x");
    fs::set_permissions(tree.at("docs/closed"), Permissions::from_mode(0o000)).expect("its owner may");
    let privileged = fs::read_dir(tree.at("docs/closed")).is_ok();
    let listed = tree.call("fs_list", r#"{"path":"docs","recursive":true}"#);
    let closed = entry("docs/closed", "directory", 0);
    if privileged {
        assert_eq!(listed, listing(&[closed, entry("docs/closed/a", "file", 1)], false));
    } else {
        let reason = "cannot be accessed: permission denied";
        let skipped = format!(r#"{{"path":"docs/closed","reason":"{reason}"}}"#);
        assert_eq!(listed, format!(r#"{{"entries":[{closed}],"skipped":[{skipped}],"truncated":false}}"#));
        assert_eq!(tree.about("fs_list", "docs/closed"), format!("`docs/closed` {reason}"));
    }
    fs::set_permissions(tree.at("docs/closed"), Permissions::from_mode(0o700)).expect("its owner may");
}

#[test]
fn a_stat_describes_what_is_there() {
    let tree = Tree::new();
    for (path, read_only) in [("docs/a", false), ("out/a", false), ("out/b", true)] {
        tree.file(path, "12345");
        let file = File::options().write(true).open(tree.at(path)).expect("a file");
        file.set_modified(UNIX_EPOCH + Duration::from_millis(1_709_210_096_789)).expect("its owner may");
        let mut permissions = file.metadata().expect("a file").permissions();
        permissions.set_readonly(read_only);
        file.set_permissions(permissions).expect("its owner may");
    }
    for (path, writable) in [("docs/a", false), ("out/a", true), ("out/b", false)] {
        assert_eq!(
            tree.about("fs_stat", path),
            format!(
                "{{\"path\":\"{path}\",\"kind\":\"file\",\"size\":5,\"modified\":\"2024-02-29T12:34:56.789Z\",\
                 \"writable\":{writable}}}"
            )
        );
    }
    for (path, canonical, writable) in
        [("docs", "docs", false), ("docs/", "docs", false), ("out/d", "out/d", true), ("out/d/", "out/d", true)]
    {
        fs::create_dir_all(tree.at("out/d")).expect("a directory");
        let directory = File::open(tree.at(canonical)).expect("a directory");
        directory.set_modified(UNIX_EPOCH).expect("its owner may");
        assert_eq!(
            tree.about("fs_stat", path),
            format!(
                "{{\"path\":\"{canonical}\",\"kind\":\"directory\",\"size\":0,\"modified\":\"1970-01-01T00:00:00.000Z\",\
                 \"writable\":{writable}}}"
            )
        );
    }
    for (path, why) in [
        ("docs/a/", "is not a directory"),
        ("docs/a/b", "passes through something that is not a directory"),
        ("docs/none", "does not exist"),
    ] {
        assert_eq!(tree.about("fs_stat", path), format!("`{path}` {why}"));
    }
}
