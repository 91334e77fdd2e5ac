use super::model::HttpModel;
use super::tape::{Player, Recorder, Tape};
use crate::model::ModelError;
use crate::provider::wire::Wire;
use std::path::PathBuf;
use std::sync::Arc;

impl<W: Wire> HttpModel<W> {
    /// Keeps every exchange with the server in a new file, in place of an older one, for
    /// [`replay_from`](Self::replay_from): a value a line, in JSON.
    ///
    /// The file holds requests and answers whole: look through it before you show it to others. No header of a request
    /// comes there, of an answer's only those that mean something to this crate, of a query only the names; the key and
    /// the values of added headers are replaced by stars wherever a server repeats them. Each exchange is written when it
    /// ends, with calls that block for as long as the disk takes: this is for tests.
    ///
    /// [`RecordingModel`](crate::model::RecordingModel) keeps the conversation of any model; this keeps what the wire
    /// said, piece by piece.
    ///
    /// ```no_run
    /// use agent::provider::openai_chat::OpenAiChat;
    ///
    /// let real = OpenAiChat::new("gpt-5-mini").api_key("sk-..").record_to("tests/weather.jsonl")?;
    /// let played = OpenAiChat::new("gpt-5-mini").replay_from("tests/weather.jsonl")?;
    /// # drop((real, played));
    /// # Ok::<(), agent::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn record_to(mut self, path: impl Into<PathBuf>) -> Result<Self, ModelError> {
        self.tape = Some(Tape::Record(Arc::new(Recorder::create(path.into())?)));
        Ok(self)
    }

    /// Answers from a recording, in the pieces in which the answers came, without a server, a key or a wait.
    ///
    /// It answers the requests that were recorded and no others, each once. One that differs is an error that says where.
    ///
    /// # Errors
    ///
    /// When there is no such file, it is no recording of HTTP, or one of a version that this build does not know.
    pub fn replay_from(mut self, path: impl Into<PathBuf>) -> Result<Self, ModelError> {
        self.tape = Some(Tape::Replay(Arc::new(Player::open(path.into())?)));
        Ok(self)
    }

    /// How many exchanges of the recording have not been played yet; none if nothing is played back.
    pub fn remaining(&self) -> usize {
        match &self.tape {
            Some(Tape::Replay(player)) => player.remaining(),
            _ => 0,
        }
    }
}
