use super::difference::differences;
use super::file::{Asked, Header, KIND, Line, VERSION, asked, unusable, whole};
use crate::model::{Model, ModelError, ModelErrorKind, ModelStream, Request};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A model that answers as a [`RecordingModel`](super::RecordingModel) heard it: event by event, errors included, and
/// without a server.
///
/// It answers the requests that were recorded and no others. One that differs is an error that says where.
///
/// ```no_run
/// use agent::model::ReplayModel;
///
/// # fn shown() -> Result<(), agent::model::ModelError> {
/// let model = ReplayModel::open("tests/weather.jsonl")?;
/// # drop(model);
/// # Ok(())
/// # }
/// ```
pub struct ReplayModel {
    name: String,
    path: PathBuf,
    left: Mutex<Vec<Exchange>>,
}

struct Exchange {
    /// Which of the recording, from 1.
    number: usize,
    asked: Asked,
    answer: Vec<Line>,
}

impl ReplayModel {
    /// Plays back this file.
    ///
    /// # Errors
    ///
    /// When there is no such file, it is no recording, or one of a version that this build does not know.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, ModelError> {
        let path = path.into();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| unusable(&path, &format!("cannot be read: {error}")))?;
        let (header, rest) = text.split_once('\n').unwrap_or((&text, ""));
        let header: Header = serde_json::from_str(header)
            .map_err(|_| unusable(&path, "is none: its first line does not say so"))?;
        if header.agent_recording != KIND {
            let what = format!("is one of `{}`, not of a model", header.agent_recording);
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
            name: header.model,
            left: Mutex::new(exchanges(&path, rest)?),
            path,
        })
    }

    /// How many exchanges have not been played yet.
    pub fn remaining(&self) -> usize {
        self.lock().len()
    }

    /// Checks that the whole recording was played.
    ///
    /// # Panics
    ///
    /// If exchanges are left: the run stopped early.
    #[track_caller]
    pub fn assert_complete(&self) {
        let left = self.remaining();
        assert!(
            left == 0,
            "the run stopped early: {left} of the exchanges in {} were never asked for",
            self.path.display()
        );
    }

    /// The exchange that this request begins. Of equal ones the first; requests at the same time may come in any order.
    fn find(&self, request: &Request<'_>) -> Result<Exchange, ModelError> {
        let now = asked(request);
        let mut left = self.lock();
        if let Some(at) = left.iter().position(|exchange| exchange.asked == now) {
            return Ok(left.remove(at));
        }
        let message = match left.first() {
            None => format!(
                "the recording {} is over, and the model was asked once more",
                self.path.display()
            ),
            Some(next) => format!(
                "the request differs from number {} of the recording {}; record it again if that is meant:{}",
                next.number,
                self.path.display(),
                differences(&next.asked, &now)
            ),
        };
        Err(ModelError::new(ModelErrorKind::Script, message))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        // The list is whole between any two statements, so a poisoned lock is still good.
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn exchanges(path: &Path, lines: &str) -> Result<Vec<Exchange>, ModelError> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let nothing = Asked::new();
    for (index, line) in lines.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let line: Line = serde_json::from_str(line).map_err(|error| {
            let what = format!("cannot be read at line {}: {error}", index + 2);
            unusable(path, &what)
        })?;
        match (line, exchanges.last_mut()) {
            (Line::Request(news), before) => {
                let before = before.map_or(&nothing, |exchange| &exchange.asked);
                let asked = whole(before, news);
                exchanges.push(Exchange {
                    number: exchanges.len() + 1,
                    asked,
                    answer: Vec::new(),
                });
            }
            (line, Some(exchange)) => exchange.answer.push(line),
            (_, None) => return Err(unusable(path, "has an answer before the first request")),
        }
    }
    Ok(exchanges)
}

impl Model for ReplayModel {
    /// That of the model that was recorded.
    fn name(&self) -> &str {
        &self.name
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        Box::pin(async move {
            let mut answer = self.find(&request)?.answer;
            if let [Line::NoAnswer(_)] = answer.as_slice()
                && let Some(Line::NoAnswer(fault)) = answer.pop()
            {
                return Err(fault.into());
            }
            let events = stream::iter(answer).map(|line| line.into_event(&self.path));
            Ok(events.boxed())
        })
    }
}

impl fmt::Debug for ReplayModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayModel")
            .field("path", &self.path)
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}
