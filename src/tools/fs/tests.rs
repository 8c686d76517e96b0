//! What needs the inside: bounds set lower, and what is left after a cancellation.
#![expect(clippy::disallowed_methods, reason = "tests make and look at their own files")]

use std::fs;
use std::sync::{Arc, Barrier};

use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::bounds::{Bounds, CALLS_AT_ONCE};
use super::fault::Fault;
use super::walk::Walk;
use super::work::{Shared, Work, run};
use super::{Access, Grants, list, read, search, write};
use crate::json::{Value, decode, encode};
use crate::runtime::CallError;

struct Tree {
    dir: TempDir,
    bounds: Bounds,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let dir = TempDir::new().expect("a place for temporary files");
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("below the directory")).expect("a new directory");
            fs::write(path, text).expect("a new file");
        }
        Self { dir, bounds: Bounds::default() }
    }

    fn with(mut self, set: impl FnOnce(&mut Bounds)) -> Self {
        set(&mut self.bounds);
        self
    }

    fn shared(&self) -> Shared {
        let grants = Grants::new().with_ambient("d", self.dir.path(), Access::ReadWrite).expect("it exists");
        Shared { roots: grants.roots, bounds: self.bounds, turns: Arc::new(Semaphore::new(CALLS_AT_ONCE)) }
    }

    fn call(&self, work: Work, arguments: &str) -> String {
        let arguments = decode(arguments).expect("good JSON");
        match work(&self.shared(), &arguments, &CancellationToken::new()) {
            Ok(value) => encode(&value),
            Err(error) => error.message().to_owned(),
        }
    }
}

