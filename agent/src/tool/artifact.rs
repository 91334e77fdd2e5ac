//! Results that are too large for the model: kept whole elsewhere, and read in ranges.

use super::body::{End, Ended};
use super::built_in::BuiltIn;
use super::definition::Tool;
use super::{BoxError, ToolContext, ToolError, ToolSetError};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// A text that a tool answered with and that is too large for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The tool that made it.
    pub tool: String,
    /// The call that it answers.
    pub call_id: String,
    /// All of it.
    pub text: String,
}

impl Artifact {
    /// What the call `call_id` of `tool` answered with.
    pub fn new(
        tool: impl Into<String>,
        call_id: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        Self {
            tool: tool.into(),
            call_id: call_id.into(),
            text: text.into(),
        }
    }
}

/// Where artifacts are kept.
///
/// An implementation must give back the very bytes that it was given, as long as the transcripts live that name them, and
/// must not find an artifact under any id but the one that it gave out for it. The ids go to the model and come back from
/// it: whoever can guess one can read the artifact, so an id is random or names nothing outside of its run.
#[async_trait]
pub trait ArtifactStore: Send + Sync {
    /// Keeps an artifact and gives it an id of letters, digits, `-` and `_`.
    ///
    /// # Errors
    ///
    /// When it cannot be kept. The result then stays in the transcript, cut to its limit.
    async fn put(&self, artifact: Artifact) -> Result<String, BoxError>;

    /// The whole text of an artifact; `None` if there is none of this id.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    async fn get(&self, id: &str) -> Result<Option<String>, BoxError>;
}

/// Artifacts in memory, for as long as the process lives.
#[derive(Default)]
pub struct MemoryArtifacts(Mutex<Vec<(String, Artifact)>>);

impl MemoryArtifacts {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl ArtifactStore for MemoryArtifacts {
    async fn put(&self, artifact: Artifact) -> Result<String, BoxError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!(
            "artifact_{}_{}",
            kept.len() + 1,
            crate::message::fresh_name()
        );
        kept.push((id.clone(), artifact));
        Ok(id)
    }

    async fn get(&self, id: &str) -> Result<Option<String>, BoxError> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| known == id);
        Ok(found.map(|(_, artifact)| artifact.text.clone()))
    }
}

impl fmt::Debug for MemoryArtifacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_struct("MemoryArtifacts")
            .field("kept", &kept.len())
            .finish()
    }
}

/// The name of the tool that reads artifacts.
pub(crate) const READ_ARTIFACT: &str = "read_artifact";

/// How many bytes one call reads unless it asks for less.
const MOST_READ: usize = 32 * 1024;

#[derive(Deserialize, JsonSchema)]
struct Range {
    /// The id of the artifact, as a result named it.
    id: String,
    /// Where to begin, in bytes from the start; 0 if left out.
    offset: Option<u64>,
    /// How many bytes at most; 32768 if left out, which is also the most.
    #[schemars(range(min = 1, max = 32768))]
    length: Option<u64>,
}

impl Tool {
    /// The tool `read_artifact`, by which the model reads ranges of what was too large for it. An agent that is given an
    /// artifact store has it already.
    ///
    /// # Errors
    ///
    /// Never in practice: its name and schema are fixed.
    pub fn read_artifact(store: Arc<dyn ArtifactStore>) -> Result<Self, ToolSetError> {
        let tool = Self::built_in(
            READ_ARTIFACT,
            "Read a part of a result that was too large to be shown whole.",
            ReadArtifact(store),
        )?;
        Ok(tool.with_policy(|policy| {
            policy.read_only = true;
            policy.idempotent = true;
            policy.offload_at = Some(usize::MAX);
        }))
    }
}

struct ReadArtifact(Arc<dyn ArtifactStore>);

impl BuiltIn for ReadArtifact {
    type Arguments = Range;

    async fn run(&self, range: Range, _: &ToolContext) -> End {
        let text = self.0.get(&range.id).await.map_err(ToolError::internal)?;
        let Some(text) = text else {
            return Err(ToolError::new(format!(
                "there is no artifact `{}`; use the id that a result named",
                shortened(&range.id)
            )));
        };
        Ok(Ended::Text(part(&text, &range)))
    }
}

fn part(text: &str, range: &Range) -> String {
    let at = |offset: u64| {
        usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(text.len())
    };
    let start = text.floor_char_boundary(at(range.offset.unwrap_or(0)));
    let length = range.length.map_or(MOST_READ, at).min(MOST_READ);
    let mut end = text.floor_char_boundary(start.saturating_add(length));
    if end == start && start < text.len() {
        // A letter is read whole, however little was asked for.
        end = text.ceil_char_boundary(start + 1);
    }
    let shown = text.get(start..end).unwrap_or_default();
    let left = text.len() - end;
    let more = if left == 0 {
        "this is the end".to_owned()
    } else {
        format!("{left} more from offset {end}")
    };
    let note = format!("\n[bytes {start} to {end} of {}; {more}]", text.len());
    shown.to_owned() + &note
}

fn shortened(id: &str) -> &str {
    id.get(..id.floor_char_boundary(64)).unwrap_or_default()
}
