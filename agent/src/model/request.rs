use super::RequestOptions;
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
