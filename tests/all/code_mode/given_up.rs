//! Calls that a program gives up: it sees that at once, whatever their bodies do (CM-07).
//!
//! Of the guests there are, none offers it to programs yet; a script does.

use hotcell::json::Value;
use hotcell::runtime::Script;

use super::doors::settle;
use super::order::Floor;
use super::plan::closure;
use super::rig::{calls, returned};
use crate::tools::value;

fn waits(label: &str) -> Value {
    value(&format!(r#"{{"as": "{label}", "wait": true}}"#))
}

fn passes(label: &str) -> Value {
    value(&format!(r#"{{"as": "{label}"}}"#))
}

/// Gives a call up, and logs what the program sees of it.
async fn give_up(script: &Script, call: u64) -> Result<(), String> {
    settle().await;
    script.cancel(call);
    let error = script.wait(call).await.expect_err("it was given up");
    script.log(&format!("{call} {error}"))
}

#[tokio::test]
async fn cm_07_a_queued_call_that_is_given_up_never_starts() {
    let subject = closure(|script| async move {
        let first = script.submit("safe", &waits("a"))?;
        let queued = script.submit("safe", &passes("b"))?;
        give_up(&script, queued).await?;
        script.wait(first).await.map_err(|error| error.to_string())?;
        script.call("safe", &passes("c")).await.map_err(|error| error.to_string())?;
        Ok(None)
    });
    let floor = Floor::new(&subject, Some(1));
    let run = floor.run(&subject, "none");
    assert_eq!(floor.log.step("log 2 cancelled").await, ["a before", "a begins", "log 2 cancelled"]);
    floor.doors.open("a");
    let rest = ["a ends", "a after", "a done", "c before", "c begins", "c ends", "c after", "c done"];
    assert_eq!(floor.log.step("c done").await, rest);
    let result = run.await.expect("no panic");
    assert_eq!(calls(&result), ["safe done", "safe not-started", "safe done"]);
}

#[tokio::test]
async fn cm_07_a_running_call_that_is_given_up_is_seen_at_once_and_still_holds_exclusive_ones() {
    let subject = closure(|script| async move {
        let first = script.submit("safe", &waits("a"))?;
        give_up(&script, first).await?;
        script.call("lone", &passes("x")).await.map_err(|error| error.to_string())?;
        Ok(Some(Value::from("over")))
    });
    let floor = Floor::new(&subject, None);
    let run = floor.run(&subject, "none");
    // The body does not look at its signal: it still runs.
    assert_eq!(floor.log.step("log 1 cancelled").await, ["a before", "a begins", "log 1 cancelled"]);
    floor.doors.open("a");
    let rest = ["a ends", "a after", "a done", "x before", "x begins", "x ends", "x after", "x done"];
    assert_eq!(floor.log.step("x done").await, rest);
    let result = run.await.expect("no panic");
    assert_eq!(returned(&result), Value::from("over"));
    assert_eq!(calls(&result), ["safe cancelled", "lone done"]);
}

#[tokio::test]
async fn cm_07_an_exclusive_call_that_is_given_up_holds_nobody() {
    let subject = closure(|script| async move {
        let first = script.submit("safe", &waits("a"))?;
        let queued = script.submit("lone", &passes("x"))?;
        give_up(&script, queued).await?;
        script.call("safe", &passes("b")).await.map_err(|error| error.to_string())?;
        script.log("b is here")?;
        script.wait(first).await.map_err(|error| error.to_string())?;
        Ok(None)
    });
    let floor = Floor::new(&subject, None);
    let run = floor.run(&subject, "none");
    let step = floor.log.step("log b is here").await;
    let expected = [
        "a before", "a begins", "log 2 cancelled", "b before", "b begins", "b ends", "b after", "b done",
        "log b is here",
    ];
    assert_eq!(step, expected);
    floor.doors.open("a");
    let result = run.await.expect("no panic");
    assert_eq!(calls(&result), ["safe done", "lone not-started", "safe done"]);
}

#[tokio::test]
async fn cm_07_a_call_that_is_given_up_while_a_person_is_asked_withdraws_the_question() {
    let subject = closure(|script| async move {
        let asked = script.submit("asked", &passes("q"))?;
        let queued = script.submit("lone", &passes("x"))?;
        give_up(&script, asked).await?;
        script.wait(queued).await.map_err(|error| error.to_string())?;
        Ok(None)
    });
    let floor = Floor::new(&subject, None);
    let run = floor.run(&subject, "none");
    let step = floor.log.step("x done").await;
    let expected = [
        "q before", "q asked", "log 1 cancelled", "q after", "q done", "x before", "x begins", "x ends",
        "x after", "x done",
    ];
    assert_eq!(step, expected);
    let result = run.await.expect("no panic");
    assert_eq!(calls(&result), ["asked cancelled", "lone done"]);
}

#[tokio::test]
async fn cm_07_a_call_that_has_its_result_cannot_be_given_up() {
    let subject = closure(|script| async move {
        let first = script.submit("safe", &passes("a"))?;
        settle().await;
        script.cancel(first);
        let value = script.wait(first).await.map_err(|error| error.to_string())?;
        script.cancel(first);
        script.cancel(99);
        Ok(Some(value))
    });
    let floor = Floor::new(&subject, None);
    let result = floor.run(&subject, "none").await.expect("no panic");
    assert_eq!(returned(&result), Value::Null);
    assert_eq!(calls(&result), ["safe done"]);
}
