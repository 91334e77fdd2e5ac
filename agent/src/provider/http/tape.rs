//! Keeping HTTP exchanges in a file, and playing them back without a server.
//!
//! ```text
//! {"agent_recording":"http","version":1}
//! {"request":{"method":"POST","url":"https://api.openai.com/v1/chat/completions","body":{..}}}
//! {"response":{"status":200,"headers":{"content-type":"text/event-stream"}}}
//! {"chunk":"data: {\"choices\":[..]}\n\n"}
//! "end"
//! ```
//!
//! A piece that is cut inside a letter stands as `{"hex":".."}`. `{"broke":{..}}` in place of `"end"` is how the connection
//! failed; `"dropped"`, that nobody listened any more. Of the request's headers none is kept.

use super::secrets::Secrets;
use crate::model::{ModelError, ModelErrorKind, differences};
use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What this build writes, and all that it reads.
const VERSION: u32 = 1;

const KIND: &str = "http";

/// The headers of an answer that mean something to us. Others may hold an account's name or a cookie.
const KEPT: &[&str] = &[
    "content-type",
    "location",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "request-id",
    "x-request-id",
];

#[derive(Serialize, Deserialize)]
struct Header {
    agent_recording: String,
    version: u32,
}

/// One line behind the header.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Request(Asked),
    Response(Head),
    Chunk(String),
    Hex(String),
    Broke(Fault),
    End,
    Dropped,
}

#[derive(Serialize, Deserialize, Clone)]
struct Asked {
    method: String,
    url: String,
    /// As it stands, so that no number loses a digit.
    body: Box<RawValue>,
}

#[derive(Serialize, Deserialize, Default)]
struct Head {
    status: u16,
    #[serde(default)]
    headers: Map<String, Value>,
}

#[derive(Serialize, Deserialize)]
struct Fault {
    kind: ModelErrorKind,
    message: String,
}

impl From<&ModelError> for Fault {
    fn from(error: &ModelError) -> Self {
        Self {
            kind: error.kind(),
            message: error.to_string(),
        }
    }
}

impl From<Fault> for ModelError {
    fn from(fault: Fault) -> Self {
        Self::new(fault.kind, fault.message)
    }
}

/// Where exchanges are kept, or where they come from.
#[derive(Clone)]
pub(super) enum Tape {
    Record(Arc<Recorder>),
    Replay(Arc<Player>),
}

pub(super) struct Recorder {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    pub(super) fn create(path: PathBuf) -> Result<Self, ModelError> {
        let header = Header {
            agent_recording: KIND.to_owned(),
            version: VERSION,
        };
        let begun = File::create(&path).and_then(|mut file| {
            file.write_all(&line(&header)?)?;
            Ok(file)
        });
        match begun {
            Ok(file) => Ok(Self {
                path,
                file: Mutex::new(file),
            }),
            Err(error) => Err(cannot_write(&path, error)),
        }
    }

    /// An exchange that begins with this request.
    pub(super) fn hear(self: &Arc<Self>, url: &str, body: &[u8], secrets: Secrets) -> Heard {
        Heard {
            recorder: self.clone(),
            asked: Some(asked(url, body, &secrets)),
            head: None,
            body: Vec::new(),
            cuts: Vec::new(),
            secrets,
        }
    }
}

/// An exchange while it is recorded. It is written as a whole when it ends, since a secret may stand across pieces.
pub(super) struct Heard {
    recorder: Arc<Recorder>,
    /// Nothing once it is written.
    asked: Option<Asked>,
    head: Option<Head>,
    body: Vec<u8>,
    /// Where in the body each piece ended.
    cuts: Vec<usize>,
    secrets: Secrets,
}

impl Heard {
    pub(super) fn head(&mut self, status: u16, headers: &HeaderMap) {
        let kept = KEPT.iter().filter_map(|name| {
            let value = headers.get(*name)?.to_str().ok()?;
            let value = match *name {
                "location" => value.split(['?', '#']).next().unwrap_or_default(),
                _ => value,
            };
            Some(((*name).to_owned(), self.secrets.masked(value).into()))
        });
        self.head = Some(Head {
            status,
            headers: kept.collect(),
        });
    }

