//! The wrapper that traces calls.
//!
//! Invariant: a span carries names and outcomes, clipped, never arguments or values, which may be secret and may be large.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use tracing::{Level, Span};

use super::{Attempt, BoxError, CallInfo, NextAttempt};
use crate::json::clip;

/// The longest text of a field, in bytes. Names and ids may come from a model.
const FIELD_BYTES_MAX: usize = 80;

/// Puts every attempt of a call into a `tracing` span, for [`Scope::around`](crate::registry::Scope::around):
/// `registry.around(hotcell::execution::spans)`.
///
/// The span is called `tool_call`, at level `INFO`, with the fields `id`, `name`, `scope`, `nested` and, at the end, `code`:
/// `OK` or the error's code. Long texts lose their middle.
pub fn spans(
    call: Arc<CallInfo>,
    mut next: NextAttempt,
) -> Pin<Box<dyn Future<Output = Result<Attempt, BoxError>> + Send>> {
    let span = tracing::span!(
        Level::INFO,
        "tool_call",
        id = %clip(call.id(), FIELD_BYTES_MAX),
        name = %clip(call.name(), FIELD_BYTES_MAX),
        scope = %clip(call.scope().name(), FIELD_BYTES_MAX),
        nested = call.is_nested(),
        code = tracing::field::Empty,
    );
    Box::pin(async move {
        let attempt = InSpan { span: span.clone(), future: Box::pin(async move { next.run().await }) }.await;
        span.record("code", attempt.error().map_or("OK", |error| error.code().as_str()));
        Ok(attempt)
    })
}

/// A future polled inside a span.
struct InSpan<F> {
    span: Span,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for InSpan<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<F::Output> {
        let span = self.span.clone();
        let _entered = span.enter();
        self.future.as_mut().poll(context)
    }
}
