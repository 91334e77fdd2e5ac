//! Words for stopping that mean the same over every protocol: gateways write their own provider's word, whatever they
//! speak.

use crate::message::StopReason;

/// Our reading of a word that says that the answer is not whole; nothing for any other word.
pub(super) fn broken_off(word: &str) -> Option<StopReason> {
    Some(match word.to_ascii_lowercase().as_str() {
        // `model_length` is Mistral's.
        "length"
        | "max_tokens"
        | "max_output_tokens"
        | "max_length"
        | "max_completion_tokens"
        | "token_limit"
        | "model_length"
        | "model_context_window_exceeded" => StopReason::Length,
        // Gemini's, Zhipu's, Bedrock's.
        "content_filter"
        | "content_filtered"
        | "safety"
        | "recitation"
        | "blocklist"
        | "prohibited_content"
        | "spii"
        | "sensitive"
        | "guardrail_intervened" => StopReason::ContentFilter,
        "refusal" => StopReason::Refusal,
        // DeepSeek's, Zhipu's, Gemini's, vLLM's; what a run of a server says that was told to stop.
        "error"
        | "failed"
        | "insufficient_system_resource"
        | "network_error"
        | "malformed_function_call"
        | "abort"
        | "aborted"
        | "cancelled"
        | "canceled"
        | "interrupted"
        | "timeout" => StopReason::Error,
        _ => return None,
    })
}

/// Whether this word says that the model has said what it wanted to say.
pub(super) fn is_done(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    [
        "stop",
        "end_turn",
        "stop_sequence",
        "stop_token",
        "eos",
        "eos_token",
        "complete",
        "completed",
        "done",
        "finish",
        "finished",
    ]
    .contains(&word.as_str())
}

/// Whether this word says that the model wants its calls answered.
pub(super) fn is_tool_use(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    ["tool_calls", "tool_call", "tool_use", "function_call"].contains(&word.as_str())
}

/// Whether this is a word at all. Some servers write an empty one, or a null in quotes, as long as they have not stopped.
pub(super) fn is_word(word: &str) -> bool {
    !word.is_empty() && !word.eq_ignore_ascii_case("null")
}