    /// The next piece, the end or the failure.
    pub(super) fn piece(
        &mut self,
        piece: Result<&Option<Bytes>, &ModelError>,
    ) -> Result<(), ModelError> {
        match piece {
            Ok(Some(bytes)) => {
                self.body.extend_from_slice(bytes);
                self.cuts.push(self.body.len());
                Ok(())
            }
            Ok(None) => self.write(Line::End),
            Err(error) => self.fail(error),
        }
    }

    pub(super) fn fail(&mut self, error: &ModelError) -> Result<(), ModelError> {
        let mut fault = Fault::from(error);
        fault.message = self.secrets.masked(&fault.message);
        self.write(Line::Broke(fault))
    }

    fn write(&mut self, last: Line) -> Result<(), ModelError> {
        let Some(asked) = self.asked.take() else {
            return Ok(());
        };
        let mut lines = vec![Line::Request(asked)];
        lines.extend(self.head.take().map(Line::Response));
        self.secrets.mask(&mut self.body);
        let mut rest: &[u8] = &self.body;
        let mut from = 0;
        for cut in &self.cuts {
            let (piece, after) = rest.split_at_checked(cut - from).unwrap_or((rest, &[]));
            lines.push(match std::str::from_utf8(piece) {
                Ok(text) => Line::Chunk(text.to_owned()),
                Err(_) => Line::Hex(hex(piece)),
            });
            (rest, from) = (after, *cut);
        }
        lines.push(last);
        let bytes = lines.iter().try_fold(Vec::new(), |mut bytes, value| {
            bytes.extend(line(value)?);
            Ok(bytes)
        });
        let recorder = &self.recorder;
        let mut file = lock(&recorder.file);
        bytes
            .and_then(|bytes: Vec<u8>| file.write_all(&bytes))
            .map_err(|error| cannot_write(&recorder.path, error))
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        if let Err(error) = self.write(Line::Dropped) {
            tracing::warn!(%error, "the recording is not whole");
        }
    }
}

/// Plays back a file.
pub(super) struct Player {
    path: PathBuf,
    left: Mutex<Vec<Exchange>>,
}

struct Exchange {
    /// Which of the recording, from 1.
    number: usize,
    asked: Asked,
    head: Option<Head>,
    body: VecDeque<Line>,
}

