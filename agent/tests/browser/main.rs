//! The browser tools in a real Chromium, on pages that a server of the test serves. Without one they say that they were
//! skipped.
#![cfg(all(unix, feature = "toolkit-browser"))]
#![allow(
    clippy::format_collect,
    reason = "long pages, where an allocation more is no matter"
)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    unused_crate_dependencies,
    reason = "tests"
)]

mod acting;
mod ending;
mod network;
mod reading;
mod server;

use agent::toolkit::{Browser, Lookup, ReadAs};
use async_trait::async_trait;
use server::Server;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;
use std::time::Duration;

const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

/// What names mean in a test.
#[derive(Default)]
struct Names {
    asked: Mutex<usize>,
}

#[async_trait]
impl Lookup for Names {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let parsed = |texts: &[&str]| Ok(texts.iter().map(|text| text.parse().unwrap()).collect());
        match host {
            "site.test" | "other.test" => parsed(&["127.0.0.1"]),
            "private.test" => parsed(&["10.0.0.1"]),
            "half.test" => parsed(&["127.0.0.1", "127.0.0.2"]),
            "rebind.test" => {
                let mut asked = self.asked.lock().unwrap();
                *asked += 1;
                parsed(if *asked == 1 {
                    &["127.0.0.1"]
                } else {
                    &["127.0.0.2"]
                })
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Whether there is a browser to test with; if not, it is said.
fn is_there() -> bool {
    match Browser::new().program() {
        Ok(_) => true,
        Err(why) => {
            println!("skipped: {why}");
            false
        }
    }
}

/// With what `root` needs.
fn sandboxed(browser: Browser) -> Browser {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    if is_root {
        browser.without_sandbox()
    } else {
        browser
    }
}

/// A browser for the server of a test; none where there is none.
fn browser() -> Option<Browser> {
    let browser = Browser::new()
        .allow(HERE)
        .lookup(Names::default())
        .time_limit(Duration::from_secs(20));
    is_there().then(|| sandboxed(browser))
}

/// A browser that has opened a page of a server that serves it everywhere.
async fn open(page: &str) -> Option<(Browser, Server, String)> {
    let browser = browser()?;
    let server = Server::of(&[("/", page)]).await;
    let shown = browser.browser_open(&server.url("/")).await.unwrap();
    Some((browser, server, shown))
}

async fn tree(browser: &Browser) -> String {
    browser.browser_read(ReadAs::Tree, 1).await.unwrap()
}

/// The reference of the part that has these words.
fn reference(shown: &str, words: &str) -> u32 {
    let lines = shown.lines();
    let line = lines
        .into_iter()
        .find(|line| line.contains(words) && !line.starts_with("[tab"));
    let line = line.unwrap_or_else(|| panic!("no {words} in:\n{shown}"));
    let number = line.split(['[', ']']).nth(1).unwrap();
    number.parse().unwrap_or_else(|_| panic!("{line}"))
}

/// What is shown of the page, without our own lines.
fn body(shown: &str) -> String {
    let lines = shown.lines().filter(|line| {
        let number = line.trim_start().strip_prefix('[');
        number.is_none_or(|rest| rest.starts_with(|sign: char| sign.is_ascii_digit()))
    });
    lines.collect::<Vec<_>>().join("\n")
}
