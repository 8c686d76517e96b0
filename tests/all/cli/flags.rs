//! What the command takes as arguments, and what it says about those it does not.

use hotcell::limits::{Limit, Unit};

use super::{directory, hotcell, run, run_in, run_with_stdin, seen};
use crate::support::golden;

const HELP: &str = "\n\nFor more information, try '--help'.\n";

#[test]
fn help_texts_are_as_reviewed() {
    for (arguments, file) in [
        (&["--help"][..], "help.txt"),
        (&["run", "--help"], "help-run.txt"),
        (&["run", "-h"], "help-run-short.txt"),
        (&["call", "--help"], "help-call.txt"),
        (&["sdk", "--help"], "help-sdk.txt"),
        (&["prompt", "-h"], "help-prompt-short.txt"),
        (&["inspect", "--help"], "help-inspect.txt"),
    ] {
        let shown = run(arguments);
        assert_eq!((shown.code, shown.stderr.as_str()), (Some(0), ""), "{arguments:?}");
        golden::check(&format!("tests/data/cli/{file}"), &shown.stdout);
    }
    assert_eq!(run(&["--version"]), seen(0, concat!("hotcell ", env!("CARGO_PKG_VERSION"), "\n"), ""));
}

#[test]
fn os_05_every_limit_of_a_run_has_a_flag_of_its_own_name() {
    // Nobody is asked for approval from the command line.
    for limit in Limit::ALL.into_iter().filter(|limit| *limit != Limit::Approval) {
        let flag = format!("--{limit}");
        for value in [limit.default_value(), limit.bounds().1] {
            let text = limit.display(value);
            assert_eq!(run(&["run", "-e", "return 1", &flag, &text]), seen(0, "1\n", ""), "{limit} {text}");
        }
        let (min, max) = limit.bounds();
        let over = limit.display(max + 1);
        let bounds = format!("{} and {}", limit.display(min), limit.display(max));
        let kind = match limit.unit() {
            Unit::Milliseconds => "TIME",
            Unit::Bytes => "SIZE",
            _ => "COUNT",
        };
        let error = format!(
            "error: invalid value '{over}' for '--{limit} <{kind}>': limit `{limit}` is {over}; it must be between \
             {bounds}{HELP}"
        );
        assert_eq!(run(&["run", "-e", "return 1", &flag, &over]), seen(2, "", &error), "{limit}");
    }
}

#[test]
fn os_05_refused_limits_show_the_accepted_form() {
    let time = "write a time with its unit, such as 60s (ms, s, m or h)";
    let size = "write a size with its unit, such as 256MiB (B, KiB, MiB or GiB)";
    let count = "write a plain number, such as 100000";
    for (flag, value, kind, error) in [
        ("--compute", "60", "TIME", format!("the unit is missing; {time}")),
        ("--compute", "60sec", "TIME", format!("that unit is not known here; {time}")),
        ("--compute", "-5s", "TIME", format!("a limit is never negative; {time}")),
        ("--compute", "0s", "TIME", "limit `compute` is 0ms; it must be between 1ms and 86400s".to_owned()),
        ("--compute", "--json", "TIME", format!("a limit is never negative; {time}")),
        ("--memory", "256", "SIZE", format!("the unit is missing; {size}")),
        ("--memory", "256MB", "SIZE", format!("that unit is not known here; {size}")),
        ("--log-lines", "10k", "COUNT", format!("a count has no unit; {count}")),
        ("--log-lines", "many", "COUNT", format!("that is not a number; {count}")),
    ] {
        let error = format!("error: invalid value '{value}' for '{flag} <{kind}>': {error}{HELP}");
        assert_eq!(run(&["run", "-e", "return 1", flag, value]), seen(2, "", &error), "{flag} {value}");
    }
}

#[test]
fn a_program_is_named_exactly_once() {
    let usage = "Usage: hotcell run [OPTIONS] <PROGRAM | -e CODE>";
    let none = format!("error: the following required arguments were not provided:\n  <PROGRAM>\n\n{usage}{HELP}");
    assert_eq!(run(&["run"]), seen(2, "", &none));
    let both = format!("error: the argument '[PROGRAM]' cannot be used with '--eval <CODE>'\n\n{usage}{HELP}");
    assert_eq!(run(&["run", "a.js", "-e", "return 1"]), seen(2, "", &both));
    let unknown = format!(
        "error: unexpected argument '--fast' found\n\n  tip: to pass '--fast' as a value, use '-- --fast'\n\n{usage}{HELP}"
    );
    assert_eq!(run(&["run", "a.js", "--fast"]), seen(2, "", &unknown));
}

