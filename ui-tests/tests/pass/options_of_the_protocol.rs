use agent::model::RequestOptions;
use agent::provider::anthropic::{self, Anthropic};
use agent::provider::openai_chat::{self, OpenAiChat};
use agent::provider::openai_responses::{self, OpenAiResponses};

fn main() {
    let _ = OpenAiChat::new("m").options(openai_chat::Options::default());
    let _ = OpenAiResponses::new("m").options(openai_responses::Options::default());
    let _ = Anthropic::new("m").options(anthropic::Options::default());
    // Where the model is chosen at run time, either compiles, and a model of the other protocol says so.
    let _ = RequestOptions::default().for_protocol(anthropic::Options::default());
}
