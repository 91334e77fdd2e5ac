//! Fetching from real servers on this machine, by names that a test decides.
#![cfg(feature = "toolkit-web")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unused_crate_dependencies,
    reason = "tests"
)]

mod searxng;

use agent::toolkit::{Lookup, SearchBackend, SearchHit, Web, WebSearch};
use agent::{BoxError, ToolContext};
use async_trait::async_trait;
use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// A server that answers by path, and remembers what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    async fn start(answers: Vec<(&str, String)>) -> Self {
        let answers: HashMap<String, String> = answers
            .into_iter()
            .map(|(path, answer)| (path.to_owned(), answer))
            .collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (answers, seen) = (answers.clone(), Arc::clone(&seen));
                tokio::spawn(async move {
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        let mut byte = [0];
                        if socket.read(&mut byte).await.unwrap_or(0) == 0 {
                            return;
                        }
                        head.push(byte[0]);
                    }
                    let head = String::from_utf8(head).unwrap();
                    let path = head.split(' ').nth(1).unwrap().to_owned();
                    seen.lock().unwrap().push(head);
                    if path == "/silent" {
                        std::future::pending::<()>().await;
                    }
                    if path == "/endless" {
                        let _ = socket
                            .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
                            .await;
                        while socket.write_all(&[b'x'; 4096]).await.is_ok() {}
                        return;
                    }
                    let answer = answers
                        .get(&path)
                        .cloned()
                        .unwrap_or_else(|| page("404 Not Found", "text/plain", "none"));
                    let _ = socket.write_all(answer.as_bytes()).await;
                });
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn page(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn to(place: &str) -> String {
    format!(
        "HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )
}

/// Names with the answers that each question gets in turn; the last for all that follow.
#[derive(Default)]
struct Names(Mutex<HashMap<&'static str, Vec<Vec<IpAddr>>>>);

impl Names {
    fn with(self, name: &'static str, answers: &[&[&str]]) -> Self {
        let parse = |list: &&[&str]| {
            list.iter()
                .map(|address| address.parse().unwrap())
                .collect()
        };
        let mut answers: Vec<Vec<IpAddr>> = answers.iter().map(parse).collect();
        answers.reverse();
        self.0.lock().unwrap().insert(name, answers);
        self
    }
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(host).ok_or(io::ErrorKind::NotFound)?;
        let answer = answers.last().unwrap().clone();
        if answers.len() > 1 {
            answers.pop();
        }
        Ok(answer)
    }
}

const HERE: &str = "127.0.0.1";

/// One that reaches the test's server, by `site.test`, and nothing else of this machine.
fn web(names: Names) -> Web {
    Web::builder()
        .allow(HERE.parse().unwrap())
        .lookup(names.with("site.test", &[&[HERE]]))
        .build()
        .unwrap()
}

async fn fetch(web: &Web, url: &str) -> Result<String, String> {
    let fetched = web.web_fetch(url, &ToolContext::for_test()).await;
    fetched.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_page_comes_as_text_with_its_status_its_type_and_its_address() {
    let html = "<html><body><h1>Hello</h1><p>A <a href=\"/b\">link</a></p></body></html>";
    let server = Server::start(vec![
        ("/", page("200 OK", "text/html; charset=utf-8", html)),
        ("/json", page("200 OK", "application/json", "{\"a\":1}")),
        ("/png", page("200 OK", "image/png", "12345")),
    ])
    .await;
    let web = web(Names::default());
    let at = |path: &str| format!("http://site.test:{}{path}", server.port);
    let text = fetch(&web, &at("/")).await.unwrap();
    let expected = format!("[200 OK, text/html; charset=utf-8, from {}]\n", at("/"));
    assert!(text.starts_with(&expected), "{text}");
    assert!(text.contains("Hello") && text.contains("link"), "{text}");
    let text = fetch(&web, &at("/json")).await.unwrap();
    assert_eq!(
        text,
        format!(
            "[200 OK, application/json, from {}]\n{{\"a\":1}}",
            at("/json")
        )
    );
    let text = fetch(&web, &at("/png")).await.unwrap();
    assert!(
        text.ends_with("[5 bytes of image/png, which is no text]"),
        "{text}"
    );
    let text = fetch(&web, &at("/none")).await.unwrap();
    assert!(text.starts_with("[404 Not Found, text/plain"), "{text}");
}

#[tokio::test]
async fn credentials_of_an_address_are_not_sent() {
    let server = Server::start(vec![("/", page("200 OK", "text/plain", "hi"))]).await;
    let address = format!("http://me:secret@site.test:{}/#part", server.port);
    let text = fetch(&web(Names::default()), &address).await.unwrap();
    assert!(!text.contains("secret"), "{text}");
    let asked = server.asked().concat().to_ascii_lowercase();
    assert!(
        !asked.contains("authorization") && !asked.contains("secret"),
        "{asked}"
    );
    assert!(asked.contains("accept-encoding: identity"), "{asked}");
}

#[tokio::test]
async fn redirects_are_followed_a_few_times() {
    let server = Server::start(vec![
        ("/a", to("/b")),
        ("/b", to("c?x=1")),
        ("/c?x=1", page("200 OK", "text/plain", "there")),
        ("/loop", to("/loop")),
        ("/file", to("file:///etc/passwd")),
        ("/user", to("http://u:p@site.test:1/")),
    ])
    .await;
    let web = web(Names::default());
    let at = |path: &str| format!("http://site.test:{}{path}", server.port);
    let text = fetch(&web, &at("/a")).await.unwrap();
    assert_eq!(
        text,
        format!("[200 OK, text/plain, from {}]\nthere", at("/c?x=1"))
    );
    let error = fetch(&web, &at("/loop")).await.unwrap_err();
    assert!(error.ends_with("sends on more than 5 times"), "{error}");
    let error = fetch(&web, &at("/file")).await.unwrap_err();
    assert_eq!(error, "only http and https are fetched, not `file`");
}

#[tokio::test]
async fn a_name_with_any_address_that_is_not_public_is_not_reached() {
    let names = Names::default()
        .with("private.test", &[&["10.0.0.1"]])
        .with("one-of-two.test", &[&["93.184.216.34", "127.0.0.2"]])
        .with("six.test", &[&["::1"]])
        .with("mapped.test", &[&["::ffff:127.0.0.2"]])
        .with("keys.test", &[&["169.254.169.254"]])
        .with("none.test", &[&[]])
        .with("localhost", &[&["127.0.0.2"]]);
    let web = web(names);
    for host in [
        "private.test",
        "one-of-two.test",
        "six.test",
        "mapped.test",
        "keys.test",
        "localhost",
        "PRIVATE.test",
    ] {
        let error = fetch(&web, &format!("http://{host}/")).await.unwrap_err();
        assert!(
            error.contains("only the public internet is reached"),
            "{host}: {error}"
        );
        // Nothing of the network behind it is told.
        assert!(
            !error.contains("10.0.0.1") && !error.contains("127.0.0.2"),
            "{error}"
        );
    }
    for host in ["none.test", "unknown.test"] {
        let error = fetch(&web, &format!("http://{host}/")).await.unwrap_err();
        assert!(error.contains("has no address"), "{host}: {error}");
    }
}

#[tokio::test]
async fn no_redirect_leads_to_a_private_address() {
    let server = Server::start(vec![]).await;
    let places: Vec<String> = [
        "http://127.0.0.2/",
        "http://2130706434/",
        "http://0x7f000002/",
        "http://0177.0.0.2/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.2]/",
        "http://[64:ff9b::7f00:2]/",
        "//127.0.0.2/",
        "http://169.254.169.254/latest",
        "http://me@127.0.0.2/",
        "http://127.0.0.2./",
        "http://private.test/",
        "\\\\127.0.0.2\\",
        "http:127.0.0.2",
    ]
    .iter()
    .map(|place| (*place).to_owned())
    .collect();
    let answers: Vec<(String, String)> = places
        .iter()
        .enumerate()
        .map(|(number, place)| (format!("/{number}"), to(place)))
        .collect();
    drop(server);
    let server = Server::start(
        answers
            .iter()
            .map(|(path, answer)| (path.as_str(), answer.clone()))
            .collect(),
    )
    .await;
    let web = web(Names::default().with("private.test", &[&["192.168.1.1"]]));
    for (number, place) in places.iter().enumerate() {
        // `http:127.0.0.2` seen from a page of the same scheme is a path.
        if place == "http:127.0.0.2" {
            continue;
        }
        let error = fetch(&web, &format!("http://site.test:{}/{number}", server.port))
            .await
            .unwrap_err();
        assert!(
            error.contains("only the public internet is reached"),
            "{place}: {error}"
        );
    }
}

#[tokio::test]
async fn a_name_that_changes_between_question_and_connection_changes_nothing() {
    let server = Server::start(vec![
        ("/", page("200 OK", "text/plain", "hi")),
        ("/again", to("http://turns.test/")),
    ])
    .await;
    // Whoever asks once and connects by name asks twice, and then gets the other address.
    let names = Names::default()
        .with("turns.test", &[&[HERE], &["127.0.0.2"]])
        .with("back.test", &[&["127.0.0.2"], &[HERE]]);
    let web = web(names);
    let text = fetch(&web, &format!("http://turns.test:{}/", server.port))
        .await
        .unwrap();
    assert!(text.ends_with("hi"), "{text}");
    // Asked again, by a redirect to another port, it is judged again.
    let error = fetch(&web, &format!("http://site.test:{}/again", server.port))
        .await
        .unwrap_err();
    assert!(
        error.contains("only the public internet is reached"),
        "{error}"
    );
    let error = fetch(&web, &format!("http://back.test:{}/", server.port))
        .await
        .unwrap_err();
    assert!(
        error.contains("only the public internet is reached"),
        "{error}"
    );
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_page_has_a_time_and_a_size() {
    let server = Server::start(vec![]).await;
    let web = Web::builder()
        .allow(HERE.parse().unwrap())
        .time_limit(Duration::from_millis(300))
        .size_limit(1000)
        .build()
        .unwrap();
    let error = fetch(&web, &format!("http://{HERE}:{}/silent", server.port))
        .await
        .unwrap_err();
    assert!(error.ends_with("took longer than 0.3 s"), "{error}");
    let text = fetch(&web, &format!("http://{HERE}:{}/endless", server.port))
        .await
        .unwrap();
    assert!(
        text.contains("; only its first 1000 bytes were read]\n"),
        "{text}"
    );
    let (_, body) = text.split_once('\n').unwrap();
    assert_eq!(body, "x".repeat(1000));
}

#[tokio::test]
async fn an_encoding_that_nobody_asked_for_is_not_unpacked() {
    let bomb = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\nx";
    let server = Server::start(vec![("/", bomb.to_owned())]).await;
    let error = fetch(
        &web(Names::default()),
        &format!("http://site.test:{}/", server.port),
    )
    .await
    .unwrap_err();
    assert!(error.contains("in the encoding `gzip`"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_reached_is_said_without_details() {
    let error = fetch(&web(Names::default()), "http://site.test:1/a")
        .await
        .unwrap_err();
    assert_eq!(error, "`http://site.test:1` cannot be reached");
}

struct List(usize);

#[async_trait]
impl SearchBackend for List {
    async fn search(&self, query: &str, _: usize) -> Result<Vec<SearchHit>, BoxError> {
        if query == "broken" {
            return Err("the engine is away".into());
        }
        let hit = |number: usize| SearchHit {
            title: format!("Result\n{number}"),
            url: format!("https://example.com/{number}"),
            snippet: if number == 0 {
                String::new()
            } else {
                "€".repeat(1000)
            },
        };
        Ok((0..self.0).map(hit).collect())
    }
}

#[tokio::test]
async fn a_search_shows_results_in_their_order_and_no_more_than_asked_for() {
    let search = WebSearch::new(List(5));
    let text = search.web_search("a", 2).await.unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("1. Result 0"));
    assert_eq!(lines.next(), Some("   https://example.com/0"));
    assert_eq!(lines.next(), Some("2. Result 1"));
    assert_eq!(lines.next(), Some("   https://example.com/1"));
    assert!(lines.next().unwrap().ends_with('…'));
    assert_eq!(lines.next(), None);
    assert_eq!(
        WebSearch::new(List(0)).web_search("a", 2).await.unwrap(),
        "no results"
    );
    let error = search.web_search("broken", 2).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the search was not answered: the engine is away"
    );
}
