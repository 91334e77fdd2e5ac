//! Answers that are values.

use crate::scripted;
use agent::message::{Message, Part, Reply, StopReason};
use agent::model::{FunctionModel, ScriptedModel, Step};
use agent::{Agent, RunErrorKind};
use schemars::JsonSchema;
use serde::Deserialize;
use std::sync::{Arc, Mutex};

/// A trip.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Trip {
    /// City names.
    cities: Vec<String>,
    #[schemars(range(min = 1, max = 30))]
    days: u8,
}

fn trip() -> Trip {
    Trip {
        cities: vec!["Siena".to_owned()],
        days: 3,
    }
}

fn answering(steps: &[&str]) -> (Agent, Arc<ScriptedModel>) {
    let model = scripted(steps.iter().map(|text| Step::text(*text)));
    let agent = Agent::builder::<()>(Arc::clone(&model)).build().unwrap();
    (agent, model)
}

#[tokio::test]
async fn an_answer_is_a_value_of_the_type_that_was_asked_for() {
    for text in [
        r#"{"cities":["Siena"],"days":3}"#,
        "```json\n{\"cities\":[\"Siena\"],\"days\":3}\n```",
        r#"{"cities":["Siena"],"days":"3",}"#,
    ] {
        let (agent, _) = answering(&[text]);
        let answer = agent.run("go").typed::<Trip>().await.unwrap();
        assert_eq!(answer.value, trip(), "{text}");
        assert_eq!(answer.answer.turns(), 1);
    }
}

#[tokio::test]
async fn what_is_no_object_stands_in_one_on_the_wire() {
    let seen = Arc::new(Mutex::new(None));
    let told = Arc::clone(&seen);
    let model = FunctionModel::new(move |request| {
        let format = request.options.response_format.as_ref();
        *told.lock().unwrap() = format.map(|format| format!("{format:?}"));
        Ok(Reply::new(
            [Part::text(r#"{"response":["a","b"]}"#)],
            StopReason::Stop,
        ))
    });
    let agent = Agent::builder::<()>(model).build().unwrap();
    let answer = agent.run("go").typed::<Vec<String>>().await.unwrap();
    assert_eq!(answer.value, ["a", "b"]);
    let format = seen.lock().unwrap().clone().unwrap();
    assert!(format.contains("final_output"), "{format}");
}

#[tokio::test]
async fn the_model_reads_every_problem_and_may_try_again() {
    let (agent, model) = answering(&[
        r#"{"cities":"Siena","days":99}"#,
        r#"{"cities":["Siena"],"days":3}"#,
    ]);
    let answer = agent.run("go").typed::<Trip>().await.unwrap();
    assert_eq!(answer.value, trip());
    let said = model.requests()[1].last().cloned().unwrap();
    let Message::User { content } = said else {
        panic!("{said:?}");
    };
    let text = content[0].as_text().unwrap();
    assert!(text.contains("days") && text.contains("30"), "{text}");
}

#[tokio::test]
async fn after_so_many_tries_the_run_ends_with_the_problems() {
    for (retries, requests) in [(None, 3), (Some(0), 1), (Some(1), 2)] {
        let (agent, model) = answering(&["no", "still no", "never", "not asked"]);
        let run = agent.run("go").typed::<Trip>();
        let run = match retries {
            None => run,
            Some(retries) => run.retries(retries),
        };
        let error = run.await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::WrongShape, "{error}");
        assert_eq!(model.requests().len(), requests);
        assert_eq!(error.turns() as usize, requests);
    }
}

#[tokio::test]
async fn a_typed_run_can_be_watched_and_decoded_afterwards() {
    let (agent, _) = answering(&[r#"{"cities":["Siena"],"days":3}"#]);
    let run = agent.run("go").typed::<Trip>().stream().unwrap();
    let answer = run.finish().await.unwrap();
    assert_eq!(answer.decode::<Trip>().unwrap(), trip());
    assert!(answer.decode::<bool>().is_err());
}

/// Nothing of it is required.
#[derive(Debug, Default, PartialEq, Deserialize, JsonSchema)]
struct Wishes {
    city: Option<String>,
    #[serde(default)]
    days: Option<u8>,
}

#[tokio::test]
async fn what_says_nothing_is_no_answer_even_where_nothing_is_required() {
    for nothing in ["", " \n", "null", "```json\n\n```"] {
        let (agent, model) = answering(&[nothing, r#"{"city":"Siena"}"#]);
        let answer = agent.run("go").typed::<Wishes>().await.unwrap();
        assert_eq!(answer.value.city.as_deref(), Some("Siena"), "{nothing:?}");
        assert_eq!(model.requests().len(), 2);

        let (agent, _) = answering(&[nothing]);
        let run = agent.run("go").typed::<Wishes>().retries(0);
        let error = run.await.unwrap_err();
        assert_eq!(error.kind(), RunErrorKind::WrongShape, "{nothing:?}");
    }
    let (agent, _) = answering(&["{}"]);
    let answer = agent.run("go").typed::<Wishes>().await.unwrap();
    assert_eq!(answer.value, Wishes::default());
}

#[tokio::test]
async fn what_is_wrong_with_an_answer_is_said_of_an_answer_and_not_of_a_call() {
    for text in [
        "",
        "null",
        "[1]",
        "Siena, three days.",
        "Here it is: {}",
        r#"{"cities":["Sie"#,
        r#"{"cities":["Siena"],"days":3} {"cities":["Pisa"],"days":3}"#,
        r#"{"cities":["Siena"],"days":99}"#,
        r#"{"cities":["Siena"],"days":3,"more":NaN}"#,
        r#"{"days":3}"#,
    ] {
        let (agent, model) = answering(&[text, r#"{"cities":["Siena"],"days":3}"#]);
        agent.run("go").typed::<Trip>().await.unwrap();
        let said = model.requests()[1].last().cloned().unwrap();
        let Message::User { content } = said else {
            panic!("{said:?}");
        };
        let told = content[0].as_text().unwrap();
        let (about, _) = told.split_once("; answer again").unwrap();
        assert!(about.starts_with("this answer does not fit what was asked for: "));
        for word in ["argument", "call", "tool"] {
            assert!(!about.contains(word), "{text}: {told}");
        }
    }
}
