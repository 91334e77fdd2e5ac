use super::*;
use crate::schema::Rendering;

#[test]
fn chat_has_one_tool_message_a_call_then_the_images_from_a_user() {
    let chat = wire(Protocol::OpenaiChat);
    let body = body(chat, &transcript(), &weather());
    let data = "data:image/png;base64,iVBORw0KGgo=";
    let made = body["messages"][2]["tool_calls"][1]["id"].as_str().unwrap();
    let function = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "weather", "arguments": arguments}});
    let tool = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [
                {"type": "text", "text": "what is this?"},
                {"type": "image_url", "image_url": {"url": data}},
            ]},
            {"role": "assistant", "content": "I will look.", "reasoning_content": "hm", "tool_calls": [
                function("call_1", r#"{"city":"Köln","days":12345678901234567890}"#),
                function(made, "{}"),
                function("call_3", r#"{"invalid_arguments":"{\"city\":\"Pa"}"#),
                function("call_4", r#"{"city":"x"}"#),
            ]},
            tool("call_1", "sunny"),
            tool(made, "(no output)"),
            tool("call_3", "error: `city` is missing"),
            tool("call_4", "a map"),
            {"role": "user", "content": [
                {"type": "text", "text": "images of weather (call_4):"},
                {"type": "image_url", "image_url": {"url": data}},
            ]},
            {"role": "user", "content": "and tomorrow?"},
        ])
    );
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": {
            "name": "weather",
            "description": "Get the weather.",
            "parameters": strictly(wire(Protocol::OpenaiChat)).as_value(),
            "strict": true,
        }}])
    );
    assert_eq!(body["max_completion_tokens"], 99);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn anthropic_has_all_results_first_in_the_next_turn_and_only_signed_thinking() {
    let messages = wire(Protocol::AnthropicMessages);
    let body = body(messages, &transcript(), &weather());
    let image = json!({"type": "image", "source": {
        "type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo=",
    }});
    let turns = &body["messages"];
    let made = turns[1]["content"][3]["id"].as_str().unwrap();
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    assert!(made.chars().all(letter), "{made}");
    let tool_use = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "weather", "input": input});
    let exact: Value =
        serde_json::from_str(r#"{"city":"Köln","days":12345678901234567890}"#).unwrap();
    assert_eq!(
        *turns,
        json!([
            {"role": "user", "content": [{"type": "text", "text": "what is this?"}, image]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I will look."},
                tool_use("call_1", exact),
                tool_use(made, json!({})),
                tool_use("call_3", json!({"invalid_arguments": r#"{"city":"Pa"#})),
                tool_use("call_4", json!({"city": "x"})),
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "sunny"},
                {"type": "tool_result", "tool_use_id": made, "content": "(no output)"},
                {"type": "tool_result", "tool_use_id": "call_3", "is_error": true, "content": "`city` is missing"},
                {"type": "tool_result", "tool_use_id": "call_4", "content": [
                    {"type": "text", "text": "a map"},
                    image,
                ]},
                {"type": "text", "text": "and tomorrow?"},
            ]},
        ])
    );
    assert_eq!(body["system"], "Be brief.");
    assert_eq!(body["max_tokens"], 99);
    assert_eq!(
        body["tools"][0]["input_schema"]["required"],
        json!(["city"])
    );
}

#[test]
fn responses_has_the_reasoning_before_its_calls_and_an_output_a_call() {
    let responses = wire(Protocol::OpenaiResponses);
    let body = body(responses, &transcript(), &weather());
    let image = json!({
        "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,iVBORw0KGgo=",
    });
    let made = body["input"][4]["call_id"].as_str().unwrap();
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "weather", "arguments": arguments});
    let output = |id: &str, output: Value| json!({"type": "function_call_output", "call_id": id, "output": output});
    assert_eq!(
        body["input"],
        json!([
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "what is this?"},
                image,
            ]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e"},
            {"role": "assistant", "content": "I will look."},
            call("call_1", r#"{"city":"Köln","days":12345678901234567890}"#),
            call(made, "{}"),
            call("call_3", r#"{"invalid_arguments":"{\"city\":\"Pa"}"#),
            call("call_4", r#"{"city":"x"}"#),
            output("call_1", json!("sunny")),
            output(made, json!("(no output)")),
            output("call_3", json!("error: `city` is missing")),
            output("call_4", json!([{"type": "input_text", "text": "a map"}, image])),
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "and tomorrow?"}]},
        ])
    );
    assert_eq!(body["instructions"], "Be brief.");
    assert_eq!(body["store"], false);
    assert_eq!(body["tools"][0]["strict"], true);
}

