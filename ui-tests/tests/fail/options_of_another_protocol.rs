use agent::model::RequestOptions;
use agent::provider::anthropic::{self, Anthropic};
use agent::provider::openai_chat::{self, OpenAiChat};
use agent::provider::openai_responses::{self, OpenAiResponses};

fn main() {
    let _ = OpenAiChat::new("m").options(anthropic::Options::default());
    let _ = Anthropic::new("m").options(openai_responses::Options::default());
    let _ = OpenAiResponses::new("m").options(openai_chat::Options::default());
    // Of a protocol, or of nobody.
    let _ = RequestOptions::default().for_protocol(7);
}
