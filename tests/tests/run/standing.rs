//! What a person has decided for the rest of a run.

use crate::{Log, all_results, call, ends, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{Agent, Paused, State, ToolContext, Verdict, tool, tools};

/// Written as JSON and read again, as another process would.
fn moved(paused: &Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(paused).unwrap()).unwrap()
}

/// Pay somebody.
#[tool(needs_approval = is_much)]
async fn pay(
    /// How much.
    cents: u64,
    State(log): State<Log>,
) {
    log.say(format!("pay {cents}"));
}

fn is_much(cents: &u64) -> bool {
    *cents > 100
}

/// Pay a little by another tool.
#[tool]
async fn tip(cx: &ToolContext) -> String {
    let paid = cx.invoke("pay", r#"{"cents":1}"#).await;
    format!("{:?}: {}", paid.outcome, paid.text())
}

#[tokio::test]
async fn a_rejection_for_the_run_holds_where_nobody_would_be_asked_and_for_calls_of_other_tools() {
    let pays = |id: &str, cents: u64| call(id, "pay", &format!(r#"{{"cents":{cents}}}"#));
    for (beside, runs) in [
        (None, vec![]),
        // About that one a person has decided otherwise.
        (Some(Verdict::Approve), vec!["pay 200"]),
    ] {
        let log = Log::default();
        let steps = [
            Step::calls([pays("a", 5), pays("b", 500), pays("c", 200)]),
            Step::calls([pays("d", 6), call("e", "tip", "{}")]),
            Step::text("done"),
        ];
        let agent = Agent::builder(scripted(steps))
            .tools(tools![pay, tip])
            .state(log.clone())
            .build()
            .unwrap();
        let mut waits = moved(&agent.run("go").await.unwrap_err().into_paused().unwrap());
        let no = Verdict::RejectForRun("no payments".to_owned());
        waits.decide("b", no).unwrap();
        if let Some(verdict) = beside {
            waits.decide("c", verdict).unwrap();
        }
        let answer = agent.resume(moved(&waits)).await.unwrap();
        let ends = ends(&all_results(answer.transcript()));
        for at in [0, 1, 3] {
            assert_eq!(ends[at], (Outcome::Refused, "no payments".to_owned()));
        }
        assert_eq!(ends[4].1, "Refused: no payments");
        assert_eq!(log.all(), runs);
    }
}