#[test]
fn os_04_the_language_is_named_or_told_by_the_extension() {
    let files: &[(&str, &[u8])] = &[
        ("a.ts", b"return 'ts'"),
        ("a.js", b"return 'js'"),
        ("a.mjs", b"return 'mjs'"),
        ("a.py", b"return 'py'"),
        ("a.rb", b"return 'rb'"),
        ("a", b"return 'none'"),
    ];
    let directory = directory(files);
    let run = |arguments: &[&str]| run_in(directory.path(), arguments);
    for (file, text) in [("a.ts", "ts\n"), ("a.js", "js\n"), ("a.mjs", "mjs\n")] {
        assert_eq!(run(&["run", file]), seen(0, text, ""));
    }
    for language in ["javascript", "typescript"] {
        assert_eq!(run(&["run", "a.rb", "--language", language]), seen(0, "rb\n", ""));
        assert_eq!(run(&["run", "a", "-l", language]), seen(0, "none\n", ""));
    }
    let python = "error: the python guest is not built in yet; typescript and javascript are\n";
    assert_eq!(run(&["run", "a.py"]), seen(2, "", python));
    assert_eq!(run(&["run", "a.js", "--language", "python"]), seen(2, "", python));
    assert_eq!(run(&["run", "a.py", "--language", "javascript"]), seen(0, "py\n", ""));
    for file in ["a.rb", "a"] {
        let error = format!(
            "error: the extension of `{file}` names no language (.ts, .js, .mjs and .py do); say --language typescript, \
             javascript or python\n"
        );
        assert_eq!(run(&["run", file]), seen(2, "", &error));
    }
    let unknown = format!(
        "error: invalid value 'ruby' for '--language <LANGUAGE>'\n  [possible values: typescript, javascript, python]{HELP}"
    );
    assert_eq!(run(&["run", "a.js", "--language", "ruby"]), seen(2, "", &unknown));
}

#[test]
fn a_program_that_cannot_be_read_is_misuse() {
    let directory = directory(&[("latin.js", b"return '\xe9'"), ("large.js", &[b';'; 2048])]);
    let run = |arguments: &[&str]| run_in(directory.path(), arguments);
    let missing = "error: cannot read the program `none.js`: No such file or directory (os error 2)\n";
    assert_eq!(run(&["run", "none.js"]), seen(2, "", missing));
    let folder = "error: cannot read the program `.`: Is a directory (os error 21)\n";
    assert_eq!(run(&["run", ".", "-l", "javascript"]), seen(2, "", folder));
    let latin = "error: the program is not UTF-8: there is no character at byte 8\n";
    assert_eq!(run(&["run", "latin.js"]), seen(2, "", latin));
    assert_eq!(run_with_stdin(&["run", "-"], b"return '\xe9'"), seen(2, "", latin));

    let empty = "error: the program is empty\n";
    assert_eq!(run(&["run", "-e", ""]), seen(2, "", empty));
    assert_eq!(run_with_stdin(&["run", "-"], b" \n\t"), seen(2, "", empty));

    let large = "error: the program text is longer than the limit `program` of 2047B allows; do less in one run, or \
                 raise the limit `program`\n";
    assert_eq!(run(&["run", "large.js", "--program", "2047B"]), seen(2, "", large));
    assert_eq!(run(&["run", "large.js", "--program", "2048B"]), seen(0, "", ""));
    assert_eq!(run(&["run", "-e", &" ".repeat(2048), "--program", "2047B"]), seen(2, "", large));
    assert_eq!(run_with_stdin(&["run", "-", "--program", "2047B"], &[b' '; 1 << 20]), seen(2, "", large));
    let endless = "error: the program text is longer than the limit `program` of 1MiB allows; do less in one run, or \
                   raise the limit `program`\n";
    assert_eq!(run(&["run", "/dev/zero", "-l", "javascript"]), seen(2, "", endless));
}