#[test]
fn a_file_is_read_up_to_the_bound_and_beyond_it_in_parts() {
    let tree = Tree::new(&[("under", "1234"), ("at", "12345"), ("over", "123456")]).with(|b| b.read_bytes = 5);
    assert_eq!(tree.call(read::read, r#"{"path":"d/under"}"#), r#""1234""#);
    assert_eq!(tree.call(read::read, r#"{"path":"d/at"}"#), r#""12345""#);
    assert_eq!(
        tree.call(read::read, r#"{"path":"d/over"}"#),
        "`d/over` has 6 bytes; one call reads at most 5, so read it in parts with `offset` and `length`"
    );
    assert_eq!(tree.call(read::read, r#"{"path":"d/over","offset":0}"#), r#""12345""#);
    assert_eq!(tree.call(read::read, r#"{"path":"d/over","offset":5}"#), r#""6""#);
    assert_eq!(
        tree.call(read::read, r#"{"path":"d/over","length":6}"#),
        "the argument `length` must be an integer from 0 to 5, got 6"
    );
}

#[test]
fn a_cut_at_the_bound_offers_only_lengths_that_are_allowed() {
    let tree = Tree::new(&[("a", "12é45")]).with(|b| b.read_bytes = 3);
    assert_eq!(
        tree.call(read::read, r#"{"path":"d/a","offset":0}"#),
        "`d/a` would be cut at byte 3, inside a character; use the length 2"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_hides_its_size_is_bounded_all_the_same() {
    let grants = Grants::new().with_ambient("p", "/proc/self", Access::ReadOnly).expect("it exists");
    let bounds = Bounds { read_bytes: 8, search_file_bytes: 8, ..Bounds::default() };
    let shared = Shared { roots: grants.roots, bounds, turns: Arc::new(Semaphore::new(1)) };
    let call = |work: Work, arguments: &str| {
        let answer = work(&shared, &decode(arguments).expect("good JSON"), &CancellationToken::new());
        answer.map_or_else(|error| error.message().to_owned(), |value| encode(&value))
    };
    assert_eq!(
        call(read::read, r#"{"path":"p/status"}"#),
        "`p/status` has more than 8 bytes; one call reads at most 8, so read it in parts with `offset` and `length`"
    );
    assert_eq!(
        call(search::search, r#"{"path":"p/mountinfo","pattern":"x"}"#),
        "{\"matches\":[],\"files_searched\":0,\"files_skipped\":[{\"path\":\"p/mountinfo\",\"reason\":\"has more than 8 \
         bytes, the most that is searched\"}],\"files_skipped_total\":1,\"truncated\":false}"
    );
    // Magic links lead anywhere, and none is followed. Kernels without `openat2` are told so in other words.
    for (work, path) in [(read::read as Work, "p/exe"), (list::list, "p/root"), (list::list, "p/cwd/")] {
        let answer = call(work, &format!(r#"{{"path":"{path}"}}"#));
        let known = ["goes through too many links", "leads out of its granted directory"];
        assert!(known.iter().any(|why| answer == format!("`{path}` {why}")), "{answer}");
    }
}

#[test]
fn a_text_is_written_up_to_the_bound() {
    let tree = Tree::new(&[]).with(|b| b.write_bytes = 2);
    assert_eq!(tree.call(write::write, r#"{"path":"d/a","text":"1"}"#), r#"{"path":"d/a","bytes":1}"#);
    assert_eq!(tree.call(write::write, r#"{"path":"d/b","text":"é"}"#), r#"{"path":"d/b","bytes":2}"#);
    assert_eq!(
        tree.call(write::write, r#"{"path":"d/c","text":"123"}"#),
        "the argument `text` has 3 bytes; one call writes at most 2"
    );
    assert!(!tree.dir.path().join("c").exists());
}

/// The answer of a search without its matches.
fn after(matches: &str, searched: u32, skipped: &str, total: u32, truncated: bool) -> String {
    format!(
        "{{\"matches\":[{matches}],\"files_searched\":{searched},\"files_skipped\":[{skipped}],\
         \"files_skipped_total\":{total},\"truncated\":{truncated}}}"
    )
}

fn found(path: &str, line: u32, column: u32, text: &str) -> String {
    format!(r#"{{"path":"{path}","line":{line},"column":{column},"text":"{text}"}}"#)
}

#[test]
fn a_file_is_searched_up_to_the_bound() {
    let tree = Tree::new(&[("a", "x"), ("b", "xy"), ("c", "xyz")]).with(|b| b.search_file_bytes = 2);
    let matches = [found("d/a", 1, 1, "x"), found("d/b", 1, 1, "xy")].join(",");
    let skipped = r#"{"path":"d/c","reason":"has more than 2 bytes, the most that is searched"}"#;
    assert_eq!(tree.call(search::search, r#"{"path":"d","pattern":"x"}"#), after(&matches, 2, skipped, 1, false));
}

#[test]
fn a_line_is_searched_up_to_the_bound_whatever_its_end() {
    let lines = [("a", "x\n12x"), ("b", "x\n12x\n"), ("c", "x\n12x\r\nx"), ("d", "x\n123x\n"), ("e", "x\n123x")];
    let tree = Tree::new(&lines).with(|b| b.search_line_bytes = 3);
    let mut matches = Vec::new();
    for path in ["d/a", "d/b", "d/c"] {
        matches.push(found(path, 1, 1, "x"));
        matches.push(found(path, 2, 3, "12x"));
    }
    matches.push(found("d/c", 3, 1, "x"));
    let reason = "has more than 3 bytes in line 2";
    let skipped = format!(r#"{{"path":"d/d","reason":"{reason}"}},{{"path":"d/e","reason":"{reason}"}}"#);
    assert_eq!(
        tree.call(search::search, r#"{"path":"d","pattern":"x"}"#),
        after(&matches.join(","), 3, &skipped, 2, false)
    );
}

#[test]
fn a_search_reads_up_to_the_bound_in_all_files_together() {
    let files = [("a", "x\n"), ("b", "x\nx\n")];
    let first = found("d/a", 1, 1, "x");
    let second = found("d/b", 1, 1, "x");
    let third = found("d/b", 2, 1, "x");
    for (bound, matches, searched, truncated) in [
        (7, [first.as_str(), &second, &third].join(","), 2, false),
        (6, [first.as_str(), &second, &third].join(","), 2, false),
        (5, [first.as_str(), &second].join(","), 2, true),
    ] {
        let tree = Tree::new(&files).with(|b| b.search_bytes = bound);
        assert_eq!(
            tree.call(search::search, r#"{"path":"d","pattern":"x"}"#),
            after(&matches, searched, "", 0, truncated)
        );
    }
}

#[test]
fn a_search_opens_up_to_the_bound_of_files() {
    let files = [("a", "x"), ("b", "\0"), ("c/c", "x")];
    let binary = r#"{"path":"d/b","reason":"is not text: byte 0 is NUL"}"#;
    let both = [found("d/a", 1, 1, "x"), found("d/c/c", 1, 1, "x")].join(",");
    for (bound, matches, searched, truncated) in
        [(4, &both, 2, false), (3, &both, 2, false), (2, &found("d/a", 1, 1, "x"), 1, true)]
    {
        let tree = Tree::new(&files).with(|b| b.search_files = bound);
        assert_eq!(
            tree.call(search::search, r#"{"path":"d","pattern":"x"}"#),
            after(matches, searched, binary, 1, truncated)
        );
    }
}

#[test]
fn a_walk_looks_at_entries_up_to_the_bound() {
    let listed = |bound: usize| {
        let tree = Tree::new(&[("a/b/c", "")]).with(|b| b.walk_entries = bound);
        tree.call(list::list, r#"{"path":"d","recursive":true}"#)
    };
    let entries = [
        r#"{"path":"d/a","kind":"directory","size":0}"#,
        r#"{"path":"d/a/b","kind":"directory","size":0}"#,
        r#"{"path":"d/a/b/c","kind":"file","size":0}"#,
    ];
    let answer = |entries: &[&str], truncated: bool| {
        format!(r#"{{"entries":[{}],"skipped":[],"truncated":{truncated}}}"#, entries.join(","))
    };
    assert_eq!(listed(4), answer(&entries, false));
    assert_eq!(listed(3), answer(&entries, false));
    assert_eq!(listed(2), answer(&entries[..2], true));
    let tree = Tree::new(&[("a/b", "x")]).with(|b| b.walk_entries = 1);
    assert_eq!(tree.call(search::search, r#"{"path":"d","pattern":"x"}"#), after("", 0, "", 0, true));
}

#[test]
fn a_walk_holds_paths_up_to_the_bound() {
    // `d/a` and `d/a/` are held while the second entry is looked at: 7 bytes.
    let listed = |bound: usize| {
        let tree = Tree::new(&[("a/x", ""), ("b/x", "")]).with(|b| b.walk_pending_bytes = bound);
        tree.call(list::list, r#"{"path":"d","recursive":true}"#).ends_with(r#""truncated":false}"#)
    };
    assert_eq!([6, 7, 8].map(listed), [false, false, true]);
}

#[test]
fn a_walk_that_is_cancelled_goes_no_further() {
    let tree = Tree::new(&[("a", ""), ("b", "")]);
    let shared = tree.shared();
    let cancel = CancellationToken::new();
    let mut walk = Walk::new(&shared, &cancel, true, usize::MAX);
    walk.enter(shared.roots.place("d").expect("it is granted")).expect("it can be read");
    assert_eq!(walk.next().map(|found| found.map(|found| found.path)), Ok(Some("d/a".to_owned())));
    cancel.cancel();
    assert_eq!(walk.next().map(|found| found.map(|found| found.path)), Err(Fault::Cancelled));
}

/// Lets a test cancel a search that has begun.
static BEGUN: Barrier = Barrier::new(2);

fn announced(shared: &Shared, arguments: &Value, cancel: &CancellationToken) -> Result<Value, CallError> {
    BEGUN.wait();
    search::search(shared, arguments, cancel)
}

#[tokio::test]
async fn a_cancelled_search_is_joined_before_its_call_fails() {
    // Lines for a minute's work with a pattern that no automaton is built for.
    let line = "ab".repeat(8 * 1024) + "\n";
    let tree = Tree::new(&[("a", line.repeat(200).as_str())]);
    let shared = Arc::new(tree.shared());
    let cancel = CancellationToken::new();
    let arguments = decode(r#"{"path":"d","pattern":"a(?:[ab]?){800}[cd]"}"#).expect("good JSON");
    let search = run(Arc::clone(&shared), Arc::new(arguments), &cancel, announced);
    let cancelling = async {
        BEGUN.wait();
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(search, cancelling);
    assert_eq!(answer.expect_err("it cannot be done yet").message(), "cancelled");
    assert_eq!(shared.turns.available_permits(), CALLS_AT_ONCE);
    assert_eq!(Arc::strong_count(&shared), 1, "nothing works on");
}

#[tokio::test]
async fn a_dropped_call_stops_and_gives_its_turn_back() {
    let line = "ab".repeat(8 * 1024) + "\n";
    let tree = Tree::new(&[("a", line.repeat(200).as_str())]);
    let shared = Arc::new(tree.shared());
    for _ in 1..=2 {
        let arguments = decode(r#"{"path":"d","pattern":"a(?:[ab]?){800}[cd]"}"#).expect("good JSON");
        let cancel = CancellationToken::new();
        let search = run(Arc::clone(&shared), Arc::new(arguments), &cancel, search::search);
        tokio::select! { biased; _ = search => unreachable!("it cannot be done yet"), () = async {} => {} }
    }
    let all = u32::try_from(CALLS_AT_ONCE).expect("a small number");
    let turns = Arc::clone(&shared.turns).acquire_many_owned(all).await.expect("it is never closed");
    assert_eq!(turns.num_permits(), CALLS_AT_ONCE);
}

#[tokio::test]
async fn a_call_waits_for_its_turn_and_can_be_cancelled_there() {
    let tree = Tree::new(&[("a", "text")]);
    let shared = Arc::new(tree.shared());
    let all = u32::try_from(CALLS_AT_ONCE).expect("a small number");
    let turns = Arc::clone(&shared.turns).acquire_many_owned(all).await.expect("it is never closed");
    let cancel = CancellationToken::new();
    let arguments = Arc::new(decode(r#"{"path":"d/a"}"#).expect("good JSON"));
    let waiting = run(Arc::clone(&shared), Arc::clone(&arguments), &cancel, read::read);
    let (answer, ()) = tokio::join!(waiting, async { cancel.cancel() });
    assert_eq!(answer.expect_err("it never had a turn").message(), "cancelled");
    let uncancelled = CancellationToken::new();
    let waiting = run(Arc::clone(&shared), arguments, &uncancelled, read::read);
    let (answer, ()) = tokio::join!(waiting, async { drop(turns) });
    assert_eq!(encode(&answer.expect("it had its turn")), r#""text""#);
}

#[test]
fn every_tool_stops_when_it_is_cancelled() {
    let tree = Tree::new(&[("a", "text")]);
    let cancel = CancellationToken::new();
    cancel.cancel();
    let works: [(Work, &str); 5] = [
        (list::list, r#"{"path":"d"}"#),
        (read::read, r#"{"path":"d/a"}"#),
        (search::search, r#"{"path":"d","pattern":"x"}"#),
        (write::write, r#"{"path":"d/b","text":""}"#),
        (write::write, r#"{"path":"d/a","text":"new","mode":"replace"}"#),
    ];
    for (work, arguments) in works {
        let answer = work(&tree.shared(), &decode(arguments).expect("good JSON"), &cancel);
        assert_eq!(answer.expect_err("it was cancelled").message(), "cancelled");
    }
    let left: Vec<_> = fs::read_dir(tree.dir.path()).expect("it exists").collect();
    assert_eq!(left.len(), 1, "no file was made");
    assert_eq!(fs::read_to_string(tree.dir.path().join("a")).expect("it is there"), "text");
}
