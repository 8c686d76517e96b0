//! Programs and how they end, one file of `tests/data/javascript` a topic.
//!
//! A case begins with a line `==== ` and its name; the program follows. The rest is how it must end, all of it: `---- log`
//! with entries that begin with `>` and go on with `|`, `---- calls` with names and states, `---- unhandled` with
//! failures that nothing looked at, and last the result, whose
//! elements stand one a line, or the kind and message of the failure. Cases run with the tools of `rig` as `tools`, and
//! with the same as `plain`, which has no error class. `BLESS=1` writes the endings anew.

use hotcell::runtime::RunRequest;
use tokio_util::sync::CancellationToken;

use super::rig::{self, Seen};
use crate::support::golden;

const DIRECTORY: &str = "tests/data/javascript";
const CASE: &str = "==== ";
const END: &str = "---- ";

/// One case of a file.
struct Case<'a> {
    name: &'a str,
    program: &'a str,
    ends: &'a str,
}

impl<'a> Case<'a> {
    /// The case of a text that begins after [`CASE`].
    fn parse(text: &'a str) -> Self {
        let (name, rest) = text.split_once('\n').expect("a program follows the name");
        let ending =
            if rest.starts_with(END) { 0 } else { rest.find("\n---- ").map_or(rest.len(), |end| end + 1) };
        let (program, ends) = rest.split_at(ending);
        Self { name, program: program.strip_suffix('\n').unwrap_or(program), ends }
    }

    fn written(&self, ends: &str) -> String {
        let program = if self.program.is_empty() { String::new() } else { format!("{}\n", self.program) };
        format!("{CASE}{}\n{program}{ends}", self.name)
    }
}

async fn ends(program: &str) -> Seen {
    let plain = rig::bindings().into_namespace("plain").expect("the name is portable");
    let namespaces = vec![rig::tools(rig::bindings()), plain];
    rig::run(RunRequest::new(program, namespaces, CancellationToken::new())).await.into()
}

/// Runs the cases of one file and reports all that end in another way.
async fn check(topic: &str) {
    let path = format!("{DIRECTORY}/{topic}.txt");
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(&path);
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"));
    let text = text.strip_prefix(CASE).unwrap_or_else(|| panic!("{path} begins with a case"));
    let mut whole = String::new();
    let mut wrong = Vec::new();
    for text in text.split(&format!("\n{CASE}")) {
        let case = Case::parse(text);
        let is = ends(case.program).await.to_string();
        if is.trim_end_matches('\n') != case.ends.trim_end_matches('\n') {
            wrong.push(format!("{CASE}{}\nmust:\n{}\nis:\n{is}", case.name, case.ends));
        }
        whole += &case.written(&is);
    }
    if std::env::var_os("BLESS").is_none() {
        assert!(wrong.is_empty(), "{} cases of {path} end in another way:\n{}", wrong.len(), wrong.join("\n"));
    }
    golden::check(&path, &whole);
}

/// One test for each file, and one that no file is without a test.
macro_rules! topics {
    ($($topic:ident)*) => {
        $(
            #[tokio::test]
            async fn $topic() {
                check(stringify!($topic)).await;
            }
        )*

        #[test]
        fn every_file_of_cases_is_a_test() {
            let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(DIRECTORY);
            let mut names: Vec<String> = std::fs::read_dir(directory)
                .expect("the directory is there")
                .map(|entry| entry.expect("an entry is readable").file_name().into_string().expect("names are UTF-8"))
                .collect();
            names.sort();
            assert_eq!(names, [$(concat!(stringify!($topic), ".txt")),*]);
        }
    };
}

topics! {
    cm_03_bodies
    cm_03_syntax_errors
    cm_05_failed_calls
    language
    promises
    rt_03_uncaught
    rt_07_console
    timers
    wb_06_call_forms
    wb_06_values
    wb_07_hardening
    wb_07_members
    web
}
