use super::*;

fn one_of<const N: usize>(names: [&str; N]) -> ToolChoice {
    ToolChoice::OneOf(names.map(str::to_owned).into())
}

#[test]
fn a_choice_of_tools_is_said_in_each_protocols_words() {
    let function = |name: &str| json!({"type": "function", "function": {"name": name}});
    let flat = |name: &str| json!({"type": "function", "name": name});
    let table = [
        (
            ToolChoice::Auto,
            json!("auto"),
            json!({"type": "auto"}),
            json!("auto"),
        ),
        (
            ToolChoice::None,
            json!("none"),
            json!({"type": "none"}),
            json!("none"),
        ),
        (
            ToolChoice::Required,
            json!("required"),
            json!({"type": "any"}),
            json!("required"),
        ),
        (
            one_of(["a"]),
            function("a"),
            json!({"type": "tool", "name": "a"}),
            flat("a"),
        ),
        (
            one_of(["a", "c"]),
            json!({"type": "allowed_tools", "allowed_tools": {
                "mode": "required", "tools": [function("a"), function("c")],
            }}),
            json!({"type": "any"}),
            json!({"type": "allowed_tools", "mode": "required", "tools": [flat("a"), flat("c")]}),
        ),
    ];
    let transcript = Transcript::from(vec![Message::user("hi")]);
    let tools = tools(["a", "b", "c"]);
    for (choice, chat, anthropic, responses) in table {
        let options = RequestOptions {
            tool_choice: Some(choice.clone()),
            parallel_calls: Some(false),
            ..RequestOptions::default()
        };
        let request = Request::new(&transcript, &tools, &options);
        for (protocol, expected) in [
            (Protocol::OpenaiChat, &chat),
            (Protocol::AnthropicMessages, &anthropic),
            (Protocol::OpenaiResponses, &responses),
        ] {
            let wire = wire(protocol);
            let body = wire
                .encode(&request, &Target::new("m", &BodyFields::new()))
                .unwrap();
            oracle(wire, &body.to_vec());
            let mut body: Value = serde_json::from_slice(&body.to_vec()).unwrap();
            if protocol == Protocol::AnthropicMessages {
                let said = body["tool_choice"].as_object_mut().unwrap();
                let one = said.shift_remove("disable_parallel_tool_use");
                assert_eq!(one.is_some(), choice != ToolChoice::None);
            } else {
                assert_eq!(body["parallel_tool_calls"], false);
            }
            assert_eq!(body["tool_choice"], *expected, "{protocol} {choice:?}");
        }
    }
    // Where a subset cannot be said, the list is cut down to it; one can be said, and the list stays as it is cached.
    for (choice, told) in [(one_of(["a", "c"]), 2), (one_of(["a"]), 3)] {
        let options = RequestOptions {
            tool_choice: Some(choice),
            ..RequestOptions::default()
        };
        let request = Request::new(&transcript, &tools, &options);
        for wire in [
            &Chat::COMPATIBLE as &dyn Wire,
            &crate::provider::anthropic::Messages::ANTHROPIC,
        ] {
            let body = wire
                .encode(&request, &Target::new("m", &BodyFields::new()))
                .unwrap();
            let body: Value = serde_json::from_slice(&body.to_vec()).unwrap();
            let tools = body["tools"].as_array().unwrap();
            assert_eq!(tools.len(), told, "{}", wire.protocol());
        }
    }
}

#[test]
fn a_choice_that_cannot_be_met_is_an_error_before_anything_is_sent() {
    let transcript = Transcript::from(vec![Message::user("hi")]);
    let (none, some) = (Definitions::default(), tools(["a", "b"]));
    for (tools, choice, said) in [
        (
            &none,
            ToolChoice::None,
            "needs a tool, and the request offers none",
        ),
        (
            &none,
            one_of(["a"]),
            "needs a tool, and the request offers none",
        ),
        (&some, one_of([]), "names no tool"),
        (&some, one_of(["a", ""]), "an empty name"),
        (
            &some,
            one_of(["A"]),
            "names `A`, which the request does not offer; it offers a, b",
        ),
    ] {
        let options = RequestOptions {
            tool_choice: Some(choice),
            ..RequestOptions::default()
        };
        let request = Request::new(&transcript, tools, &options);
        for wire in protocols() {
            let error = wire
                .encode(&request, &Target::new("m", &BodyFields::new()))
                .unwrap_err();
            assert_eq!(error.kind(), ModelErrorKind::Request);
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
