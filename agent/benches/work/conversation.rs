//! A conversation of many turns of four calls: through the framework, and by hand.

use super::in_memory::{Conversation, call_id};
use super::{SMALL, by_hand, tools};
use futures_util::future::join_all;
use std::hint::black_box;

/// How many calls a turn has.
pub(crate) const CALLS: usize = 4;

/// Through the framework.
pub(crate) fn by_agent() -> Conversation {
    Conversation::new(tools::set(), SMALL)
}

struct Call {
    id: String,
    name: String,
    arguments: String,
}

enum Message {
    User(String),
    Assistant { text: String, calls: Vec<Call> },
    Result { id: String, content: String },
}

/// The same by hand: one growing list, lent to the model, and the calls of a turn at once.
pub(crate) async fn by_hand(turns: usize) -> String {
    let mut left = turns;
    let mut model = async |history: &[Message]| {
        black_box(history);
        if left == 0 {
            return ("done".to_owned(), Vec::new());
        }
        left -= 1;
        let call = |at| Call {
            id: call_id(left, at),
            name: "get_weather".to_owned(),
            arguments: SMALL.to_owned(),
        };
        (String::new(), (0..CALLS).map(call).collect())
    };
    let mut history = vec![Message::User("go".to_owned())];
    loop {
        let (text, calls) = model(&history).await;
        if calls.is_empty() {
            return text;
        }
        let running = calls
            .iter()
            .map(|call| by_hand::call(&call.name, &call.arguments));
        let ended = join_all(running).await;
        let results = calls
            .iter()
            .zip(ended)
            .map(|(call, ended)| Message::Result {
                id: call.id.clone(),
                content: ended.unwrap_or_else(|error| error),
            });
        let results: Vec<_> = results.collect();
        history.push(Message::Assistant { text, calls });
        history.extend(results);
    }
}
