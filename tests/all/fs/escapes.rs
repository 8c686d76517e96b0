//! Every way out of a granted directory, tried with every tool.

use super::{SENTINEL, Tree};

/// Every tool, in every mode, about one path. The names beside each are unique.
fn everything(tree: &Tree, path: &str) -> Vec<(&'static str, String)> {
    let path = path.replace('\\', "\\\\").replace('\0', "\\u0000");
    [
        ("list", "fs_list", ""),
        ("walk", "fs_list", r#","recursive":true"#),
        ("stat", "fs_stat", ""),
        ("read", "fs_read", ""),
        ("range", "fs_read", r#","offset":0,"length":3"#),
        ("search", "fs_search", r#","pattern":"sentinel""#),
        ("create", "fs_write", r#","text":"changed","parents":true"#),
        ("append", "fs_write", r#","text":"changed","mode":"append""#),
        // Last, because it replaces a link by a file.
        ("replace", "fs_write", r#","text":"changed","mode":"replace""#),
    ]
    .into_iter()
    .map(|(name, tool, more)| (name, tree.call(tool, &format!(r#"{{"path":"{path}"{more}}}"#))))
    .collect()
}

/// That everything outside of the granted directories is as it was.
fn is_untouched(tree: &Tree) {
    assert_eq!(tree.names(""), ["beside", "docs", "out"]);
    assert_eq!(tree.names("beside"), ["secret"]);
    assert_eq!(tree.text("beside/secret"), SENTINEL);
}

#[test]
fn a_path_that_is_not_below_a_granted_directory_is_refused_alike_by_all_tools() {
    let tree = Tree::new();
    let names = "a path begins with the name of a granted directory: `docs`, `out`";
    let up = "has the name `..` in it; paths only lead down";
    let absolute = tree.at("beside/secret").display().to_string();
    for (path, message) in [
        (absolute.as_str(), format!("`{absolute}` is absolute; {names}")),
        ("/etc/passwd", format!("`/etc/passwd` is absolute; {names}")),
        ("//", format!("`//` is absolute; {names}")),
        ("beside/secret", format!("`beside/secret` begins with no granted directory; {names}")),
        ("OUT/a", format!("`OUT/a` begins with no granted directory; {names}")),
        ("out\\a", format!("`out\\a` begins with no granted directory; {names}")),
        ("..", format!("`..` {up}")),
        ("../beside/secret", format!("`../beside/secret` {up}")),
        ("out/..", format!("`out/..` {up}")),
        ("out/../", format!("`out/../` {up}")),
        ("out/../beside/secret", format!("`out/../beside/secret` {up}")),
        ("out/a/../../../beside/secret", format!("`out/a/../../../beside/secret` {up}")),
        ("out/./a", "`out/./a` has the name `.` in it; leave it out".to_owned()),
        (".", "`.` has the name `.` in it; leave it out".to_owned()),
        ("./out/a", "`./out/a` has the name `.` in it; leave it out".to_owned()),
        ("out//a", "`out//a` has an empty name in it".to_owned()),
        ("out/a//", "`out/a//` has an empty name in it".to_owned()),
        ("out/a\0b", "`out/a\\u{0}b` has a NUL character in it".to_owned()),
        ("out/\0/../../beside/secret", "`out/\\u{0}/../../beside/secret` has a NUL character in it".to_owned()),
    ] {
        for (name, answer) in everything(&tree, path) {
            assert_eq!(answer, message, "{name}");
        }
    }
    for (name, answer) in everything(&tree, "").into_iter().chain(everything(&tree, "/")) {
        if !matches!(name, "list" | "walk") {
            let how = if answer.starts_with("``") { "`` is empty" } else { "`/` is absolute" };
            assert_eq!(answer, format!("{how}; {names}"), "{name}");
        }
    }
    is_untouched(&tree);
    assert!(tree.names("out").is_empty());
}

#[test]
fn a_link_that_leads_out_is_refused_wherever_it_stands() {
    let tree = Tree::new();
    let outside = tree.at("beside").display().to_string();
    let secret = format!("{outside}/secret");
    let links = [
        ("out/absolute", secret.as_str()),
        ("out/relative", "../beside/secret"),
        ("out/chained", "relative"),
        ("out/directory", "../beside"),
        ("out/absolute-directory", &outside),
        ("out/chained-directory", "directory"),
        ("out/missing", "../beside/new"),
        ("out/root", "/"),
        ("out/up", ".."),
    ];
    for (path, to) in links {
        tree.link(path, to);
    }
    for (path, to) in links {
        for (name, answer) in everything(&tree, path) {
            let expected = match name {
                "stat" => continue,
                "create" => {
                    format!("`{path}` exists already; the mode `replace` writes it anew and `append` adds to it")
                }
                "replace" => continue,
                _ => format!("`{path}` leads out of its granted directory"),
            };
            assert_eq!(answer, expected, "{name}");
        }
        // The link itself was replaced, not what it led to. The other links need it as it was.
        assert_eq!(tree.text(path), "changed");
        std::fs::remove_file(tree.at(path)).expect("a file");
        tree.link(path, to);
    }
    is_untouched(&tree);
    assert_eq!(tree.names("out").len(), links.len(), "no temporary file is left");
}

#[test]
fn a_link_that_leads_out_is_described_as_a_link() {
    let tree = Tree::new();
    tree.link("docs/link", "../beside/secret");
    let answer = tree.about("fs_stat", "docs/link");
    let (start, rest) = answer.split_at(answer.find("\"modified\"").expect("a time"));
    assert_eq!(start, r#"{"path":"docs/link","kind":"link","size":0,"#);
    assert!(rest.ends_with(r#"Z","writable":false}"#));
    assert_eq!(tree.about("fs_stat", "docs/link/"), "`docs/link/` leads out of its granted directory");
    assert_eq!(
        tree.about("fs_list", "docs"),
        r#"{"entries":[{"path":"docs/link","kind":"link","size":0}],"skipped":[],"truncated":false}"#
    );
}

#[test]
fn a_path_through_a_link_that_leads_out_is_refused() {
    let tree = Tree::new();
    tree.link("out/directory", "../beside");
    tree.link("out/chained", "directory");
    tree.link("out/up", "..");
    for path in ["out/directory/secret", "out/chained/secret", "out/up/beside/secret", "out/directory/new/new"] {
        for (name, answer) in everything(&tree, path) {
            assert_eq!(answer, format!("`{path}` leads out of its granted directory"), "{name}");
        }
    }
    is_untouched(&tree);
    assert_eq!(tree.names("out"), ["chained", "directory", "up"]);
}

#[test]
fn links_that_lead_in_circles_are_refused() {
    let tree = Tree::new();
    tree.link("out/a", "b");
    tree.link("out/b", "a");
    tree.link("out/self", "self");
    for path in ["out/a/x", "out/self/x"] {
        for (name, answer) in everything(&tree, path) {
            assert_eq!(answer, format!("`{path}` goes through too many links"), "{name}");
        }
    }
    for (name, answer) in everything(&tree, "out/a") {
        if !matches!(name, "stat" | "create" | "replace") {
            assert_eq!(answer, "`out/a` goes through too many links", "{name}");
        }
    }
}

#[test]
fn a_walk_enters_no_link() {
    let tree = Tree::new();
    tree.file("docs/real/a", "sentinel");
    tree.link("docs/loop", ".");
    tree.link("docs/real/out", "../../beside");
    tree.link("docs/real/up", "..");
    let entries = [
        r#"{"path":"docs/loop","kind":"link","size":0}"#,
        r#"{"path":"docs/real","kind":"directory","size":0}"#,
        r#"{"path":"docs/real/a","kind":"file","size":8}"#,
        r#"{"path":"docs/real/out","kind":"link","size":0}"#,
        r#"{"path":"docs/real/up","kind":"link","size":0}"#,
    ]
    .join(",");
    assert_eq!(
        tree.call("fs_list", r#"{"path":"docs","recursive":true}"#),
        format!(r#"{{"entries":[{entries}],"skipped":[],"truncated":false}}"#)
    );
    let skipped = ["docs/loop", "docs/real/out", "docs/real/up"]
        .map(|path| format!(r#"{{"path":"{path}","reason":"is a link, which no walk follows"}}"#))
        .join(",");
    assert_eq!(
        tree.call("fs_search", r#"{"path":"docs","pattern":"sentinel"}"#),
        format!(
            "{{\"matches\":[{{\"path\":\"docs/real/a\",\"line\":1,\"column\":1,\"text\":\"sentinel\"}}],\
             \"files_searched\":1,\"files_skipped\":[{skipped}],\"files_skipped_total\":3,\"truncated\":false}}"
        )
    );
}

#[test]
fn links_that_stay_inside_are_followed_where_a_path_names_them() {
    let tree = Tree::new();
    tree.file("docs/real/a", "inside");
    tree.link("docs/file", "real/a");
    tree.link("docs/directory", "real");
    tree.link("docs/real/back", "../real");
    for path in ["docs/file", "docs/directory/a", "docs/real/back/back/a"] {
        assert_eq!(tree.about("fs_read", path), r#""inside""#);
    }
    assert_eq!(
        tree.about("fs_list", "docs/directory"),
        "{\"entries\":[{\"path\":\"docs/directory/a\",\"kind\":\"file\",\"size\":6},\
         {\"path\":\"docs/directory/back\",\"kind\":\"link\",\"size\":0}],\"skipped\":[],\"truncated\":false}"
    );
}

#[test]
fn a_pipe_is_never_waited_for() {
    let tree = Tree::new();
    tree.pipe("out/pipe");
    tree.link("out/link", "pipe");
    for (name, answer) in everything(&tree, "out/pipe") {
        let expected = match name {
            "stat" => continue,
            "list" | "walk" => "is not a directory",
            "create" => "exists already; the mode `replace` writes it anew and `append` adds to it",
            _ => "is not a regular file",
        };
        assert_eq!(answer, format!("`out/pipe` {expected}"), "{name}");
    }
    for tool in ["fs_read", "fs_list"] {
        let why = if tool == "fs_read" { "is not a regular file" } else { "is not a directory" };
        assert_eq!(tree.about(tool, "out/link"), format!("`out/link` {why}"));
    }
    assert_eq!(
        tree.about("fs_list", "out"),
        "{\"entries\":[{\"path\":\"out/link\",\"kind\":\"link\",\"size\":0},\
         {\"path\":\"out/pipe\",\"kind\":\"other\",\"size\":0}],\"skipped\":[],\"truncated\":false}"
    );
    let skipped = "{\"path\":\"out/link\",\"reason\":\"is a link, which no walk follows\"},\
                   {\"path\":\"out/pipe\",\"reason\":\"is not a regular file\"}";
    assert_eq!(
        tree.call("fs_search", r#"{"path":"out","pattern":"x"}"#),
        format!(
            "{{\"matches\":[],\"files_searched\":0,\"files_skipped\":[{skipped}],\"files_skipped_total\":2,\
             \"truncated\":false}}"
        )
    );
}

#[test]
fn a_directory_that_was_moved_away_is_still_the_granted_one() {
    let tree = Tree::new();
    tree.file("docs/a", "granted");
    let grants = tree.grants();
    std::fs::rename(tree.at("docs"), tree.at("moved")).expect("it can be moved");
    tree.file("docs/a", "not granted");
    let arguments = hotcell::json::decode(r#"{"path":"docs/a"}"#).expect("good JSON");
    assert_eq!(super::ask(grants, "fs_read", &arguments), r#""granted""#);
}
