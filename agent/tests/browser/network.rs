//! What a browser reaches, and what it does not.

use crate::server::{self, Server};
use crate::{browser, tree};
use agent::toolkit::ReadAs;
use std::time::Duration;

#[tokio::test]
async fn a_private_address_is_not_opened_whoever_names_it() {
    let Some(browser) = browser() else { return };
    let private = Server::on("127.0.0.2", &[("/", "secret")]).await;
    let port = private.port;
    let away = |place: &str| format!("redirect http://{place}/");
    let server = Server::of(&[
        ("/private", &away("private.test")),
        ("/name", &away(&format!("half.test:{port}"))),
        ("/number", &away(&format!("127.0.0.2:{port}"))),
        ("/odd", &away(&format!("0x7f.2:{port}"))),
        ("/six", &away(&format!("[::1]:{port}"))),
        ("/mapped", &away(&format!("[::ffff:127.0.0.2]:{port}"))),
        ("/keys", &away("169.254.169.254")),
    ])
    .await;
    for path in [
        "/private", "/name", "/number", "/odd", "/six", "/mapped", "/keys",
    ] {
        let said = browser
            .browser_open(&server.url(path))
            .await
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("was not opened: ")
                && said.contains("only the public internet is reached"),
            "{path}: {said}"
        );
    }
    for url in [
        format!("http://127.0.0.2:{port}/"),
        format!("http://half.test:{port}/"),
        "http://private.test/".to_owned(),
        "http://169.254.169.254/".to_owned(),
    ] {
        let said = browser.browser_open(&url).await.unwrap_err().to_string();
        assert!(
            said.contains("only the public internet is reached"),
            "{url}: {said}"
        );
    }
    assert_eq!(private.asked(), Vec::<String>::new());
}

