//! The examples, run as their first lines say, against the outputs in `examples/expected`.

use std::path::Path;

use crate::cli::{Seen, hotcell};
use crate::support::golden;

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../examples/program.rs"]
mod program;

/// Every example program and its grant.
const PROGRAMS: [(&str, &str); 3] =
    [("fan-out-retry", "data=examples/data"), ("join-report", "data=examples/data"), ("search-tree", "tree=wit")];

fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn programs_give_the_expected_output() {
    for (name, grant) in PROGRAMS {
        let program = format!("examples/{name}.js");
        let mut command = hotcell(&["run", &program, "--dir", grant]);
        let seen = Seen::from(command.current_dir(repository()).output().expect("the command starts"));
        assert_eq!(seen.code, Some(0), "{name}: {}", seen.stderr);
        golden::check(&format!("examples/expected/{name}.txt"), &seen.stdout);
        golden::check(&format!("examples/expected/{name}.log.txt"), &seen.stderr);
    }
}

#[test]
fn every_program_is_run_and_says_how() {
    let mut names: Vec<String> = std::fs::read_dir(repository().join("examples"))
        .expect("the examples are there")
        .map(|entry| entry.expect("an entry is readable").file_name().into_string().expect("names are UTF-8"))
        .filter_map(|name| name.strip_suffix(".js").map(str::to_owned))
        .collect();
    names.sort();
    assert_eq!(names, PROGRAMS.map(|(name, _)| name));
    for (name, grant) in PROGRAMS {
        let text =
            std::fs::read_to_string(repository().join(format!("examples/{name}.js"))).expect("it is readable");
        let line = format!("//     hotcell run examples/{name}.js --dir {grant}");
        assert_eq!(text.lines().filter(|one| *one == line).count(), 1, "{name}");
    }
}

#[tokio::test]
async fn the_example_that_runs_a_program_runs() {
    let value = program::run().await.expect("the program completes");
    assert_eq!(value, Some("warmest: Hanoi".into()));
}
