use crate::tool::ToolContext;
use crate::toolkit::process::Talk;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

/// How many calls a program may make.
const MOST: usize = 50;
/// How long one may be, in bytes.
const MOST_BYTES: u64 = 1024 * 1024;

/// A call, as a program says it on a line.
#[derive(Deserialize)]
struct Call<'a> {
    tool: &'a str,
    #[serde(borrow)]
    arguments: &'a RawValue,
}

/// What it reads on a line.
#[derive(Serialize)]
struct Answer {
    failed: bool,
    text: String,
}

impl Answer {
    fn failed(text: impl Into<String>) -> Self {
        Self {
            failed: true,
            text: text.into(),
        }
    }
}

/// Answers a program's calls, one after the other, for as long as it talks.
pub(super) async fn answer(talk: Talk, tools: &[String], cx: &ToolContext) {
    let Talk { said, mut answer } = talk;
    let mut said = BufReader::new(said);
    let mut line = Vec::new();
    let mut calls = 0;
    loop {
        line.clear();
        let read = (&mut said)
            .take(MOST_BYTES)
            .read_until(b'\n', &mut line)
            .await;
        // The end, or a line that is too long to be one: the program finds that nobody answers.
        if read.is_err() || line.last() != Some(&b'\n') {
            return;
        }
        calls += 1;
        let Ok(text) = serde_json::to_vec(&one(&line, calls, tools, cx).await) else {
            return;
        };
        if answer.write_all(&text).await.is_err() || answer.write_all(b"\n").await.is_err() {
            return;
        }
    }
}

async fn one(line: &[u8], calls: usize, tools: &[String], cx: &ToolContext) -> Answer {
    if calls > MOST {
        return Answer::failed(format!(
            "a program may make {MOST} calls, and these were made"
        ));
    }
    let call: Call<'_> = match serde_json::from_slice(line) {
        Ok(call) => call,
        Err(error) => return Answer::failed(format!("the call cannot be read: {error}")),
    };
    // The program's own side knows what there is; whatever goes around it is held to the same.
    if !tools.iter().any(|tool| tool == call.tool) {
        return Answer::failed(format!("no tool `{}` can be called from code", call.tool));
    }
    let result = cx.invoke(call.tool, call.arguments.get()).await;
    Answer {
        failed: result.is_error(),
        text: result.text(),
    }
}
