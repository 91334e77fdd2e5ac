use crate::tool::{BoxError, ToolError};
use agent_macros::tool;
use async_trait::async_trait;
use std::fmt::Write as _;
use std::sync::Arc;

/// Who searches the web for [`WebSearch`]: an engine behind an HTTP interface, an index of your own, a list in a test.
#[async_trait]
pub trait SearchBackend: Send + Sync + 'static {
    /// At most `count` results, the best first. The same question should give the same order.
    ///
    /// # Errors
    ///
    /// When it cannot be asked. The model reads the error's sentence: no key belongs in it.
    async fn search(&self, query: &str, count: usize) -> Result<Vec<SearchHit>, BoxError>;
}

/// One result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchHit {
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// A few words of it; may be empty.
    pub snippet: String,
}

/// Searching the web through a backend of the program's, for an agent's `.tools(..)` or
/// `.extension(..)`.
///
/// ```
/// use agent::BoxError;
/// use agent::toolkit::{SearchBackend, SearchHit, WebSearch};
///
/// struct Nothing;
///
/// #[async_trait::async_trait]
/// impl SearchBackend for Nothing {
///     async fn search(&self, _: &str, _: usize) -> Result<Vec<SearchHit>, BoxError> {
///         Ok(Vec::new())
///     }
/// }
///
/// let search = WebSearch::new(Nothing);
/// ```
#[derive(Debug)]
pub struct WebSearch<B> {
    backend: Arc<B>,
}

impl<B> Clone for WebSearch<B> {
    fn clone(&self) -> Self {
        Self {
            backend: Arc::clone(&self.backend),
        }
    }
}

/// How much of a title or of a snippet is shown, in bytes.
const MOST_TEXT: usize = 500;

impl<B: SearchBackend> WebSearch<B> {
    /// Searching with this backend.
    pub fn new(backend: B) -> Self {
        Self {
            backend: Arc::new(backend),
        }
    }
}

#[tool]
impl<B: SearchBackend> WebSearch<B> {
    /// Search the web. Returns titles, addresses and a few words of each result, the best first.
    #[tool(read_only, parallel, timeout = "1m")]
    #[expect(
        clippy::missing_errors_doc,
        reason = "the model reads what stands above"
    )]
    pub async fn web_search(
        &self,
        /// What to search for.
        #[arg(length = 1..=400)]
        query: &str,
        /// How many results at most.
        #[arg(range = 1..=20, default = 10)]
        count: usize,
    ) -> Result<String, ToolError> {
        let hits = self
            .backend
            .search(query, count)
            .await
            .map_err(|error| ToolError::new(format!("the search was not answered: {error}")))?;
        if hits.is_empty() {
            return Ok("no results".to_owned());
        }
        let mut text = String::new();
        for (place, hit) in hits.iter().take(count).enumerate() {
            let (title, snippet) = (line(&hit.title), line(&hit.snippet));
            let _ = write!(text, "{}. {title}\n   {}\n", place + 1, line(&hit.url));
            if !snippet.is_empty() {
                let _ = writeln!(text, "   {snippet}");
            }
        }
        Ok(text)
    }
}

/// On one line, and no longer than it should be.
fn line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.get(..line.floor_char_boundary(MOST_TEXT)) {
        Some(start) if start.len() < line.len() => format!("{start}…"),
        _ => line,
    }
}
