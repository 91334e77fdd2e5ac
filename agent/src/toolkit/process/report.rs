//! What the model reads of a program that ran.

use super::kept::WHOLE;
use super::run::Ran;
use super::{End, Kept, Running, run};
use crate::tool::{Artifact, ToolContext, ToolError};
use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

/// How much of the beginning of an output the model reads, in bytes.
const HEAD: usize = 8 * 1024;
/// And of its end, where errors are.
const TAIL: usize = 24 * 1024;

/// An output of which nothing has come yet.
pub(crate) fn output() -> Kept {
    Kept::new(HEAD, TAIL)
}

/// Runs a started program to its end, or for as long as it may, and says what it wrote and how it ended.
///
/// # Errors
///
/// When it had to be ended; the text says the same things.
pub(crate) async fn report(
    running: Running,
    limit: Duration,
    cx: &ToolContext,
) -> Result<String, ToolError> {
    let mut output = output();
    let take = |bytes: &[u8]| output.push(bytes);
    let ran = run(running, Some(limit), cx.cancellation(), take)
        .await
        .map_err(|error| ToolError::new(format!("the program was lost: {error}")))?;
    let mut text = shown(&output, cx).await;
    let no_output = if output.is_empty() { "; no output" } else { "" };
    // Writing to a `String` cannot fail.
    let _ = write!(text, "[{}{no_output}]", how_it_ended(&ran, limit));
    match ran.end {
        End::Exited(_) => Ok(text),
        End::TimedOut | End::Cancelled => Err(ToolError::new(text)),
    }
}

/// An output as the model reads it, the last line ended. What is left out goes to the agent's artifacts, if it has any.
pub(crate) async fn shown(output: &Kept, cx: &ToolContext) -> String {
    let mut text = output.text(&elsewhere(output, cx).await);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Where the model finds what it is not shown.
async fn elsewhere(output: &Kept, cx: &ToolContext) -> String {
    let Some(store) = cx.artifacts().filter(|_| output.is_cut()) else {
        return String::new();
    };
    let (text, missing) = output.whole();
    let artifact = Artifact::new(cx.tool(), cx.call_id(), text);
    match (store.put(artifact).await, missing) {
        (Ok(id), 0) => format!("; all of it is artifact `{id}`, see `read_artifact`"),
        (Ok(id), _) => {
            format!("; the first {WHOLE} bytes are artifact `{id}`, see `read_artifact`")
        }
        (Err(_), _) => "; it could not be kept".to_owned(),
    }
}

fn how_it_ended(ran: &Ran, limit: Duration) -> String {
    let status = match ran.end {
        End::TimedOut => return format!("timed out after {} s and was ended", limit.as_secs()),
        End::Cancelled => return "cancelled and ended".to_owned(),
        End::Exited(status) => status_of(status),
    };
    match ran.left_behind {
        0 => status,
        1 => format!("{status}; a process that it left in the background was ended"),
        number => format!("{status}; {number} processes that it left in the background were ended"),
    }
}

/// The exit code, or the signal.
pub(crate) fn status_of(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}
