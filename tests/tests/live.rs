//! One conversation with tools on the server that the environment names, if it names one:
//! `AGENT_MODEL=openai-chat/qwen3 AGENT_BASE_URL=http://localhost:8080/v1 cargo test -p tests --test live`.
//!
//! It holds for the smallest model whose server binds calls to their schema: the call is forced, the text is not judged.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

use agent::message::{Message, Outcome, Transcript};
use agent::model::{self, ModelEvent, Request, RequestOptions, ToolChoice};
use agent::{Agent, ToolContext, tool, tools};
use futures_util::StreamExt;

/// Get the weather forecast for a city.
#[tool(read_only, inline)]
fn get_weather(
    /// The city.
    #[arg(r#enum = ["Paris", "Beijing"])]
    city: &str,
    /// How many days ahead.
    #[arg(range = 1..=10)]
    days: u8,
) -> String {
    format!("rain in {city} for {days} days")
}

#[tokio::test]
async fn a_real_server_calls_a_tool_and_takes_its_result() {
    if std::env::var_os("AGENT_MODEL").is_none() {
        println!("AGENT_MODEL is not set, so no server was asked");
        return;
    }
    let model = model::from_env().unwrap();
    let tools = tools![get_weather].into_set().unwrap();
    let definitions = tools.definitions();
    let mut options = RequestOptions::default();
    options.max_output_tokens = Some(64);
    options.tool_choice = Some(ToolChoice::Required);
    let mut transcript = Transcript::from(vec![Message::user("Weather in Paris for 2 days?")]);

    let request = Request::new(&transcript, &definitions, &options);
    let mut stream = model.stream(request).await.unwrap();
    let mut streamed = String::new();
    let reply = loop {
        match stream.next().await.unwrap().unwrap() {
            ModelEvent::CallArguments { index: 0, text } => streamed.push_str(&text),
            ModelEvent::Finished(reply) => break reply,
            _ => {}
        }
    };
    drop(stream);
    let calls: Vec<_> = reply.calls().cloned().collect();
    let first = calls.first().expect("the server was made to call a tool");
    assert_eq!(streamed, first.arguments, "what was shown is what arrived");
    assert!(reply.usage.input > 0, "no count of tokens: {reply:?}");
    transcript.push(Message::Assistant(reply));

    let mut results = Vec::new();
    for call in &calls {
        results.push(tools.answer(call, &ToolContext::for_test()).await);
    }
    assert_eq!(results[0].outcome, Outcome::Done, "{}", results[0].text());
    transcript.push(Message::Results { results });

    // Forced again: in free text the smallest models write what their own server cannot read.
    let request = Request::new(&transcript, &definitions, &options);
    let reply = model.reply(request).await.unwrap();
    assert!(
        reply.usage.input > 0,
        "the server took the result: {reply:?}"
    );
}

#[tokio::test]
async fn the_loop_runs_the_tool_of_a_real_server_and_answers_each_call_once() {
    if std::env::var_os("AGENT_MODEL").is_none() {
        println!("AGENT_MODEL is not set, so no server was asked");
        return;
    }
    let agent = Agent::builder(model::from_env().unwrap())
        .tools(tools![get_weather])
        .tool_choice(ToolChoice::Required)
        .max_output_tokens(64)
        .max_turns(2)
        .build()
        .unwrap();
    // What the model says then is its own affair, and it may not come to an end.
    let transcript = match agent.run("Weather in Paris for 2 days?").await {
        Ok(answer) => answer.into_transcript(),
        Err(error) => {
            println!("{error}");
            error.into_transcript()
        }
    };
    let messages: Vec<&Message> = transcript.iter().collect();
    let calls: Vec<_> = messages[1].calls().map(|call| &call.id).collect();
    let Message::Results { results } = messages[2] else {
        panic!("no results: {transcript:?}");
    };
    let answered: Vec<_> = results.iter().map(|result| &result.call_id).collect();
    assert_eq!(calls, answered);
    assert_eq!(results[0].outcome, Outcome::Done, "{}", results[0].text());
}
