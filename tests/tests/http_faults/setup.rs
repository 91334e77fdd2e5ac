//! What is said of a model that is set up, before anything goes wrong.

use crate::*;

#[tokio::test]
async fn what_is_set_up_wrongly_is_said_before_anything_is_sent() {
    // Whoever has the variable set would send a request.
    let keyless = match std::env::var_os("MOONSHOT_API_KEY") {
        Some(_) => None,
        None => Some((
            OpenAiChat::moonshot("m"),
            "no key is given; set MOONSHOT_API_KEY, or give one with `.api_key(..)`",
        )),
    };
    for (model, said) in keyless.into_iter().chain([
        (
            OpenAiChat::new("m").base_url("localhost:8080"),
            "the base URL begins with `localhost:`",
        ),
        (
            OpenAiChat::new("m").base_url("nowhere"),
            "the base URL is no address",
        ),
        (
            OpenAiChat::new("m").api_key("sk-\u{e9}\n1"),
            "the key holds a letter that cannot stand",
        ),
        (
            OpenAiChat::new("m").header("bad name", "x"),
            "`bad name` is no name of a header",
        ),
    ]) {
        let error = ask(&model).await.1.unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::Config);
        assert!(error.to_string().contains(said), "{error}");
        assert!(!error.to_string().contains("sk-"), "{error}");
    }
}

#[tokio::test]
async fn each_protocol_asks_at_its_own_address_with_its_own_headers() {
    let json = "content-type: application/json\r\n";
    let chat = r#"{"choices":[{"message":{"content":"Hello"},"finish_reason":"stop"}]}"#;
    let messages = r#"{"content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn"}"#;
    let responses = r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hello"}]}]}"#;
    let chat = server(vec![answer("200 OK", json, chat)]).await;
    let messages = server(vec![answer("200 OK", json, messages)]).await;
    let responses = server(vec![answer("200 OK", json, responses)]).await;
    let models: [(&Server, Box<dyn Model>, &[&str]); 3] = [
        (
            &chat,
            Box::new(
                OpenAiChat::new("m")
                    .base_url(&chat.base_url)
                    .api_key(KEY)
                    .header("x-title", "mine")
                    .body_field("seed", 7)
                    .without_streaming(),
            ),
            &[
                "POST /v1/chat/completions HTTP/1.1\r\n",
                "authorization: Bearer sk-this-is-a-secret-key\r\n",
                "x-title: mine\r\n",
                r#""seed":7"#,
            ],
        ),
        (
            &messages,
            Box::new(
                Anthropic::new("m")
                    .base_url(&messages.base_url)
                    .api_key(KEY),
            ),
            &[
                "POST /v1/messages HTTP/1.1\r\n",
                "x-api-key: sk-this-is-a-secret-key\r\n",
                "anthropic-version: 2023-06-01\r\n",
            ],
        ),
        (
            &responses,
            Box::new(
                OpenAiResponses::new("m")
                    .base_url(&responses.base_url)
                    .api_key(KEY),
            ),
            &[
                "POST /v1/responses HTTP/1.1\r\n",
                "authorization: Bearer sk-this-is-a-secret-key\r\n",
            ],
        ),
    ];
    for (server, model, expected) in models {
        let (_, reply) = ask(&*model).await;
        assert_eq!(reply.unwrap().text(), "Hello");
        let request = server.requests.lock().unwrap()[0].clone();
        for piece in expected {
            assert!(request.contains(piece), "{piece} in {request}");
        }
    }
}
