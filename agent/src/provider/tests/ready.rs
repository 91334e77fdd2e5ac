use super::*;
use crate::provider::RequestBody;
use proptest::prelude::*;

/// What these messages become for this target, and in how many pieces.
fn encoded(wire: &dyn Wire, transcript: &Transcript, target: &Target<'_>) -> RequestBody {
    let (tools, options) = (Definitions::default(), RequestOptions::default());
    let request = Request::new(transcript, &tools, &options);
    wire.encode(&request, target).unwrap()
}

/// Messages of every kind, in any order: also such as no run makes.
fn message() -> impl Strategy<Value = Message> {
    let words = |at: usize| ["", "hm", "ein Wort", "\u{1f980}\"\\\n"][at];
    (0..9_usize, 0..4_usize, 0..3_usize).prop_map(move |(kind, word, id)| {
        let id = ["a", "functions.b:1", "c"][id];
        match kind {
            0 => Message::user(words(word)),
            1 => Message::User {
                content: vec![png().into(), png().into(), words(word).into()],
            },
            2 => Message::results([result(id, Outcome::Failed, vec![png().into()])]),
            3 | 4 => Message::results([
                result(id, Outcome::Done, vec![words(word).into()]),
                result("c", Outcome::Done, vec![]),
            ]),
            5 => Message::assistant(Reply::new([Part::reasoning(words(word))], StopReason::Stop)),
            6 => Message::assistant(Reply::new([Part::text(words(word))], StopReason::Stop)),
            7 => {
                let custom = r#"{"type":"custom_tool_call","id":"ctc"}"#;
                let call = call(id, "SELECT 1").with_echo(echo(Protocol::OpenaiResponses, custom));
                Message::assistant(Reply::new([call], StopReason::ToolUse))
            }
            _ => transcript()[1].clone(),
        }
    })
}

proptest! {
    #[test]
    fn a_body_is_the_same_however_its_conversation_grew(
        messages in prop::collection::vec(message(), 0..12),
        asked in prop::collection::vec(any::<bool>(), 12),
    ) {
        let fields = BodyFields::new();
        let whole = Transcript::from(messages.clone());
        let mut grown = Transcript::new();
        for (at, message) in messages.into_iter().enumerate() {
            grown.push(message);
            for wire in protocols().filter(|_| asked[at]) {
                encoded(wire, &grown, &Target::new("m", &fields));
            }
        }
        // Another reader than before, one that does not see, and one of another server.
        let mut others = [Target::new("m", &fields); 3];
        others[1].images = false;
        others[2].origin = Some("https://other.example");
        for wire in protocols() {
            for target in &others {
                let at_once = encoded(wire, &whole.iter().cloned().collect(), target).to_vec();
                let body = encoded(wire, &grown, target).to_vec();
                prop_assert_eq!(String::from_utf8(at_once), String::from_utf8(body.clone()));
                prop_assert!(serde_json::from_slice::<Value>(&body).is_ok());
            }
        }
    }
}

#[test]
fn what_was_sent_is_sent_again_from_the_same_bytes() {
    let fields = BodyFields::new();
    let target = Target::new("m", &fields);
    for wire in protocols() {
        let mut grown = transcript();
        let last = |body: &RequestBody| {
            let pieces: Vec<(usize, usize)> = body
                .pieces()
                .map(|piece| (piece.as_ptr() as usize, piece.len()))
                .collect();
            // Before it the head, behind it what is open and the end.
            pieces[1]
        };
        let first = encoded(wire, &grown, &target);
        let again = encoded(wire, &grown.clone(), &target);
        assert_eq!(last(&first), last(&again), "{}", wire.protocol());

        // A longer conversation keeps what is long as it is.
        let long = "x".repeat(100_000);
        grown.push(Message::assistant(Reply::new(
            [Part::text(long)],
            StopReason::Stop,
        )));
        let first = encoded(wire, &grown, &target);
        grown.push(Message::user("and?"));
        let second = encoded(wire, &grown, &target);
        assert_eq!(last(&first), last(&second), "{}", wire.protocol());

        // What is put together anew begins without.
        let anew = encoded(wire, &grown.iter().cloned().collect(), &target);
        assert_ne!(last(&first), last(&anew), "{}", wire.protocol());
        assert_eq!(second.to_vec(), anew.to_vec());
    }
}
