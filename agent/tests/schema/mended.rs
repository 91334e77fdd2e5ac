//! Arguments said in another type than their schema wants, for tools of each kind of type and of types put together:
//! what comes of mending is what the schema accepts, and has nothing left to mend.

use crate::agreement::{Random, iterations};
use crate::generated::{Each, Maker, Variant};
use crate::oracle::{Oracle, repeats_a_key};
use crate::types::*;
use agent::json::Json;
use agent::message::{Message, Outcome, ToolCall, ToolResult};
use agent::model::{ScriptedModel, Step};
use agent::{Agent, Coercion, Event, Repaired, ToolSet, tool, tools};
use serde_json::{Value, json};
use std::sync::Arc;

/// A tool that takes one value of each type and answers with it as JSON.
macro_rules! tools_of {
    ($($name:ident: $type:ty,)*) => {
        $(
            /// Takes one.
            #[tool(read_only, inline)]
            fn $name(value: $type) -> String {
                serde_json::to_string(&value).unwrap()
            }
        )*

        fn all() -> ToolSet {
            tools![$($name),*].into_set().unwrap()
        }
    };
}

tools_of! {
    plain: Plain, nested: Nested, numbers: Numbers, texts: Texts, external: External,
    internal: Internal, adjacent: Adjacent, untagged: Untagged, unions: Unions, maps: Maps,
    flat_struct: FlatStruct, flat_map: FlatMap, flat_enum: FlatEnum, tree: Tree, odd: Odd,
    expression: Expression, strict: Strict,
    each_small: Each<u8>, each_signed: Each<i64>, each_large: Each<u64>, each_float: Each<f64>,
    each_flag: Each<bool>, each_text: Each<String>, each_kind: Each<Kind>,
    each_perhaps: Each<Option<i8>>, each_flags: Each<Vec<bool>>, each_pair: Each<(i8, String)>,
    each_two: Each<[u8; 2]>, each_plain: Each<Plain>, each_external: Each<External>,
    each_internal: Each<Internal>, each_adjacent: Each<Adjacent>, each_untagged: Each<Untagged>,
    each_flat: Each<FlatStruct>, each_tree: Each<Tree>, each_expression: Each<Expression>,
    each_each: Each<Each<u8>>, each_each_untagged: Each<Each<Untagged>>,
    each_variant: Each<Variant<Adjacent>>, each_perhaps_each: Each<Option<Each<f64>>>,
}

fn with(coercion: Coercion) -> ToolSet {
    all().with_policy_where(
        |_| true,
        |policy| {
            policy.mending.coercion = Some(coercion);
            policy.mending.repaired = Some(Repaired::Run);
        },
    )
}

/// Says a value in another type, here and there.
fn said_otherwise(value: &mut Value, random: &mut Random) {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| said_otherwise(item, random)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|it| said_otherwise(it, random)),
        _ => {}
    }
    if random.below(5) > 0 {
        return;
    }
    let other = match (&*value, random.below(3)) {
        (Value::Number(number), 0) if !number.is_f64() => {
            serde_json::from_str(&format!("{number}.0")).unwrap()
        }
        (Value::Array(items), 0 | 1) if items.len() == 1 => items[0].clone(),
        (Value::Null, _) => json!(["", "null", " "][random.below(3)]),
        (Value::String(text), 0) => serde_json::from_str(text).unwrap_or(json!(7)),
        (Value::String(_), _) => json!(random.below(2) == 0),
        (scalar @ (Value::Number(_) | Value::Bool(_)), 1) => json!([scalar]),
        (Value::Bool(flag), 2) => json!(u8::from(*flag)),
        (other, _) => json!(other.to_string()),
    };
    *value = other;
}

/// Breaks the text in one of the ways that models do.
fn broken(text: &str, random: &mut Random) -> String {
    let body = text.strip_suffix('}').unwrap();
    match random.below(10) {
        0 => format!("{body},}}"),
        1 => format!("```json\n{text}\n```"),
        2 => text.replacen("\"value\":", "value: ", 1),
        3 => serde_json::to_string(text).unwrap(),
        4 => text.replacen("\"value\":", "\"value\" ", 1),
        // A key twice.
        5 => format!("{body},{}", text.strip_prefix('{').unwrap()),
        6 => match text.rfind("{\"") {
            Some(at) => {
                let member = text[at + 1..].split([',', '}']).next().unwrap();
                format!("{}{{{member},{}", &text[..at], &text[at + 1..])
            }
            None => text.to_owned(),
        },
        _ => text.to_owned(),
    }
}

/// What each text became on its way to the tool, and what it came to; the calls of one batch.
async fn called(name: &str, texts: &[String]) -> Vec<(String, Arc<ToolResult>)> {
    let call = |(at, text): (usize, &String)| ToolCall::new(format!("call_{at}"), name, &**text);
    let calls: Vec<_> = texts.iter().enumerate().map(call).collect();
    let model = ScriptedModel::new([Step::calls(calls), Step::text("done")]);
    let tools = with(Coercion::Usual);
    let agent = Agent::builder(model).tools(tools).build().unwrap();
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
        });
    let results = results.unwrap();
    assert_eq!((became.len(), results.len()), (texts.len(), texts.len()));
    became.into_iter().zip(results).collect()
}

