//! What is asked again, and what is not.

use crate::*;

#[tokio::test]
async fn what_may_pass_is_asked_again_before_anything_was_seen() {
    let overloaded = "data: {\"error\":{\"message\":\"busy\",\"type\":\"overloaded_error\"}}\n\n";
    for step in [
        answer("429 Too Many Requests", "retry-after-ms: 1\r\n", ""),
        answer("503 Service Unavailable", "", ""),
        answer("400 Bad Request", "x-should-retry: true\r\n", ""),
        Play::Reset(Vec::new()),
        Play::Send(vec![stream_of(overloaded)]),
    ] {
        let server = server(vec![step, hello()]).await;
        let mut limits = Limits::default();
        limits.retries = 1;
        let (_, reply) = ask(&model(&server.base_url).limits(limits)).await;
        assert_eq!(reply.unwrap().text(), "Hello");
        assert_eq!(server.requests.lock().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn what_cannot_pass_is_asked_once() {
    let quota = r#"{"error":{"message":"empty","code":"insufficient_quota"}}"#;
    for step in [
        answer("401 Unauthorized", "", ""),
        answer("429 Too Many Requests", "", quota),
        answer("500 Internal Server Error", "x-should-retry: false\r\n", ""),
        answer("429 Too Many Requests", "retry-after: 3600\r\n", ""),
    ] {
        let server = server(vec![step]).await;
        let (_, reply) = ask(&model(&server.base_url).limits(Limits::default())).await;
        reply.unwrap_err();
        assert_eq!(server.requests.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_goes_on_from_an_answer_that_the_provider_has_kept_is_asked_again_only_if_the_server_says_so()
 {
    for (headers, asked) in [
        ("", 1),
        ("x-should-retry: true\r\nretry-after-ms: 1\r\n", 2),
    ] {
        for name in ["previous_response_id", "conversation"] {
            let failed = answer("500 Internal Server Error", headers, "");
            let server = server(vec![failed, hello()]).await;
            let model = model(&server.base_url).limits(Limits::default());
            let (_, reply) = ask(&model.body_field(name, "resp_1")).await;
            assert_eq!(reply.is_ok(), asked == 2);
            assert_eq!(server.requests.lock().unwrap().len(), asked);
        }
    }
}
