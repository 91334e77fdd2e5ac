//! What users of other frameworks reported of runs with tools: each a rule of ours, with the tests that hold it.

use crate::{call, ends, results, scripted};
use agent::message::Outcome;
use agent::model::Step;
use agent::{Agent, Before, ToolSet, before_calls, tool, tools};
use std::sync::Arc;
use tests::reports::Kept::{But, By, Not};
use tests::reports::{Kept, assert_kept};

const REPORTS: &[(&str, Kept)] = &[
    (
        "D01",
        By(&[
            "each_limit_ends_the_run_where_it_says_and_keeps_what_was_done",
            "a_limit_error_owns_the_usage_and_the_turns",
        ]),
    ),
    (
        "D03",
        By(&["a_forced_choice_and_a_limit_of_calls_come_to_an_end"]),
    ),
    (
        "D08",
        By(&[
            "results_stand_in_the_order_of_the_calls_not_of_their_ends",
            "a_call_that_is_refused_at_once_does_not_overtake_a_slow_one",
        ]),
    ),
    (
        "D09",
        By(&[
            "a_run_ends_without_another_request_only_if_every_call_says_so_and_none_failed",
            "a_hook_after_a_call_changes_its_result_and_says_whether_the_run_ends",
        ]),
    ),
    (
        "D10",
        By(&["after_cancellation_nothing_starts_and_every_call_has_its_result"]),
    ),
    (
        "D11",
        By(&["the_time_of_a_run_is_over_in_the_middle_of_a_call_and_no_later_one_starts"]),
    ),
    (
        "D12",
        By(&["one_call_that_fails_takes_nothing_from_the_others_nor_from_the_next_batch"]),
    ),
    (
        "D13",
        By(&["two_tools_of_one_name_are_refused_with_both_origins"]),
    ),
    (
        "D16",
        By(&["hooks_after_a_call_see_every_end_with_its_outcome"]),
    ),
    (
        "D19",
        But(
            &[
                "the_model_reads_an_errors_sentence_and_of_an_internal_one_nothing",
                "of_an_internal_error_the_host_sees_all_and_the_model_nothing",
            ],
            "the outermost sentence of an error is shown unless its author or the host says internal or chooses a text: \
             too generic a message makes models repeat themselves; sources, chains and `Debug` texts are never shown",
        ),
    ),
    (
        "D20",
        By(&[
            "the_model_reads_an_errors_sentence_and_of_an_internal_one_nothing",
            "the_tool_says_what_becomes_of_its_errors_then_the_set_then_the_agent",
        ]),
    ),
    (
        "D21",
        By(&[
            "whatever_made_a_result_it_is_cut_in_one_place_with_its_data_and_details",
            "results_have_a_limit_that_nobody_has_set",
        ]),
    ),
    (
        "D22",
        By(&["whatever_made_a_result_it_is_cut_in_one_place_with_its_data_and_details"]),
    ),
    ("D24", By(&["two_calls_that_say_the_same_are_two_calls"])),
    (
        "D26",
        By(&["a_rewrite_repairs_before_the_check_and_a_hook_is_checked_after"]),
    ),
    (
        "D27",
        By(&["each_refused_call_has_the_text_of_its_own_refusal"]),
    ),
    (
        "D28",
        Not(
            "no tools are taken from servers of MCP yet; whoever does so pages through their lists",
        ),
    ),
    (
        "D30",
        By(&[
            "servers_that_say_that_a_conversation_is_too_long_are_understood",
            "without_a_compactor_it_is_an_error_of_its_own_that_keeps_the_history",
        ]),
    ),
];

#[test]
fn each_report_of_runs_has_a_test_or_a_reason() {
    assert_kept(&["D"], REPORTS);
}

/// Take as long as others let it.
#[tool]
async fn slow() -> &'static str {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    "slowly"
}

#[tokio::test]
async fn a_call_that_is_refused_at_once_does_not_overtake_a_slow_one() {
    let two = [call("1", "slow", "{}"), call("2", "slow", "{}")];
    let model = scripted([Step::calls(two), Step::text("done")]);
    let agent = Agent::builder(Arc::clone(&model))
        .tools(tools![slow])
        .hook(before_calls("refuses", |call| {
            match call.call().id.as_str() {
                "2" => Before::Refuse("no".to_owned()),
                _ => Before::Run,
            }
        }))
        .build()
        .unwrap();
    assert_eq!(
        ends(&results(&agent, &model).await),
        [
            (Outcome::Done, "slowly".to_owned()),
            (Outcome::Refused, "no".to_owned())
        ]
    );
}

mod other {
    use agent::tool;

    /// Take no time.
    #[tool(inline)]
    pub(super) fn slow() {}
}

#[test]
fn two_tools_of_one_name_are_refused_with_both_origins() {
    let one = tools![slow].into_set().unwrap();
    let error = one
        .merge(tools![other::slow].into_set().unwrap())
        .unwrap_err();
    let message = error.to_string();
    assert_eq!(message.matches("reports.rs").count(), 2, "{message}");
    let tool = || tools![slow].into_set().unwrap().remove("slow").unwrap();
    let same = ToolSet::from_tools([tool(), tool()]);
    assert!(same.is_err(), "nor the same one twice");
}

/// Double a number.
#[tool(inline)]
fn double(
    /// The number.
    n: u32,
) -> u32 {
    n * 2
}

#[tokio::test]
async fn a_rewrite_repairs_before_the_check_and_a_hook_is_checked_after() {
    let number = |id, n: &str| call(id, "double", &format!("{{\"n\":{n}}}"));
    let model = scripted([
        Step::calls([number("1", r#""five""#), number("2", "7")]),
        Step::text("done"),
    ]);
    let set = tools![double]
        .into_set()
        .unwrap()
        .with_rewrite(|arguments| {
            if let Some(agent::json::Json::String(five)) = arguments.get_mut("n")
                && *five == "five"
            {
                *five = "5".into();
            }
        });
    let agent = Agent::builder::<()>(Arc::clone(&model))
        .tools(set)
        .hook(before_calls("wrong", |call| {
            match call.call().id.as_str() {
                "2" => Before::Rewrite(r#"{"n":-1}"#.to_owned()),
                _ => Before::Run,
            }
        }))
        .build()
        .unwrap();
    let results = results(&agent, &model).await;
    assert_eq!(results[0].text(), "10");
    assert_eq!(results[1].outcome, Outcome::BadArguments);
}