#[tokio::test]
async fn what_mending_makes_of_any_type_is_accepted_by_its_schema_and_has_nothing_left_to_mend() {
    let (off, on) = (with(Coercion::Off), with(Coercion::Usual));
    let (mut mended, mut refused) = (0, 0);
    let count = (iterations() / 800).clamp(20, 400);
    for definition in on.definitions().iter() {
        let oracle = Oracle::of_schema(definition.parameters.clone());
        let schema = definition.parameters.as_value();
        let mut maker = Maker {
            root: schema,
            random: Random(0x5EED_0007),
        };
        let mut texts = Vec::new();
        for _ in 0..count {
            let mut value = maker.value(schema, 0);
            if let Some(value) = value.get_mut("value") {
                said_otherwise(value, &mut maker.random);
            }
            if value.is_object() {
                texts.push(broken(&value.to_string(), &mut maker.random));
            }
        }
        let name = &*definition.name;
        for (text, (became, result)) in texts.iter().zip(called(name, &texts).await) {
            if result.outcome != Outcome::Done {
                refused += 1;
                continue;
            }
            mended += usize::from(!result.mends.is_empty());
            let repeats = Json::parse(&became).is_ok_and(|value| repeats_a_key(&value));
            assert_eq!(
                (oracle.accepts(&became), repeats),
                (Some(true), false),
                "{name}: {text}\nbecame {became}"
            );
            for set in [&off, &on] {
                let again = set.call(name, &became).await;
                assert!(
                    again.mends.is_empty(),
                    "{name}: {became}: {:?}",
                    again.mends
                );
                assert_eq!(
                    (again.outcome, again.text()),
                    (Outcome::Done, result.text()),
                    "{name}: {text}\nbecame {became}"
                );
            }
        }
    }
    println!("{mended} mended, {refused} refused");
    assert!(
        mended > 200 && refused > 200,
        "{mended} mended, {refused} refused: too few"
    );
}

#[tokio::test]
async fn a_key_that_a_schema_names_is_refused_twice_however_the_text_was_mended() {
    let set = with(Coercion::Usual);
    for text in [
        r#"{"value":{"v":1,"v":1}}"#,
        r#"{"value":{"v":1,"v":1,}}"#,
        r#"{"value":{"v":"1","v":2}}"#,
        r#"{"value":{"v":1,"kids":[{"v":1,"v":2}]}}"#,
        r#"{"value":"{\"v\":1,\"v\":2}"}"#,
        r#"{"value":{"v":1},"value":{"v":1}}"#,
        r"{value:{v:1},value:{v:1}}",
    ] {
        let result = set.call("tree", text).await;
        assert_eq!(result.outcome, Outcome::BadArguments, "{text}");
        assert!(result.text().contains("twice"), "{text}: {}", result.text());
    }
}

/// Takes the widest integers.
#[tool(read_only, inline)]
fn wide(signed: i128, unsigned: u128, list: &[i128], perhaps: Option<u128>) -> String {
    format!("{signed} {unsigned} {list:?} {perhaps:?}")
}

#[tokio::test]
async fn integers_beyond_64_bits_are_exact_or_refused_on_every_way() {
    let set = tools![wide].into_set().unwrap();
    let mut random = Random(0x5EED_0128);
    let mut number = |signed: bool| {
        let digits = 1 + random.below(40);
        let first = 1 + random.below(9);
        let rest: String = (1..digits)
            .map(|_| char::from(b'0' + u8::try_from(random.below(10)).unwrap()))
            .collect();
        let sign = if signed && random.below(2) == 0 {
            "-"
        } else {
            ""
        };
        let edge = [
            "170141183460469231731687303715884105727",
            "170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105728",
            "-170141183460469231731687303715884105729",
            "340282366920938463463374607431768211455",
            "340282366920938463463374607431768211456",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775809",
        ];
        match random.below(4) {
            0 => edge[random.below(edge.len())].to_owned(),
            _ => format!("{sign}{first}{rest}"),
        }
    };
    let (mut ran, mut refused) = (0, 0);
    for round in 0..3_000 {
        let (signed, unsigned, item) = (number(true), number(false), number(true));
        let said = |digits: &str, how: usize| match how % 4 {
            0 => digits.to_owned(),
            1 => format!("\"{digits}\""),
            2 => format!("{digits}.0"),
            _ => format!("\"{digits}.00\""),
        };
        let of_signed = said(&signed, round);
        let of_unsigned = said(&unsigned, round / 4);
        let of_item = said(&item, round / 16);
        let comma = if round % 3 == 0 { "," } else { "" };
        let text = format!(
            r#"{{"signed":{of_signed},"unsigned":{of_unsigned},"list":[{of_item}],"perhaps":{of_unsigned}{comma}}}"#
        );
        let result = set.call("wide", &text).await;
        let exact = (
            signed.parse::<i128>(),
            unsigned.parse::<u128>(),
            item.parse::<i128>(),
        );
        if let (Ok(signed), Ok(unsigned), Ok(item)) = exact {
            ran += 1;
            let shown = format!("{signed} {unsigned} {:?} {:?}", [item], Some(unsigned));
            assert_eq!(
                (result.outcome, &*result.text()),
                (Outcome::Done, &*shown),
                "{text}"
            );
        } else {
            refused += 1;
            assert_eq!(
                result.outcome,
                Outcome::BadArguments,
                "{text}: {}",
                result.text()
            );
        }
    }
    assert!(
        ran > 500 && refused > 500,
        "{ran} ran, {refused} were refused"
    );
}