impl Player {
    pub(super) fn open(path: PathBuf) -> Result<Self, ModelError> {
        let text = std::fs::read_to_string(&path)
            .map_err(|error| unusable(&path, &format!("cannot be read: {error}")))?;
        let (header, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let header: Header = serde_json::from_str(header)
            .map_err(|_| unusable(&path, "is none: its first line does not say so"))?;
        if header.agent_recording != KIND {
            let what = format!("is one of `{}`, not of `{KIND}`", header.agent_recording);
            return Err(unusable(&path, &what));
        }
        if header.version != VERSION {
            let what = format!(
                "is of version {}, and this build reads version {VERSION}; record it again",
                header.version
            );
            return Err(unusable(&path, &what));
        }
        Ok(Self {
            left: Mutex::new(exchanges(&path, rest)?),
            path,
        })
    }

    /// How many exchanges have not been played yet.
    pub(super) fn remaining(&self) -> usize {
        lock(&self.left).len()
    }

    /// The answer to this request, if it was recorded: of equal ones the first.
    pub(super) fn play(
        self: &Arc<Self>,
        url: &str,
        body: &[u8],
        secrets: &Secrets,
    ) -> Result<super::answer::Answer, ModelError> {
        let now = asked(url, body, secrets);
        let mut left = lock(&self.left);
        let Some(at) = left.iter().position(|exchange| same(&exchange.asked, &now)) else {
            return Err(self.differs(left.first(), &now));
        };
        let exchange = left.remove(at);
        drop(left);
        let mut played = Played {
            player: self.clone(),
            lines: exchange.body,
        };
        let Some(head) = exchange.head else {
            // It broke before a head came, so the first thing that comes is the failure.
            return Err(match played.next() {
                Err(error) => error,
                Ok(_) => unusable(&self.path, "has an exchange without a response"),
            });
        };
        let headers = head.headers.iter().filter_map(|(name, value)| {
            let name: HeaderName = name.parse().ok()?;
            Some((name, HeaderValue::from_str(value.as_str()?).ok()?))
        });
        Ok(super::answer::Answer::played(
            head.status,
            headers.collect(),
            played,
        ))
    }

    fn differs(&self, next: Option<&Exchange>, now: &Asked) -> ModelError {
        let path = self.path.display();
        let message = match next {
            None => format!("the recording {path} is over, and the server was asked once more"),
            Some(next) => format!(
                "the request differs from number {} of the recording {path}; record it again if that is meant:{}",
                next.number,
                differences(&shown(&next.asked), &shown(now)),
            ),
        };
        ModelError::new(ModelErrorKind::Script, message)
    }
}

/// The rest of an answer that is played back.
pub(super) struct Played {
    player: Arc<Player>,
    lines: VecDeque<Line>,
}

impl Played {
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        let path = &self.player.path;
        match self.lines.pop_front() {
            Some(Line::Chunk(text)) => Ok(Some(text.into())),
            Some(Line::Hex(digits)) => match bytes_of(&digits) {
                Some(bytes) => Ok(Some(bytes.into())),
                None => Err(unusable(path, "has a piece that is no hexadecimal number")),
            },
            Some(Line::Broke(fault)) => Err(fault.into()),
            Some(Line::End) => Ok(None),
            _ => Err(ModelError::new(
                ModelErrorKind::Script,
                format!(
                    "when {} was recorded, the program stopped listening here, so nobody knows how the answer goes on",
                    path.display()
                ),
            )),
        }
    }
}

fn exchanges(path: &Path, lines: &str) -> Result<Vec<Exchange>, ModelError> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    for (index, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|error| {
            unusable(
                path,
                &format!("cannot be read at line {}: {error}", index + 2),
            )
        })?;
        match (line, exchanges.last_mut()) {
            (Line::Request(asked), _) => exchanges.push(Exchange {
                number: exchanges.len() + 1,
                asked,
                head: None,
                body: VecDeque::new(),
            }),
            (Line::Response(head), Some(exchange)) => exchange.head = Some(head),
            (line, Some(exchange)) => exchange.body.push_back(line),
            (_, None) => return Err(unusable(path, "has an answer before the first request")),
        }
    }
    Ok(exchanges)
}

/// The request as the file has it.
fn asked(url: &str, body: &[u8], secrets: &Secrets) -> Asked {
    let body = secrets.masked(&String::from_utf8_lossy(body));
    Asked {
        method: "POST".to_owned(),
        url: secrets.masked(url),
        body: RawValue::from_string(body).unwrap_or_else(|_| RawValue::NULL.to_owned()),
    }
}

fn same(recorded: &Asked, now: &Asked) -> bool {
    let body = |asked: &Asked| serde_json::from_str::<Value>(asked.body.get()).ok();
    recorded.method == now.method
        && recorded.url == now.url
        // Somebody may have laid out the file anew.
        && (recorded.body.get() == now.body.get() || body(recorded) == body(now))
}

fn shown(asked: &Asked) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("method".into(), asked.method.clone().into());
    shown.insert("url".into(), asked.url.clone().into());
    let body = serde_json::from_str(asked.body.get()).unwrap_or_default();
    shown.insert("body".into(), body);
    shown
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn cannot_write(path: &Path, error: io::Error) -> ModelError {
    unusable(path, &format!("cannot be written: {error}")).with_source(error)
}

fn unusable(path: &Path, what: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Config,
        format!("the recording {} {what}", path.display()),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is inside is whole between any two statements, so a poisoned lock is still good.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
