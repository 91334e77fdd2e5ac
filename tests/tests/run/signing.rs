//! Runs and decisions that leave the host and come back.

use crate::{Log, notes, noting, scripted};
use agent::model::Step;
use agent::{Agent, DecisionError, Paused, SealError, SigningKey, Verdict};

fn agent(steps: impl IntoIterator<Item = Step>, log: &Log) -> Agent {
    let set = notes(log).with_policy("note", |policy| policy.needs_approval = true);
    Agent::builder::<()>(scripted(steps))
        .tools(set.unwrap())
        .build()
        .unwrap()
}

async fn paused(agent: &Agent) -> Paused {
    agent.run("go").await.unwrap_err().into_paused().unwrap()
}

fn key(byte: u8) -> SigningKey {
    SigningKey::new([byte; 32]).unwrap()
}

fn ticket(paused: &Paused, id: &str, key: &SigningKey) -> String {
    paused
        .pending()
        .find(|call| call.id() == id)
        .unwrap()
        .ticket(key)
}

#[test]
fn a_key_that_is_too_short_is_refused_and_none_shows_itself() {
    assert_eq!(
        SigningKey::new([1; 31]).unwrap_err(),
        SealError::ShortKey(31)
    );
    assert_eq!(format!("{:?}", key(1)), "SigningKey");
}

#[tokio::test]
async fn a_sealed_run_comes_back_whole_or_not_at_all() {
    let log = Log::default();
    let waits = paused(&agent([Step::call(noting("a"))], &log)).await;
    let sealed = waits.seal(&key(1)).unwrap();
    let back = Paused::unseal(&key(1), &sealed).unwrap();
    assert_eq!(back.run_id(), waits.run_id());

    let with_other_text = sealed.replace(r#"\"what\":\"a\""#, r#"\"what\":\"b\""#);
    assert_ne!(with_other_text, sealed);
    let (signature, json) = sealed.split_once('.').unwrap();
    for forged in [
        with_other_text,
        format!("{json}.{json}"),
        format!(".{json}"),
        json.to_owned(),
        String::new(),
        format!("{}.{json}", &signature[..signature.len() - 2]),
        format!("{signature}ä.{json}"),
    ] {
        assert_eq!(
            Paused::unseal(&key(1), &forged).unwrap_err(),
            SealError::Forged
        );
    }
    assert_eq!(
        Paused::unseal(&key(2), &sealed).unwrap_err(),
        SealError::Forged
    );
}

#[tokio::test]
async fn a_ticket_is_good_for_one_call_of_one_turn_of_one_run_with_its_arguments() {
    let log = Log::default();
    let two = || Step::calls([noting("a"), noting("b")]);
    let agent = agent([two(), two(), two()], &log);
    let (mut first, other) = (paused(&agent).await, paused(&agent).await);
    let good = ticket(&first, "a", &key(1));
    let foreign = DecisionError::Foreign("a".to_owned());
    for (what, bad) in [
        ("forged", "00".repeat(32)),
        ("no signature", "go on".to_owned()),
        ("empty", String::new()),
        ("of another key", ticket(&first, "a", &key(2))),
        ("of another call", ticket(&first, "b", &key(1))),
        ("of another run", ticket(&other, "a", &key(1))),
    ] {
        let taken = first.decide_with_ticket(&key(1), "a", &bad, Verdict::Approve);
        assert_eq!(taken.unwrap_err(), foreign, "{what}");
    }
    assert!(log.all().is_empty());
    first
        .decide_with_ticket(&key(1), "a", &good, Verdict::Approve)
        .unwrap();
    let again = first.decide_with_ticket(&key(1), "a", &good, Verdict::Approve);
    assert_eq!(
        again.unwrap_err(),
        DecisionError::NotWaiting("a".to_owned())
    );
    let no = Verdict::Reject(String::new());
    first.decide("b", no).unwrap();

    // The next turn has calls of the same arguments, and the old ticket is stale.
    let mut next = agent
        .resume(first)
        .await
        .unwrap_err()
        .into_paused()
        .unwrap();
    let id = next.pending().next().unwrap().id().to_owned();
    let stale = next.decide_with_ticket(&key(1), &id, &good, Verdict::Approve);
    assert_eq!(stale.unwrap_err(), DecisionError::Foreign(id));
}

#[tokio::test]
async fn a_ticket_does_not_survive_a_change_of_what_was_shown() {
    let log = Log::default();
    let agent = agent([Step::call(noting("a"))], &log);
    let waits = paused(&agent).await;
    let good = ticket(&waits, "a", &key(1));
    let json = serde_json::to_string(&waits).unwrap();
    let moved = json.replace(r#"\"what\":\"a\""#, r#"\"what\":\"c\""#);
    assert_ne!(json, moved);
    let mut changed: Paused = serde_json::from_str(&moved).unwrap();
    let taken = changed.decide_with_ticket(&key(1), "a", &good, Verdict::Approve);
    assert_eq!(taken.unwrap_err(), DecisionError::Foreign("a".to_owned()));
}
