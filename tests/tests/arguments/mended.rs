//! A text that was mended is one that the schema accepts, and has nothing left to mend.

use crate::agree::{Maker, set};
use agent::message::{Message, Outcome, ToolCall, ToolResult};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Coercion, Event};
use serde_json::{Value, json};
use std::sync::Arc;
use tests::cuts::Numbers;

/// Says one value in another type, of a kind that is put right.
fn said_otherwise(name: &str, value: &Value) -> Option<Value> {
    Some(match (name, value) {
        // A number or a boolean in a string, and one where only text is wanted.
        ("signed" | "unsigned" | "float" | "wide", Value::Number(number)) => {
            number.to_string().into()
        }
        ("flag", Value::Bool(flag)) => flag.to_string().into(),
        ("text", _) => json!(12),
        // The text of what is wanted, or the one item of a list.
        ("list", Value::Array(items)) => items
            .first()
            .filter(|item| item.as_str().is_some_and(|text| !text.starts_with('[')))
            .cloned()
            .unwrap_or_else(|| value.to_string().into()),
        ("map" | "shape", Value::Object(_)) => value.to_string().into(),
        // Blank for what may be left out.
        ("wide", Value::Null) => "".into(),
        _ => return None,
    })
}

/// Breaks arguments in some of their values, and the text in one of the ways that models do.
fn broken(maker: &mut Maker) -> String {
    let mut arguments = maker.arguments();
    for (name, value) in arguments.as_object_mut().into_iter().flatten() {
        if maker.0.below(3) == 0
            && let Some(other) = said_otherwise(name, value)
        {
            *value = other;
        }
    }
    let text = arguments.to_string();
    let body = text.strip_suffix('}').unwrap();
    match maker.0.below(8) {
        0 => format!("{body},}}"),
        1 => format!("```json\n{text}\n```"),
        2 => format!("{body}/* end */}}"),
        3 => serde_json::to_string(&text).unwrap(),
        4 => text.replacen("\"signed\":", "signed:", 1),
        5 => format!("Here it is: {text}"),
        _ => text,
    }
}

/// What each text became on its way to the tool, and what it came to: the calls of one batch.
async fn called(texts: &[String]) -> Vec<(String, Arc<ToolResult>)> {
    let name = |(at, text)| ToolCall::new(format!("call_{at}"), "everything", String::as_str(text));
    let calls: Vec<_> = texts.iter().enumerate().map(name).collect();
    let model = ScriptedModel::new([Step::calls(calls), Step::text("done")]);
    let agent = Agent::builder(model)
        .tools(set(Coercion::Usual))
        .build()
        .unwrap();
    let mut run = agent.run("go").stream();
    let mut became = Vec::new();
    while let Some(event) = run.next().await {
        if let Event::CallStarted(call) = event {
            became.push(call.arguments().to_owned());
        }
    }
    let answer = run.finish().await.unwrap();
    let results = answer
        .transcript()
        .iter()
        .find_map(|message| match message {
            Message::Results { results } => Some(results.clone()),
            _ => None,
        })
        .unwrap();
    assert_eq!((became.len(), results.len()), (texts.len(), texts.len()));
    became.into_iter().zip(results).collect()
}

/// Leaves out what is null, which says the same wherever something may be left out; what must be there is then missed.
fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        object.retain(|_, value| !value.is_null());
        if let Some(Value::Object(shape)) = object.get_mut("shape") {
            shape.retain(|_, value| !value.is_null());
        }
    }
    value
}

#[tokio::test]
async fn what_was_mended_is_accepted_by_the_schema_and_has_nothing_left_to_mend() {
    let mut maker = Maker(Numbers::new(29));
    let (off, on) = (set(Coercion::Off), set(Coercion::Usual));
    let schema = on
        .get("everything")
        .unwrap()
        .definition()
        .parameters
        .clone();
    let judge = jsonschema::validator_for(schema.as_value()).unwrap();
    let (mut coerced, mut repaired) = (0, 0);
    for _ in 0..40 {
        let texts: Vec<_> = (0..50).map(|_| broken(&mut maker)).collect();
        for (text, (became, result)) in texts.iter().zip(called(&texts).await) {
            if result.outcome != Outcome::Done {
                continue;
            }
            let value: Value = serde_json::from_str(&became).unwrap();
            assert!(
                judge.is_valid(&without_nulls(value)),
                "{text}\nbecame {became}, which the schema refuses"
            );
            // Neither way has anything to do, and both come to what the first did.
            for set in [&off, &on] {
                let again = set.call("everything", &became).await;
                assert!(again.mends.is_empty(), "{became}: {:?}", again.mends);
                assert_eq!(again.outcome, Outcome::Done, "{became}");
                assert_eq!(again.text(), result.text(), "{text}\nbecame {became}");
            }
            if !result.mends.is_empty() {
                let was_json = serde_json::from_str::<Value>(text).is_ok_and(|it| it.is_object());
                coerced += usize::from(was_json);
                repaired += usize::from(!was_json);
            }
        }
    }
    println!("{coerced} coerced, {repaired} repaired");
    assert!(
        coerced > 100 && repaired > 100,
        "{coerced} coerced, {repaired} repaired: too few to mean anything"
    );
}