/// The schema of the weather tool, as the protocol's provider enforces it.
fn strictly(wire: &dyn Wire) -> Rendering {
    let tools = weather();
    let strict = wire.dialects().strict.unwrap();
    strict
        .render(&tools.iter().next().unwrap().parameters)
        .unwrap()
}

#[test]
fn numbers_and_schemas_go_out_byte_for_byte() {
    let (transcript, tools, options) = (transcript(), weather(), RequestOptions::default());
    let request = Request::new(&transcript, &tools, &options);
    for wire in protocols() {
        let body = wire
            .encode(&request, &Target::new("m", &BodyFields::new()))
            .unwrap()
            .to_vec();
        let body = String::from_utf8(body).unwrap();
        let schema = strictly(wire);
        assert!(body.contains(schema.as_json()), "{}", wire.protocol());
        assert!(body.contains("12345678901234567890"), "{}", wire.protocol());
        let again = wire
            .encode(&request, &Target::new("m", &BodyFields::new()))
            .unwrap()
            .to_vec();
        assert_eq!(body.as_bytes(), again, "{}", wire.protocol());
    }
}

#[test]
fn what_a_user_adds_to_the_body_stands_once_and_before_the_messages() {
    let (transcript, tools, options) = (transcript(), weather(), RequestOptions::default());
    let request = Request::new(&transcript, &tools, &options);
    let mut fields = BodyFields::new();
    fields.insert("model".into(), json!("mine"));
    fields.insert("seed".into(), json!(7));
    for wire in protocols() {
        let body = wire
            .encode(&request, &Target::new("m", &fields))
            .unwrap()
            .to_vec();
        let body = String::from_utf8(body).unwrap();
        assert_eq!(body.matches(r#""model":"#).count(), 1, "{body}");
        let read: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&read["model"], &read["seed"]), (&json!("mine"), &json!(7)));
        let last = read.as_object().unwrap().keys().next_back().unwrap();
        assert!(["messages", "input"].contains(&last.as_str()), "{last}");
    }
}

#[test]
fn a_reply_that_says_nothing_in_a_protocol_is_left_out_of_it() {
    for wire in protocols() {
        let foreign = Reply::new(
            [
                Part::text(" "),
                Part::reasoning("hm"),
                Part::from(PartKind::Hosted("web_search".into())),
            ],
            StopReason::Stop,
        );
        let transcript = Transcript::from(vec![
            Message::user("a"),
            Message::assistant(foreign),
            Message::user("b"),
        ]);
        let body = body(wire, &transcript, &Definitions::default());
        assert!(!body.to_string().contains("assistant"), "{body}");
        assert!(
            body.get("tools").is_none(),
            "an empty list of tools is refused"
        );
    }
}

