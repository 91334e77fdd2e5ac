//! What other systems make of the same input, vector by vector, and which of our tests holds what we make of it.

use tests::reports::Kept::{self, But, By};
use tests::reports::assert_vectors_kept;

const VECTORS: &[(&str, Kept)] = &[
    // The text of arguments: strict, repaired, cut off or no arguments at all.
    (
        "G1",
        By(&[
            "blank_is_an_empty_object_and_one_object_is_strict",
            "blank_arguments_are_an_empty_object",
        ]),
    ),
    (
        "G2",
        By(&[
            "blank_is_an_empty_object_and_one_object_is_strict",
            "strict_arguments_run_as_they_are",
        ]),
    ),
    (
        "G3",
        By(&[
            "mends_have_one_reading",
            "a_raw_newline_in_a_string_stays_a_newline",
        ]),
    ),
    (
        "G4",
        By(&[
            "mends_have_one_reading",
            "a_backslash_that_begins_no_escape_stays_a_backslash",
        ]),
    ),
    ("G5", By(CUT_OFF)),
    ("G6", By(CUT_OFF)),
    (
        "G7",
        But(
            &[
                "what_is_no_object_is_invalid_and_never_an_empty_object",
                "what_is_no_object_is_refused_with_its_reason",
                "null_in_the_place_of_arguments_means_none",
            ],
            "`null` alone is no object, and yet it says without a doubt that there are no arguments: it is answered as `{}` \
             is, so a tool that needs none runs",
        ),
    ),
    (
        "G8",
        By(&["mends_have_one_reading", "commas_too_many_are_dropped"]),
    ),
    (
        "G9",
        By(&["mends_have_one_reading", "commas_too_many_are_dropped"]),
    ),
    ("G10", By(CUT_OFF)),
    (
        "G11",
        By(&[
            "text_around_the_object_is_dropped_and_data_is_not",
            "words_around_the_object_are_dropped_and_noted",
            "a_tool_that_may_change_things_does_not_run_on_repaired_text",
            "the_policy_of_a_tool_decides_either_way",
        ]),
    ),
    ("G12", By(CUT_OFF)),
    // Values of another type than the schema's.
    (
        "G13",
        By(&[
            "an_integer_is_read_where_it_is_one_exactly",
            "booleans_become_numbers_only_where_that_was_asked",
        ]),
    ),
    ("G14", By(&["a_boolean_is_read_from_its_spellings_only"])),
    (
        "G15",
        By(&["a_string_takes_numbers_and_booleans_and_no_null"]),
    ),
    ("G16", By(&["no_number_is_nan"])),
    (
        "G17",
        By(&[
            "an_array_in_a_string_is_read",
            "with_coercion_off_nothing_is_coerced",
        ]),
    ),
    ("G18", By(&["a_blank_for_an_optional_is_null"])),
    (
        "G19",
        By(&["the_branch_that_fits_wins_before_any_coercion"]),
    ),
    (
        "G20",
        By(&["what_fits_two_of_which_one_is_wanted_is_refused"]),
    ),
    ("G21", By(&["an_integer_beyond_a_double_is_exact"])),
    (
        "G22",
        By(&["every_problem_is_told_in_the_order_of_declaration"]),
    ),
    // The loop.
    (
        "G23",
        By(&["results_stand_in_the_order_of_the_calls_not_of_their_ends"]),
    ),
    (
        "G24",
        By(&["a_run_ends_without_another_request_only_if_every_call_says_so_and_none_failed"]),
    ),
    (
        "G25",
        By(&[
            "a_call_that_cancellation_came_before_does_not_run_and_has_its_start_its_end_and_its_result",
        ]),
    ),
    (
        "G26",
        By(&["every_call_has_one_result_that_says_how_it_ended"]),
    ),
    ("G27", By(&["progress_after_the_end_of_a_call_is_dropped"])),
    (
        "G28",
        By(&[
            "a_request_that_cannot_be_met_is_an_error_of_its_own_each",
            "a_choice_that_cannot_be_met_is_an_error_before_anything_is_sent",
            "a_choice_that_the_tools_of_now_cannot_meet_is_an_error_before_anything_is_sent",
        ]),
    ),
    (
        "G29",
        By(&[
            "a_request_that_cannot_be_met_is_an_error_of_its_own_each",
            "a_choice_that_cannot_be_met_is_an_error_before_anything_is_sent",
            "options_of_one_protocol_are_said_by_it_and_refused_by_the_others",
        ]),
    ),
    (
        "G30",
        By(&["decisions_are_kept_by_the_id_of_the_call_in_whichever_order_they_come"]),
    ),
    (
        "G31",
        By(&["while_one_call_waits_none_of_its_batch_runs_and_then_each_runs_once"]),
    ),
    (
        "G32",
        By(&["results_of_at_least_so_many_bytes_are_kept_elsewhere"]),
    ),
];

/// What is cut off can be shown up to the cut, and never runs.
const CUT_OFF: &[&str] = &[
    "a_cut_text_is_partial_and_keeps_nothing_that_touches_the_cut",
    "what_is_cut_off_never_runs",
];

#[test]
fn every_golden_vector_has_a_test() {
    assert_vectors_kept(VECTORS);
}
