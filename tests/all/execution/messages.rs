//! How much a failure tells a model: everything up to a bound, whoever wrote it.

use std::sync::Arc;

use hotcell::execution::{Attempt, Decision, ErrorCode, MESSAGE_BYTES_MAX, PostDecision, ToolResult, Verdict};
use hotcell::registry::Registry;
use hotcell::tool::{BodyError, Tool};

use super::log::request;
use crate::tools::{echo, failure};

/// Whose message it is.
#[derive(Clone, Copy, Debug)]
enum Source {
    Body,
    Listener,
    ListenerError,
    Guard,
    Wrapper,
    WrapperError,
    Feedback,
    PostError,
}

/// The result of a call that `source` lets fail with `message`.
async fn fails(source: Source, message: &str) -> Arc<ToolResult> {
    let registry = Registry::new();
    let said = message.to_owned();
    let mut tool: Tool = echo("tool").build().expect("valid");
    match source {
        Source::Body => {
            let body = move |_, _| {
                let said = said.clone();
                async { Err(BodyError::new(said)) }
            };
            tool = echo("tool").body(body).build().expect("valid");
        }
        Source::Listener | Source::ListenerError => {
            registry.on_pre_execute(move |_, _| {
                let said = said.clone();
                async move {
                    if matches!(source, Source::Listener) { Ok(Decision::deny(said)) } else { Err(said.into()) }
                }
            });
        }
        Source::Guard => {
            registry.guard(move |_| Verdict::deny(said.clone()));
        }
        Source::Wrapper | Source::WrapperError => {
            registry.around(move |_, _| {
                let said = said.clone();
                async move {
                    let failure = |said| Attempt::failure(ErrorCode::ToolFailed, said);
                    if matches!(source, Source::Wrapper) { Ok(failure(said)) } else { Err(said.into()) }
                }
            });
        }
        Source::Feedback | Source::PostError => {
            registry.on_post_execute(move |_, _, _| {
                let said = said.clone();
                async move {
                    if matches!(source, Source::Feedback) {
                        Ok(PostDecision::block(said))
                    } else {
                        Err(said.into())
                    }
                }
            });
        }
    }
    registry.register(tool).expect("valid").keep();
    registry.call(request("tool", "{}")).await
}

#[tokio::test]
async fn pl_16_every_message_is_bounded_and_says_where_it_is_cut() {
    let denied = "the call of `tool` was denied: ";
    let cases = [
        (Source::Body, ErrorCode::ToolFailed, ""),
        (Source::Listener, ErrorCode::Denied, denied),
        (Source::ListenerError, ErrorCode::PolicyFailed, "a pre-execute listener failed: "),
        (Source::Guard, ErrorCode::Denied, denied),
        (Source::Wrapper, ErrorCode::ToolFailed, ""),
        (Source::WrapperError, ErrorCode::PolicyFailed, "an around wrapper failed: "),
        (Source::Feedback, ErrorCode::Blocked, ""),
        (Source::PostError, ErrorCode::PolicyFailed, "a post-execute listener failed: "),
    ];
    for (source, code, prefix) in cases {
        for bytes in [MESSAGE_BYTES_MAX - 1, MESSAGE_BYTES_MAX, MESSAGE_BYTES_MAX + 1, 10 << 20] {
            let result = fails(source, &"x".repeat(bytes - prefix.len())).await;
            let mut expected = format!("{prefix}{}", "x".repeat(bytes - prefix.len()));
            if bytes > MESSAGE_BYTES_MAX {
                let note = format!("… [cut: the message had {bytes} bytes]");
                expected.truncate(MESSAGE_BYTES_MAX - note.len());
                expected.push_str(&note);
            }
            assert!(failure(&result) == (code, &*expected), "{source:?} {bytes}");
            assert!(result.content()[0].as_text() == Some(&*format!("Error: {expected}")), "{source:?} {bytes}");
        }
    }
}