#[tokio::test]
async fn only_the_web_is_opened() {
    let Some(browser) = browser() else { return };
    for scheme in [
        "file:///etc/passwd",
        "chrome://version",
        "devtools://devtools/x",
        "data:text/html,x",
        "javascript:alert(1)",
        "about:blank",
        "view-source:http://site.test/",
        "ftp://site.test/",
        "blob:http://site.test/x",
    ] {
        let said = browser.browser_open(scheme).await.unwrap_err().to_string();
        assert!(
            said.starts_with("only http and https are fetched, not `"),
            "{scheme}: {said}"
        );
    }
    // Nor can a page go there.
    let server = Server::of(&[("/", "<a href='file:///etc/passwd'>File</a><script>\
        for (const to of ['chrome://version', 'devtools://devtools/x', 'data:text/html,x', 'view-source:http://site.test:PORT/']) {\
        try { open(to) } catch {} try { location.href = to } catch {} }</script>")]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    let link = crate::reference(&shown, "\"File\"");
    browser.browser_click(link, false).await.unwrap();
    browser.browser_tabs(Some(1)).await.unwrap();
    let shown = tree(&browser).await;
    assert!(
        shown.starts_with("[tab 1: \"\" at http://site.test:"),
        "{shown}"
    );
}

#[tokio::test]
async fn nothing_of_a_page_reaches_a_private_address() {
    let Some(browser) = browser() else { return };
    let private = Server::on("127.0.0.2", &[("/", "secret")]).await;
    let page = "<h1>page</h1><img src='http://127.0.0.2:PRIVATE/img'><iframe src='http://half.test:PRIVATE/frame'></iframe>\
        <link rel=stylesheet href='http://127.0.0.2:PRIVATE/css'><link rel=preconnect href='http://127.0.0.2:PRIVATE/'>\
        <link rel=dns-prefetch href='http://private.test'>\
        <script>const done = [];\
        const tries = [() => fetch('http://127.0.0.2:PRIVATE/fetch', {mode: 'no-cors'}),\
        () => new Promise((ok, no) => { const s = new WebSocket('ws://127.0.0.2:PRIVATE/ws'); s.onopen = ok; s.onerror = no; }),\
        () => new Promise((ok, no) => { const s = new EventSource('http://127.0.0.2:PRIVATE/events'); s.onopen = ok; s.onerror = no; }),\
        () => new Promise((ok, no) => { const code = `fetch('http://127.0.0.2:PRIVATE/worker', {mode: 'no-cors'}).then(() => postMessage(1), () => postMessage(0))`;\
          new Worker(URL.createObjectURL(new Blob([code]))).onmessage = (m) => m.data ? ok() : no(); }),\
        () => { navigator.sendBeacon('http://127.0.0.2:PRIVATE/beacon', 'x'); return Promise.reject(); },\
        () => new WebTransport('https://127.0.0.2:PRIVATE/wt').ready,\
        async () => { const c = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.2:PRIVATE'}]}); c.createDataChannel('x');\
          await c.setLocalDescription(await c.createOffer()); await new Promise((ok) => setTimeout(ok, 500)); throw 0; }];\
        Promise.all(tries.map((one) => Promise.race([(async () => one())().then(() => 'reached', () => 'kept out'), new Promise((ok) => setTimeout(ok, 5000, 'kept out'))]))).then((ends) => {\
        document.querySelector('h1').textContent = ends.join(', ') })</script>";
    let server = Server::of(&[("/", &page.replace("PRIVATE", &private.port.to_string()))]).await;
    let datagrams = tokio::net::UdpSocket::bind(("127.0.0.2", private.port))
        .await
        .unwrap();
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    assert!(
        shown.contains("only the public internet is reached]"),
        "{shown}"
    );
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    let text = loop {
        let text = browser.browser_read(ReadAs::Text, 1).await.unwrap();
        if text.contains("kept out") || tokio::time::Instant::now() > deadline {
            break text;
        }
    };
    assert!(text.contains(&["kept out"; 7].join(", ")), "{text}");
    assert_eq!(private.asked(), Vec::<String>::new());
    assert_eq!(
        datagrams.try_recv(&mut [0; 100]).unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
}

#[tokio::test]
async fn a_name_that_changes_its_meaning_leads_nowhere() {
    let Some(browser) = browser() else { return };
    let server = Server::of(&[("/", "<h1>first</h1>")]).await;
    let url = format!("http://rebind.test:{}/", server.port);
    assert!(browser.browser_open(&url).await.unwrap().contains("first"));
    // The name now means another address, which is judged, and not the old one, which was.
    let said = browser.browser_open(&url).await.unwrap_err().to_string();
    assert!(
        said.contains("only the public internet is reached"),
        "{said}"
    );
}

#[tokio::test]
async fn a_server_that_is_slow_or_never_ends_takes_no_longer_than_it_may() {
    let Some(browser) = browser() else { return };
    let browser = browser.time_limit(Duration::from_secs(2));
    let server = Server::of(&[
        ("/", "<h1>quick</h1>"),
        ("/silent", "silent"),
        ("/trickle", "trickle"),
        ("/endless", "endless"),
        ("/part", "<h1>there</h1><img src=/silent>"),
    ])
    .await;
    browser.browser_open(&server.url("/")).await.unwrap();
    let said = browser
        .browser_open(&server.url("/silent"))
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        format!("`{}` did not answer within 2 s", server.url("/silent"))
    );
    let text = browser.browser_read(ReadAs::Text, 1).await.unwrap();
    assert!(
        text.contains("quick"),
        "the page before is still there: {text}"
    );
    let stopped = "[the page was still loading after 2 s and was stopped: it may be incomplete]";
    for (path, words) in [
        ("/trickle", "begins"),
        ("/endless", "begins"),
        ("/part", "there"),
    ] {
        let shown = browser.browser_open(&server.url(path)).await.unwrap();
        assert!(
            shown.contains(stopped) && shown.contains(words),
            "{path}: {shown}"
        );
        assert!(shown.len() < 10_000, "{path}: {}", shown.len());
    }
}

#[tokio::test]
async fn what_a_server_says_went_wrong_is_said() {
    let Some(browser) = browser() else { return };
    let server = Server::of(&[("/empty", "empty")]).await;
    let shown = browser
        .browser_open(&server.url("/none#place"))
        .await
        .unwrap();
    assert!(
        shown.contains("/none#place, status 404]") && shown.contains("nothing here"),
        "{shown}"
    );
    let nobody = "http://nobody.test/";
    let said = browser.browser_open(nobody).await.unwrap_err().to_string();
    assert!(
        said.starts_with("`http://nobody.test/` was not opened: `nobody.test` has no address"),
        "{said}"
    );
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "http://site.test:{}/",
        listener.local_addr().unwrap().port()
    );
    drop(listener);
    let said = browser.browser_open(&url).await.unwrap_err().to_string();
    assert!(
        said.contains("was not opened: net::ERR_SOCKS_CONNECTION"),
        "{said}"
    );
    let url = server.url("/empty");
    let said = browser.browser_open(&url).await.unwrap_err().to_string();
    assert_eq!(
        said,
        format!("`{url}` was not opened: the server sent nothing that can be shown")
    );
}

#[tokio::test]
async fn a_page_behind_a_certificate_that_nobody_vouches_for_is_not_opened() {
    let Some(browser) = browser() else { return };
    let url = format!("https://site.test:{}/", server::unknown().await);
    let said = browser.browser_open(&url).await.unwrap_err().to_string();
    assert_eq!(
        said,
        format!("`{url}` was not opened: net::ERR_CERT_AUTHORITY_INVALID")
    );
}
