//! The example of a platform: it runs, and the README shows it as it is.

use std::fs;

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../../examples/embed.rs"]
mod embed;

#[tokio::test]
async fn the_platform_example_gives_what_its_policy_allows() {
    let lines = embed::run().await.expect("it runs");
    let expected = [
        "run_code",
        "the call of `wipe` was denied: not in this deployment\n{\n  \"warmer\": 15\n}",
        "Error: `weather` cannot be called directly; only `run_code` can. Call it from inside a program that you pass to \
         `run_code`, for example: return await tools[\"weather\"]({ … })",
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_readme_shows_the_platform_example_as_it_is() {
    let root = env!("CARGO_MANIFEST_DIR");
    let example = fs::read_to_string(format!("{root}/examples/embed.rs")).expect("it is there");
    assert!(example.lines().count() < 80, "the example has {} lines", example.lines().count());
    let code = example.split_once("\n\n").expect("a header, then code").1;
    let readme = fs::read_to_string(format!("{root}/README.md")).expect("it is there");
    let blocks: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks, [code]);
}
