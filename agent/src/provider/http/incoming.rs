use super::answer::Answer;
use super::endpoint::Limits;
use crate::model::{ModelError, ModelEvent};
use crate::provider::wire::Decoder;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a finished answer's connection may take to close, so that it can be used again.
const FAREWELL: Duration = Duration::from_millis(200);

/// A streamed answer while it arrives.
pub(super) struct Incoming {
    answer: Answer,
    decoder: Option<Decoder>,
    ready: VecDeque<ModelEvent>,
    failed: Option<ModelError>,
    fresh: Vec<ModelEvent>,
    limits: Limits,
    begun: bool,
}

impl Incoming {
    pub(super) fn new(answer: Answer, decoder: Decoder, limits: Limits) -> Self {
        Self {
            answer,
            decoder: Some(decoder),
            ready: VecDeque::new(),
            failed: None,
            fresh: Vec::new(),
            limits,
            begun: false,
        }
    }

    /// Reads until something of the answer is there to show, or its error.
    pub(super) async fn begin(mut self) -> Result<Self, ModelError> {
        while self.ready.is_empty() {
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.decoder.is_none() {
                break;
            }
            self.read().await;
        }
        Ok(self)
    }

    /// The next event; nothing after the last.
    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                return Some(Err(error));
            }
            self.decoder.as_ref()?;
            self.read().await;
        }
    }

    /// Takes one piece from the connection. What it brings stands in `ready`, an error after it in `failed`.
    async fn read(&mut self) {
        let Some(mut decoder) = self.decoder.take() else {
            return;
        };
        let limit = match (decoder.is_over(), self.begun) {
            (true, _) => FAREWELL,
            (false, true) => self.limits.silence,
            (false, false) => self.limits.first_byte,
        };
        let ended = match self.answer.chunk(limit).await {
            Ok(Some(bytes)) => {
                self.begun = true;
                let pushed = decoder.push(&bytes, &mut self.fresh);
                self.ready.extend(self.fresh.drain(..));
                match pushed {
                    Ok(()) => self.decoder = Some(decoder),
                    Err(error) => self.failed = Some(error),
                }
                return;
            }
            // Whatever the connection does after the last word, the answer is whole.
            _ if decoder.is_complete() => decoder.finish_into(&mut self.fresh),
            Ok(None) => decoder.finish_into(&mut self.fresh),
            Err(error) => Err(decoder.fail(error)),
        };
        self.ready.extend(self.fresh.drain(..));
        match ended {
            Ok(reply) => self.ready.push_back(ModelEvent::Finished(reply)),
            Err(error) => self.failed = Some(error),
        }
    }
}
