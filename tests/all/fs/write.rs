//! `fs_write`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use super::Tree;
#[cfg(target_os = "linux")]
use super::{Access, Grants, ask, decode};

fn write(tree: &Tree, path: &str, text: &str, more: &str) -> String {
    tree.call("fs_write", &format!(r#"{{"path":"{path}","text":"{text}"{more}}}"#))
}

const REPLACE: &str = r#","mode":"replace""#;
const APPEND: &str = r#","mode":"append""#;
const EXISTS: &str = "exists already; the mode `replace` writes it anew and `append` adds to it";

#[test]
fn a_file_is_created_once() {
    let tree = Tree::new();
    assert_eq!(write(&tree, "out/a", "é\\n", ""), r#"{"path":"out/a","bytes":3}"#);
    assert_eq!(tree.text("out/a"), "é\n");
    for more in ["", r#","mode":"create""#, r#","mode":"create","parents":true"#] {
        assert_eq!(write(&tree, "out/a", "new", more), format!("`out/a` {EXISTS}"));
    }
    assert_eq!(tree.text("out/a"), "é\n");
    assert_eq!(write(&tree, "out/empty", "", ""), r#"{"path":"out/empty","bytes":0}"#);
    assert_eq!(tree.names("out"), ["a", "empty"]);
}

#[test]
fn a_file_is_replaced_whole_or_made() {
    let tree = Tree::new();
    tree.file("out/a", "a long old text");
    fs::hard_link(tree.at("out/a"), tree.at("out/other")).expect("a hard link");
    assert_eq!(write(&tree, "out/a", "new", REPLACE), r#"{"path":"out/a","bytes":3}"#);
    assert_eq!(tree.text("out/a"), "new");
    assert_eq!(tree.text("out/other"), "a long old text", "the old file was not written to");
    assert_eq!(write(&tree, "out/b", "made", REPLACE), r#"{"path":"out/b","bytes":4}"#);
    assert_eq!(tree.text("out/b"), "made");
    let longest = "n".repeat(255);
    assert_eq!(
        write(&tree, &format!("out/{longest}"), "", REPLACE),
        format!(r#"{{"path":"out/{longest}","bytes":0}}"#)
    );
    assert_eq!(tree.names("out"), ["a", "b", &longest, "other"], "no temporary file is left");
}

#[test]
fn a_replaced_file_keeps_its_permissions_but_no_identity() {
    let tree = Tree::new();
    for (mode, kept) in [(0o600, 0o600), (0o666, 0o666), (0o4755, 0o755)] {
        tree.file("out/a", "old");
        fs::set_permissions(tree.at("out/a"), Permissions::from_mode(mode)).expect("its owner may");
        assert_eq!(write(&tree, "out/a", "new", REPLACE), r#"{"path":"out/a","bytes":3}"#);
        assert_eq!(fs::metadata(tree.at("out/a")).expect("a file").mode() & 0o7777, kept);
    }
}

#[test]
fn a_file_is_added_to_or_made() {
    let tree = Tree::new();
    tree.file("out/d/a", "1");
    tree.link("out/link", "d/a");
    tree.link("out/dangling", "d/new");
    assert_eq!(write(&tree, "out/d/a", "2", APPEND), r#"{"path":"out/d/a","bytes":1}"#);
    assert_eq!(write(&tree, "out/link", "3", APPEND), r#"{"path":"out/link","bytes":1}"#);
    assert_eq!(write(&tree, "out/d/a", "", APPEND), r#"{"path":"out/d/a","bytes":0}"#);
    assert_eq!(tree.text("out/d/a"), "123");
    assert_eq!(write(&tree, "out/b", "1", APPEND), r#"{"path":"out/b","bytes":1}"#);
    assert_eq!(tree.text("out/b"), "1");
    assert_eq!(write(&tree, "out/dangling", "1", APPEND), r#"{"path":"out/dangling","bytes":1}"#);
    assert_eq!(tree.text("out/d/new"), "1");
}

#[test]
fn replacing_a_link_leaves_what_it_leads_to() {
    let tree = Tree::new();
    tree.file("out/real", "old");
    fs::create_dir(tree.at("out/directory")).expect("a directory");
    for (link, to) in [("out/file", "real"), ("out/dir", "directory"), ("out/gone", "none"), ("out/loop", "loop")]
    {
        tree.link(link, to);
        assert_eq!(write(&tree, link, "new", REPLACE), format!(r#"{{"path":"{link}","bytes":3}}"#));
        assert!(fs::symlink_metadata(tree.at(link)).expect("a file").is_file());
        assert_eq!(tree.text(link), "new");
    }
    assert_eq!(tree.text("out/real"), "old");
    assert!(tree.names("out/directory").is_empty());
    assert_eq!(tree.names("out"), ["dir", "directory", "file", "gone", "loop", "real"]);
}

#[test]
fn directories_are_made_when_asked_for() {
    let tree = Tree::new();
    let missing = "is in a directory that does not exist; with `parents` true it is made";
    for more in ["", REPLACE, APPEND, r#","parents":false"#] {
        assert_eq!(write(&tree, "out/x/y/a", "1", more), format!("`out/x/y/a` {missing}"));
    }
    assert!(tree.names("out").is_empty());
    for (path, mode) in
        [("out/x/y/a", "create"), ("out/x/z/a", "replace"), ("out/w/a", "append"), ("out/a", "create")]
    {
        let more = format!(r#","mode":"{mode}","parents":true"#);
        assert_eq!(write(&tree, path, "1", &more), format!(r#"{{"path":"{path}","bytes":1}}"#));
        assert_eq!(tree.text(path), "1");
    }
    tree.file("out/file", "");
    tree.link("out/gone", "none");
    let through = "passes through something that is not a directory";
    for (path, why) in [("out/file/a", through), ("out/file/b/a", through), ("out/gone/a", missing)] {
        assert_eq!(write(&tree, path, "1", r#","parents":true"#), format!("`{path}` {why}"));
    }
}

#[test]
fn only_a_directory_granted_for_writing_takes_files() {
    let tree = Tree::new();
    tree.file("docs/a", "old");
    for path in ["docs/a", "docs/b", "docs/d/a"] {
        for more in ["", REPLACE, APPEND, r#","parents":true"#] {
            assert_eq!(
                write(&tree, path, "new", more),
                format!("`{path}` is in a directory granted read-only; writable are `out`")
            );
        }
    }
    assert_eq!(tree.text("docs/a"), "old");
    assert_eq!(tree.names("docs"), ["a"]);
}

#[test]
fn what_is_no_file_cannot_be_written() {
    let tree = Tree::new();
    tree.file("out/d/a", "old");
    for (path, more, why) in [
        ("out", "", "is a granted directory, not a file"),
        ("out/", REPLACE, "is a granted directory, not a file"),
        ("out/new/", "", "names a directory, because it ends in `/`"),
        ("out/d/", REPLACE, "names a directory, because it ends in `/`"),
        ("out/d", "", EXISTS),
        ("out/d", REPLACE, "is a directory, not a file"),
        ("out/d", APPEND, "is a directory, not a file"),
        ("out/d/a/b", "", "passes through something that is not a directory"),
    ] {
        assert_eq!(write(&tree, path, "new", more), format!("`{path}` {why}"));
    }
    let long = format!("out/{}", "n".repeat(256));
    let shown = format!("{}…{}", &long[..100], &long[160..]);
    for more in ["", REPLACE, APPEND] {
        assert_eq!(write(&tree, &long, "", more), format!("`{shown}` cannot be accessed: invalid filename"));
    }
    assert_eq!(tree.names("out"), ["d"]);
    assert_eq!(tree.text("out/d/a"), "old");
}

#[test]
fn a_file_marked_read_only_stays_as_it_is() {
    let tree = Tree::new();
    tree.file("out/a", "old");
    fs::set_permissions(tree.at("out/a"), Permissions::from_mode(0o444)).expect("its owner may");
    for more in [REPLACE, APPEND] {
        assert_eq!(write(&tree, "out/a", "new", more), "`out/a` is marked read-only");
    }
    assert_eq!(tree.text("out/a"), "old");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_is_not_written_to() {
    let grants = Grants::new().with_ambient("dev", "/dev", Access::ReadWrite).expect("it is there");
    let arguments = decode(r#"{"path":"dev/full","text":"x","mode":"append"}"#).expect("good JSON");
    assert_eq!(ask(grants, "fs_write", &arguments), "`dev/full` is not a regular file");
}
