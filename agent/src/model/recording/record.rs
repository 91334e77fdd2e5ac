use super::file::{Asked, Fault, Header, KIND, Line, VERSION, asked, news, unusable};
use crate::model::{Model, ModelError, ModelEvent, ModelStream, Request};
use crate::tool::{Definitions, ToolReport, ToolSetError};
use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use serde::Serialize;
use std::fmt;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A model whose conversation is kept in a file, for [`ReplayModel`](super::ReplayModel).
///
/// Everything that is asked and answered stands in the file, as JSON with a value a line: look through it before you
/// show it to others. Keys and headers never come here. Each exchange is written as a whole when it ends, with calls
/// that block for as long as the disk takes: this is for tests.
///
/// ```no_run
/// use agent::model::{self, RecordingModel};
///
/// # fn shown() -> Result<(), agent::model::ModelError> {
/// let model = RecordingModel::create(model::from_env()?, "tests/weather.jsonl")?;
/// # drop(model);
/// # Ok(())
/// # }
/// ```
pub struct RecordingModel<M> {
    model: M,
    path: PathBuf,
    book: Mutex<Book>,
}

struct Book {
    file: File,
    /// The request that was written last.
    before: Asked,
}

impl<M: Model> RecordingModel<M> {
    /// Keeps what this model says in a new file, in place of an older one.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn create(model: M, path: impl Into<PathBuf>) -> Result<Self, ModelError> {
        let path = path.into();
        let header = Header {
            agent_recording: KIND.to_owned(),
            version: VERSION,
            model: model.name().to_owned(),
        };
        let begun = File::create(&path).and_then(|mut file| {
            file.write_all(&line(&header)?)?;
            Ok(file)
        });
        let file = begun.map_err(|error| cannot_write(&path, error))?;
        Ok(Self {
            model,
            path,
            book: Mutex::new(Book {
                file,
                before: Asked::new(),
            }),
        })
    }
}

impl<M: Model> Model for RecordingModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn check_tools(&self, tools: &Definitions) -> Result<ToolReport, ToolSetError> {
        self.model.check_tools(tools)
    }

    fn stream<'a>(
        &'a self,
        request: Request<'a>,
    ) -> BoxFuture<'a, Result<ModelStream<'a>, ModelError>> {
        Box::pin(async move {
            let mut exchange = Exchange {
                book: &self.book,
                path: &self.path,
                asked: Some(asked(&request)),
                lines: Vec::new(),
            };
            let answer = match self.model.stream(request).await {
                Ok(answer) => answer,
                Err(error) => {
                    exchange.lines.push(Line::NoAnswer(Fault::from(&error)));
                    exchange.write()?;
                    return Err(error);
                }
            };
            let recorded = stream::unfold((answer, exchange), |(mut answer, mut exchange)| async {
                let event = answer.next().await;
                let event = match exchange.heard(event.as_ref()) {
                    Ok(()) => event,
                    Err(error) => Some(Err(error)),
                };
                Some((event?, (answer, exchange)))
            });
            Ok(recorded.boxed())
        })
    }
}

/// One request with what has been heard of its answer. Dropped before the end, it writes that.
struct Exchange<'a> {
    book: &'a Mutex<Book>,
    path: &'a Path,
    /// Nothing once it is written.
    asked: Option<Asked>,
    lines: Vec<Line>,
}

impl Exchange<'_> {
    fn heard(&mut self, event: Option<&Result<ModelEvent, ModelError>>) -> Result<(), ModelError> {
        let is_last = match event {
            Some(Ok(event)) => {
                self.lines.push(event.into());
                matches!(event, ModelEvent::Finished(_))
            }
            Some(Err(error)) => {
                self.lines.push(Line::BrokeOff(error.into()));
                true
            }
            // The stream is over, with or without a last word.
            None => true,
        };
        if is_last { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<(), ModelError> {
        let Some(asked) = self.asked.take() else {
            return Ok(());
        };
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        let request = Line::Request(news(&book.before, &asked));
        let written = std::iter::once(&request)
            .chain(&self.lines)
            .try_fold(Vec::new(), |mut bytes, value| {
                bytes.extend(line(value)?);
                Ok(bytes)
            })
            .and_then(|bytes: Vec<u8>| book.file.write_all(&bytes));
        book.before = asked;
        written.map_err(|error| cannot_write(self.path, error))
    }
}

impl Drop for Exchange<'_> {
    fn drop(&mut self) {
        if self.asked.is_none() {
            return;
        }
        self.lines.push(Line::Dropped);
        if let Err(error) = self.write() {
            tracing::warn!(%error, "the recording is not whole");
        }
    }
}

fn line(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

fn cannot_write(path: &Path, error: io::Error) -> ModelError {
    unusable(path, &format!("cannot be written: {error}")).with_source(error)
}

impl<M: Model> fmt::Debug for RecordingModel<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordingModel")
            .field("model", &self.model.name())
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
