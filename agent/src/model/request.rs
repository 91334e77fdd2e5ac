use crate::message::Transcript;
use crate::tool::Definitions;

/// What a model is asked: all references, so that asking twice costs nothing.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// What the host tells the model before anything else.
    pub instructions: Option<&'a str>,
    /// The conversation so far.
    pub transcript: &'a Transcript,
    /// The tools that are offered in this request.
    pub tools: &'a Definitions,
    /// Limits and wishes.
    pub options: &'a RequestOptions,
}

impl<'a> Request<'a> {
    /// A request without instructions.
    pub fn new(
        transcript: &'a Transcript,
        tools: &'a Definitions,
        options: &'a RequestOptions,
    ) -> Self {
        Self {
            instructions: None,
            transcript,
            tools,
            options,
        }
    }

    /// The same request with instructions.
    #[must_use]
    pub fn with_instructions(mut self, instructions: &'a str) -> Self {
        self.instructions = Some(instructions);
        self
    }
}

/// What every protocol can be asked for.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RequestOptions {
    /// At most so many tokens in the answer.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// Whether and which tools the model must call; its own choice if this is not set.
    pub tool_choice: Option<ToolChoice>,
    /// Whether the model may ask for several calls at once; the provider's default if this is not set, which is yes.
    pub parallel_calls: Option<bool>,
}

/// What the model is to do with the tools that it is offered.
///
/// A choice where there are no tools, or of a tool that is not offered, is an error before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Call tools or answer, as it likes.
    Auto,
    /// Answer without calling any.
    None,
    /// Call at least one.
    Required,
    /// Call one of these.
    OneOf(Vec<String>),
}