#[test]
fn every_recorded_shape_of_a_reply_goes_back_as_it_came() {
    // What was decoded is encoded again, and stands in the request byte for byte.
    let table: &[(Protocol, &str, &[&str])] = &[
        (
            Protocol::OpenaiChat,
            r#"{"choices":[{"message":{"content":null,"reasoning_content":"","tool_calls":[
                {"id":"a","type":"function","extra_content":{"google":{"thought_signature":"g"}},
                 "function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
            &[
                r#""reasoning_content":"""#,
                r#""extra_content":{"google":{"thought_signature":"g"}}"#,
                r#""content":null"#,
            ],
        ),
        (
            Protocol::OpenaiChat,
            r#"{"choices":[{"message":{"content":[
                {"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"Ja."}],
                "tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
            &[
                r#""content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true},{"type":"text","text":"Ja."}]"#,
            ],
        ),
        (
            Protocol::AnthropicMessages,
            r#"{"content":[{"type":"thinking","thinking":"","signature":"s=="},
                {"type":"redacted_thinking","data":"d"},
                {"type":"server_tool_use","id":"srv","name":"web_search","input":{"n":1.0}},
                {"type":"tool_use","id":"a","name":"f","input":{"x": 1e2},"caller":{"type":"direct"}}],
                "stop_reason":"tool_use"}"#,
            &[
                r#"{"type":"thinking","thinking":"","signature":"s=="}"#,
                r#"{"type":"redacted_thinking","data":"d"}"#,
                r#"{"type":"server_tool_use","id":"srv","name":"web_search","input":{"n":1.0}}"#,
                r#"{"type":"tool_use","id":"a","name":"f","input":{"x": 1e2},"caller":{"type":"direct"}}"#,
            ],
        ),
        (
            Protocol::OpenaiResponses,
            r#"{"status":"completed","output":[
                {"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"},
                {"type":"message","id":"msg","role":"assistant","phase":"commentary","content":[
                    {"type":"output_text","text":"hm","annotations":[]},{"type":"refusal","refusal":"no"}]},
                {"type":"custom_tool_call","id":"ctc","call_id":"c","name":"sql","input":"SELECT 1"},
                {"type":"function_call","call_id":"b","name":"f","arguments":"{}"},
                {"type":"function_call","id":"fc","status":"completed","call_id":"a","name":"f","arguments":"{}"}]}"#,
            &[
                r#"{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"e"}"#,
                r#""phase":"commentary""#,
                r#"{"call_id":"c","name":"sql","input":"SELECT 1","type":"custom_tool_call","id":"ctc"}"#,
                r#"{"type":"function_call","call_id":"b","name":"f","arguments":"{}"}"#,
                r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}","id":"fc","status":"completed"}"#,
                r#"{"type":"custom_tool_call_output","call_id":"c","output":"done"}"#,
            ],
        ),
    ];
    for (protocol, answer, pieces) in table {
        let wire = wire(*protocol);
        let reply = wire.decode_json(answer.as_bytes()).unwrap();
        let results: Vec<_> = reply
            .calls()
            .map(|call| result(&call.id, Outcome::Done, vec!["done".into()]))
            .collect();
        let transcript = Transcript::from(vec![
            Message::user("hi"),
            Message::assistant(reply),
            Message::results(results),
        ]);
        let (tools, options) = (Definitions::default(), RequestOptions::default());
        let request = Request::new(&transcript, &tools, &options);
        let body = wire
            .encode(&request, &Target::new("m", &BodyFields::new()))
            .unwrap()
            .to_vec();
        let body = String::from_utf8(body).unwrap();
        for piece in *pieces {
            assert_eq!(body.matches(piece).count(), 1, "{piece} in {body}");
        }
        for other in protocols().filter(|other| other.protocol() != *protocol) {
            let body = other
                .encode(&request, &Target::new("m", &BodyFields::new()))
                .unwrap()
                .to_vec();
            let body = String::from_utf8(body).unwrap();
            for foreign in [
                "signature",
                "encrypted",
                "thinking",
                "caller",
                "phase",
                "web_search",
            ] {
                assert!(!body.contains(foreign), "{foreign} in {body}");
            }
        }
    }
}

#[test]
fn what_one_server_wrote_for_itself_is_not_sent_to_another_of_its_protocol() {
    let mut reply = Reply::clone(transcript()[1].as_reply().unwrap());
    reply.origin = Some("https://one.example".to_owned());
    let transcript = Transcript::from(vec![Message::user("hi"), Message::assistant(reply)]);
    let (tools, options, fields) = (weather(), RequestOptions::default(), BodyFields::new());
    let request = Request::new(&transcript, &tools, &options);
    for wire in protocols() {
        for (origin, sent) in [
            (None, true),
            (Some("https://one.example"), true),
            (Some("https://other.example"), false),
        ] {
            let mut target = Target::new("m", &fields);
            target.origin = origin;
            let body = String::from_utf8(wire.encode(&request, &target).unwrap().to_vec()).unwrap();
            let found = ["reasoning_content", "signature", "encrypted_content"]
                .iter()
                .any(|secret| body.contains(secret));
            assert_eq!(found, sent, "{} {origin:?}: {body}", wire.protocol());
            assert!(
                body.contains("I will look.") && body.contains("call_4"),
                "{body}"
            );
        }
    }
}

