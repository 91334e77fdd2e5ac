//! A server that does what it is told, faults included.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What the server does with one connection.
#[derive(Debug, Clone)]
pub enum Play {
    /// Sends these bytes, in these pieces, and closes.
    Send(Vec<Vec<u8>>),
    /// Sends these bytes and breaks the connection.
    Reset(Vec<u8>),
    /// Sends these bytes and then nothing, for ever.
    Stall(Vec<u8>),
}

/// A server on this machine that plays a script.
#[derive(Debug)]
pub struct Server {
    /// Its address, with `/v1`.
    pub base_url: String,
    /// What it was asked, each request whole.
    pub requests: Arc<Mutex<Vec<String>>>,
}

/// Plays one step a connection; the last for all that follow.
///
/// # Panics
///
/// If this machine has no port to give.
pub async fn server(steps: Vec<Play>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = requests.clone();
    tokio::spawn(async move {
        let mut steps = steps.into_iter().peekable();
        while let Ok((socket, _)) = listener.accept().await {
            let step = steps.next().unwrap();
            if steps.peek().is_none() {
                steps = vec![step.clone()].into_iter().peekable();
            }
            tokio::spawn(play(socket, step, seen.clone()));
        }
    });
    Server { base_url, requests }
}

async fn play(mut socket: TcpStream, step: Play, seen: Arc<Mutex<Vec<String>>>) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = socket.read(&mut piece).await.unwrap_or_default();
        request.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&request);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length: ")?
                    .parse()
                    .ok()
            });
            body.len() >= length.unwrap_or(0)
        });
        if whole || read == 0 {
            break;
        }
    }
    seen.lock()
        .unwrap()
        .push(String::from_utf8(request).unwrap());
    match step {
        Play::Send(pieces) => {
            for piece in pieces {
                socket.write_all(&piece).await.unwrap_or_default();
                socket.flush().await.unwrap_or_default();
                tokio::task::yield_now().await;
            }
            socket.shutdown().await.unwrap_or_default();
        }
        Play::Reset(bytes) => {
            socket.write_all(&bytes).await.unwrap_or_default();
            // Closing with zero linger sends a reset in place of a goodbye.
            socket.set_zero_linger().unwrap();
        }
        Play::Stall(bytes) => {
            socket.write_all(&bytes).await.unwrap_or_default();
            std::future::pending::<()>().await;
        }
    }
}

/// An answer as it stands on the wire.
pub fn http(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A whole answer.
pub fn answer(status: &str, headers: &str, body: &str) -> Play {
    Play::Send(vec![http(status, headers, body)])
}

/// The beginning of a stream, without an end.
pub fn stream_of(body: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{body}")
        .into_bytes()
}
