//! Searching through a `SearXNG`, as a server of the test plays one.

use super::{Server, page, to};
use agent::toolkit::{Searxng, WebSearch};
use std::time::Duration;

const FOUND: &str = r#"{"query": "q", "number_of_results": 0, "results": [
    {"url": "https://a.example/", "title": "A  title", "content": "some\nwords", "engine": "x", "score": 1.5},
    {"url": "https://b.example/", "title": null},
    {"url": "https://c.example/", "title": "C", "content": ""}
], "answers": [], "unresponsive_engines": [["google", "timeout"]]}"#;

/// A search for `what` that is answered with this.
async fn answered(answer: String) -> Result<String, String> {
    let server = Server::start(vec![("/search?format=json&q=what", answer)]).await;
    let engine = Searxng::new(&format!("http://user:secret@127.0.0.1:{}", server.port)).unwrap();
    let said = WebSearch::new(engine).web_search("what", 10).await;
    said.map_err(|error| {
        let at = format!("http://127.0.0.1:{}", server.port);
        error.to_string().replace(&at, "AT")
    })
}

#[tokio::test]
async fn a_search_is_asked_in_json_under_its_path_and_the_best_results_come_first() {
    let asked = "/a/search?format=json&language=en&q=rust+%26+%23go%3D1%0A";
    let server = Server::start(vec![(asked, page("200 OK", "application/json", FOUND))]).await;
    for end in ["", "/", "/?q=x#y"] {
        let engine = Searxng::new(&format!("http://127.0.0.1:{}/a{end}", server.port)).unwrap();
        let search = WebSearch::new(engine.parameter("language", "en"));
        let found = search.web_search("rust & #go=1\n", 2).await.unwrap();
        assert_eq!(
            found,
            "1. A title\n   https://a.example/\n   some words\n2. \n   https://b.example/\n"
        );
    }
}

#[tokio::test]
async fn what_a_search_engine_does_wrong_is_said_with_what_to_do_and_without_its_password() {
    let ok = |body: &str| page("200 OK", "application/json", body);
    let long = format!("{FOUND}{}", " ".repeat(2 * 1024 * 1024));
    for (answer, said) in [
        (
            page("403 Forbidden", "text/html", "no"),
            "`AT` answers 403 Forbidden; its settings.yml has to name `json` under `search.formats`",
        ),
        (
            page("429 Too Many Requests", "text/html", "slow down"),
            "`AT` answers 429 Too Many Requests",
        ),
        // Where it sends on to may be anywhere.
        (to("http://127.0.0.1:1/search"), "`AT` answers 302 Found"),
        (
            ok("<html>"),
            "`AT` answers with what is none of SearXNG's: expected value at line 1 column 1",
        ),
        (
            ok("{}"),
            "`AT` answers with what is none of SearXNG's: missing field `results` at line 1 column 2",
        ),
        (
            ok(r#"{"results": [], "unresponsive_engines": [["a", "timeout"], ["b", "CAPTCHA"]]}"#),
            "its engines did not answer: a (timeout), b (CAPTCHA)",
        ),
        (ok(&long), "`AT` answers with more than 2097152 bytes"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".to_owned(),
            "`AT` broke off its answer",
        ),
        (
            "nonsense\r\n\r\n".to_owned(),
            "`AT` gave no answer that is HTTP",
        ),
    ] {
        let expected = format!("the search was not answered: {said}");
        assert_eq!(answered(answer).await, Err(expected));
    }
    let nothing = ok(r#"{"results": []}"#);
    assert_eq!(answered(nothing).await.as_deref(), Ok("no results"));
}

#[tokio::test]
async fn a_search_engine_that_is_not_there_or_takes_too_long_is_said() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = format!("http://{}", listener.local_addr().unwrap());
    let engine = Searxng::new(&at).unwrap();
    let search = |engine: &Searxng| WebSearch::new(engine.clone());
    let slow = search(&engine.clone().time_limit(Duration::from_millis(50)));
    let said = slow.web_search("what", 10).await.unwrap_err().to_string();
    assert_eq!(
        said,
        format!("the search was not answered: `{at}` took longer than 0.05 s")
    );
    drop((slow, listener));
    let said = search(&engine).web_search("what", 10).await.unwrap_err();
    assert_eq!(
        said.to_string(),
        format!("the search was not answered: `{at}` cannot be reached")
    );
}

#[test]
fn what_is_no_address_of_a_search_engine_is_said() {
    for (address, said) in [
        (
            "localhost:8888",
            "`localhost:8888` is no address with http or https",
        ),
        (
            "searx",
            "`searx` is no address: relative URL without a base",
        ),
        (
            "file:///search",
            "`file:///search` is no address with http or https",
        ),
    ] {
        assert_eq!(Searxng::new(address).unwrap_err().to_string(), said);
    }
}