#[test]
fn a_directory_is_granted_read_only_unless_it_says_rw() {
    let read = "return await tools.fs_read({ path: 'd/a.txt' })";
    let write = "return await tools.fs_write({ path: 'd/b.txt', text: 'b' })";
    let kinds = "return Object.keys(tools)";
    let all = "[\n  \"fs_list\",\n  \"fs_read\",\n  \"fs_search\",\n  \"fs_stat\"";
    for (grant, keys) in [
        ("d=.", format!("{all}\n]\n")),
        ("d=.:ro", format!("{all}\n]\n")),
        ("d=.:rw", format!("{all},\n  \"fs_write\"\n]\n")),
    ] {
        let directory = directory(&[("a.txt", b"a")]);
        let run = |code: &str| run_in(directory.path(), &["run", "-e", code, "--dir", grant]);
        assert_eq!(run(kinds), seen(0, &keys, ""));
        assert_eq!(run(read), seen(0, "a\n", ""));
        assert_eq!(run(write).code, Some(i32::from(grant != "d=.:rw")));
    }
}

#[test]
fn several_directories_and_paths_with_colons() {
    let directory = directory(&[]);
    for name in ["one", "x:y", "z:rw"] {
        std::fs::create_dir(directory.path().join(name)).expect("a directory can be made");
    }
    let code =
        "return (await tools.fs_list({ path: '' })).entries.map((one) => `${one.path} ${one.access}`).join()";
    let grants = ["--dir", "a=one:rw", "--dir", "b=x:y", "--dir", "c=z:rw:ro"];
    let arguments = [&["run", "-e", code][..], &grants].concat();
    assert_eq!(run_in(directory.path(), &arguments), seen(0, "a read-write,b read-only,c read-only\n", ""));
}

#[test]
fn a_directory_that_cannot_be_granted_is_misuse() {
    let directory = directory(&[("file", b"")]);
    let form = "write NAME=PATH for reading or NAME=PATH:rw for writing too, such as data=./data";
    for (grant, error) in [("data", "there is no `=`"), ("=.", "the name is empty"), ("d=", "the path is empty")] {
        let error =
            format!("error: invalid value '{grant}' for '--dir <NAME=PATH[:ro|:rw]>': {error}; {form}{HELP}");
        assert_eq!(run(&["run", "-e", "", "--dir", grant]), seen(2, "", &error));
    }
    let colon = " (a mode is `:ro` or `:rw` at the very end; every other `:` belongs to the path)";
    for (grants, error) in [
        (&["d=none"][..], "`d` cannot be granted: `none` does not exist".to_owned()),
        (&["d=.:wr"], format!("`d` cannot be granted: `.:wr` does not exist{colon}")),
        (&["d=file"], "`d` cannot be granted: `file` is not a directory".to_owned()),
        (&["d=.", "d=.:rw"], "the name `d` is granted twice".to_owned()),
        (
            &["a/b=."],
            "`a/b` cannot name a granted directory: a name here is 1 to 64 of the characters `A-Z`, `a-z`, `0-9`, `.`, \
             `_` and `-`, and neither `.` nor `..`"
                .to_owned(),
        ),
    ] {
        let mut arguments = vec!["run", "-e", ""];
        arguments.extend(grants.iter().flat_map(|grant| ["--dir", grant]));
        assert_eq!(run_in(directory.path(), &arguments), seen(2, "", &format!("error: {error}\n")));
    }
}

#[test]
fn the_same_seed_gives_the_same_randomness() {
    let draw = |seed: &str| run(&["run", "-e", "return [Math.random(), Math.random()]", "--seed", seed]).stdout;
    assert_eq!(draw("7"), draw("7"));
    assert_ne!(draw("7"), draw("8"));
    let error = format!("error: invalid value '-1' for '--seed <N>': invalid digit found in string{HELP}");
    assert_eq!(run(&["run", "-e", "", "--seed=-1"]), seen(2, "", &error));
}

#[test]
fn a_cache_that_cannot_be_used_costs_one_line() {
    let directory = directory(&[("taken", b"")]);
    let output =
        hotcell(&["run", "-e", "return 1"]).env("HOTCELL_CACHE", "taken").current_dir(directory.path()).output();
    let warning = "warning: compiled guests are not kept: cannot create the cache directory `taken`: File exists (os \
                   error 17)\n";
    assert_eq!(super::Seen::from(output.expect("the command starts")), seen(0, "1\n", warning));
}