#[test]
fn reasoning_goes_back_where_the_provider_can_read_it_or_has_kept_it() {
    let wire = wire(Protocol::OpenaiResponses);
    let item = |more: &str| format!(r#"{{"type":"reasoning","id":"rs","summary":[]{more}}}"#);
    let own = crate::provider::openai_responses::Options {
        store: Some(true),
        ..Default::default()
    };
    let kept = RequestOptions::default().for_protocol(own);
    for (item, goes) in [
        (item(""), false),
        (item(r#","encrypted_content":null"#), false),
        (item(r#","encrypted_content":"e""#), true),
        (
            item(r#","content":[{"type":"reasoning_text","text":"hm"}]"#),
            true,
        ),
    ] {
        let thought = Part::reasoning("").with_echo(echo(Protocol::OpenaiResponses, &item));
        let reply = Reply::new([thought, call("a", "{}")], StopReason::ToolUse);
        let results = vec![result("a", Outcome::Done, vec!["sunny".into()])];
        let transcript = Transcript::from(vec![
            Message::user("hi"),
            Message::assistant(reply),
            Message::results(results),
        ]);
        // One after the other, over what the first request has left behind.
        for (options, goes) in [(&RequestOptions::default(), goes), (&kept, true)] {
            let tools = weather();
            let request = Request::new(&transcript, &tools, options);
            let body = wire
                .encode(&request, &Target::new("m", &BodyFields::new()))
                .unwrap()
                .to_vec();
            let body = String::from_utf8(body).unwrap();
            assert_eq!(
                body.contains(r#""type":"reasoning""#),
                goes,
                "{item}: {body}"
            );
            assert!(body.contains("function_call_output"), "{body}");
        }
    }
}

#[test]
fn pieces_of_thinking_go_back_as_the_part_that_they_were() {
    let piece = |content: Value| {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"delta": {"content": content}}]})
        )
    };
    let thinking = |text: &str, closed: bool| {
        let mut part = json!({"type": "thinking", "thinking": [{"type": "text", "text": text}]});
        if closed {
            part["closed"] = true.into();
        }
        json!([part])
    };
    let stream = [
        piece(thinking("h", false)),
        piece(thinking("m", true)),
        piece(json!("Ja")),
        piece(json!([{"type": "text", "text": "."}])),
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n".to_owned(),
    ]
    .concat();
    let mut decoder = Chat::COMPATIBLE.decoder();
    decoder.push(stream.as_bytes(), &mut Vec::new()).unwrap();
    let reply = decoder.finish().unwrap();
    let transcript = Transcript::from(vec![Message::user("?"), Message::assistant(reply)]);
    let body = body(&Chat::COMPATIBLE, &transcript, &Definitions::default());
    assert_eq!(
        body["messages"][2]["content"],
        json!([
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": true},
            {"type": "text", "text": "Ja."},
        ])
    );
}

#[test]
fn a_model_that_does_not_see_reads_one_line_for_a_run_of_images() {
    let line = |count: &str| format!("({count}, which this model cannot see)");
    let transcript = Transcript::from(vec![
        Message::User {
            content: vec![png().into(), png().into(), "and".into(), png().into()],
        },
        Message::assistant(Reply::new([call("call_1", "{}")], StopReason::ToolUse)),
        Message::results([result(
            "call_1",
            Outcome::Failed,
            vec!["maps:".into(), png().into(), png().into()],
        )]),
    ]);
    let (tools, options, fields) = (weather(), RequestOptions::default(), BodyFields::new());
    let request = Request::new(&transcript, &tools, &options);
    let mut blind = Target::new("m", &fields);
    blind.images = false;
    let seeing = Target::new("m", &fields);
    let no_images = Chat {
        takes_images: false,
        ..Chat::COMPATIBLE
    };
    let mut all: Vec<(&dyn Wire, &Target<'_>)> = protocols().map(|wire| (wire, &blind)).collect();
    all.push((&no_images, &seeing));
    for (wire, target) in all {
        let body = wire.encode(&request, target).unwrap().to_vec();
        oracle(wire, &body);
        let body = String::from_utf8(body).unwrap();
        for (said, times) in [(line("2 images"), 2), (line("an image"), 1)] {
            assert_eq!(body.matches(&said).count(), times, "{body}");
        }
        assert!(
            !body.contains("base64") && !body.contains("iVBOR"),
            "{body}"
        );
        let places: Vec<usize> = [
            line("2 images"),
            "and".into(),
            line("an image"),
            "maps:".into(),
        ]
        .iter()
        .map(|said| body.find(said).unwrap())
        .collect();
        assert!(places.is_sorted(), "{body}");
    }
}
