//! A server of pages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Serves pages by path, and remembers what it was asked: each request whole.
pub(crate) struct Server {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// A page is HTML, or the words after `redirect `, `file `, or one of `silent`, `trickle`, `endless`, `empty`. `PORT` in it is this
    /// server's.
    pub(crate) async fn of(pages: &[(&str, &str)]) -> Self {
        Self::on("127.0.0.1", pages).await
    }

    pub(crate) async fn on(address: &str, pages: &[(&str, &str)]) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let pages: HashMap<String, String> = pages
            .iter()
            .map(|(path, page)| ((*path).to_owned(), page.replace("PORT", &port.to_string())))
            .collect();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, pages.clone(), Arc::clone(&seen)));
            }
        });
        Self { port, asked }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://site.test:{}{path}", self.port)
    }

    /// What was asked for, but for the little picture that browsers ask for.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let wanted = asked
            .iter()
            .filter(|request| !request.contains("/favicon.ico"));
        wanted.cloned().collect()
    }
}

/// A server whose certificate nobody vouches for; the port on which it is.
pub(crate) async fn unknown() -> u16 {
    let made = rcgen::generate_simple_self_signed(vec!["site.test".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            // Whoever takes the certificate is shown a page.
            if let Ok(mut socket) = acceptor.accept(socket).await {
                let page =
                    "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\nsecret";
                let _ = socket.write_all(page.as_bytes()).await;
            }
        }
    });
    port
}

async fn serve(
    mut socket: TcpStream,
    pages: HashMap<String, String>,
    seen: Arc<Mutex<Vec<String>>>,
) {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    let is_whole = |request: &[u8]| {
        let text = String::from_utf8_lossy(request).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let length = head.lines().find_map(|line| {
            let line = line.to_ascii_lowercase();
            line.strip_prefix("content-length:")?.trim().parse().ok()
        });
        (body.len() >= length.unwrap_or(0)).then_some(text)
    };
    let request = loop {
        match socket.read(&mut piece).await {
            Ok(0) | Err(_) => return,
            Ok(read) => request.extend_from_slice(&piece[..read]),
        }
        if let Some(request) = is_whole(&request) {
            break request;
        }
    };
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let path = path.split('?').next().unwrap_or_default();
    seen.lock().unwrap().push(request.clone());
    let page = pages.get(path).map_or("missing", String::as_str);
    let html = "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\nconnection: close\r\n";
    let begin = format!("{html}\r\n<!doctype html><title>Long</title><h1>begins</h1>");
    let answer = match page.split_once(' ').unwrap_or((page, "")) {
        ("silent", "") => std::future::pending().await,
        ("trickle", "") => {
            let _ = socket.write_all(begin.as_bytes()).await;
            std::future::pending().await
        }
        ("endless", "") => {
            let _ = socket.write_all(begin.as_bytes()).await;
            while socket.write_all(b"<p>more and more of it\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            return;
        }
        ("empty", "") => "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n".to_owned(),
        ("missing", "") => {
            let page = "<title>None</title>nothing here";
            format!(
                "HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
                page.len()
            )
        }
        ("redirect", place) => {
            format!(
                "HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
        }
        ("file", text) => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-disposition: attachment; filename=\"a.bin\"\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        ),
        _ => format!("{html}content-length: {}\r\n\r\n{page}", page.len()),
    };
    let _ = socket.write_all(answer.as_bytes()).await;
}
