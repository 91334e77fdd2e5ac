//! Chunks that say nothing but more of one text, as nearly all do.

use super::chunk::{Call, Chunk, Delta};
use crate::provider::json::StrictText;

/// All that a chunk says, where that is more of one text.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnlyText<'a> {
    /// The piece, as it stands in the chunk.
    pub(super) text: &'a str,
    /// The number of the call whose arguments it is; else it is the answer's own text.
    pub(super) call: Option<u64>,
}

impl<'a> Chunk<'a, StrictText<'a>> {
    /// What the chunk says, where it says nothing but a text.
    pub(super) fn only_text(&self) -> Option<OnlyText<'a>> {
        let choice = self.choices.only()?;
        let reports = [
            self.usage,
            self.x_groq,
            self.error,
            choice.usage,
            choice.error,
        ];
        let says_more = reports.iter().any(|report| report.get().is_some())
            || choice.index.0.is_some_and(|index| index != 0)
            || choice.finish_reason.as_str().is_some()
            || choice.message.is_some();
        match &choice.delta {
            Some(delta) if !says_more => delta.only_text(),
            _ => None,
        }
    }
}

impl<'a> Delta<'a, StrictText<'a>> {
    fn only_text(&self) -> Option<OnlyText<'a>> {
        let texts = [
            &self.refusal,
            &self.reasoning_content,
            &self.reasoning,
            &self.reasoning_text,
        ];
        let raw = [
            self.reasoning_opaque,
            self.reasoning_details,
            self.thinking_blocks,
            self.extra_content,
        ];
        let says_more = texts.iter().any(|text| text.as_str().is_some())
            || raw.iter().any(|value| value.get().is_some())
            || self.thought.as_str().is_some()
            || self.function_call.is_some()
            || !self.thoughts.is_empty();
        if says_more {
            return None;
        }
        match self.content.filled() {
            Some(_) if self.tool_calls.is_empty() => Some(OnlyText {
                text: self.content.lent()?,
                call: None,
            }),
            Some(_) => None,
            None => self.tool_calls.only()?.only_text(),
        }
    }
}

impl<'a> Call<'a, StrictText<'a>> {
    fn only_text(&self) -> Option<OnlyText<'a>> {
        let function = self.function.as_ref()?;
        let says_more = self.id.as_str().is_some()
            || function.name.as_str().is_some()
            || self.custom.is_some()
            || self.extra_content.get().is_some()
            || self.provider_specific_fields.get().is_some();
        if says_more {
            return None;
        }
        Some(OnlyText {
            text: function.arguments.lent()?,
            call: Some(self.index.0?),
        })
    }
}
