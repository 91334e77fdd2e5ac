//! What users of other frameworks reported of tools that touch files and processes, and which of our tests holds what they
//! expected.

use tests::reports::Kept::{self, By};
use tests::reports::assert_kept;

const REPORTS: &[(&str, Kept)] = &[
    (
        "F01",
        By(&[
            "a_folder_holds_itself_and_what_is_below_it_and_nothing_that_is_only_named_like_it",
            "what_is_outside_is_refused_in_the_same_words_whether_it_exists_or_not",
        ]),
    ),
    (
        "F02",
        By(&[
            "a_path_is_read_name_by_name_and_what_leads_out_is_refused",
            "no_path_leads_out",
        ]),
    ),
    (
        "F04",
        By(&["a_search_follows_no_link_ends_in_a_circle_and_meets_each_file_once"]),
    ),
    (
        "F05",
        By(&["an_edit_of_what_is_there_twice_changes_nothing_and_says_how_often"]),
    ),
    ("F06", By(&["places_that_overlap_are_counted_each"])),
    (
        "F08",
        By(&[
            "what_is_there_several_times_is_not_replaced_but_listed_with_its_lines",
            "the_places_that_an_error_lists_are_bounded",
        ]),
    ),
    (
        "F09",
        By(&[
            "line_ends_fit_the_file_whichever_the_model_writes",
            "a_file_keeps_its_encoding_mark_line_ends_and_last_line_end",
        ]),
    ),
    ("F12", By(&["read_grep_and_edit_agree_on_what_is_text"])),
    (
        "F13",
        By(&[
            "a_cut_is_between_characters_whatever_the_limit",
            "no_limit_cuts_a_character",
        ]),
    ),
    (
        "F14",
        By(&["a_background_child_that_keeps_the_pipe_open_does_not_hold_the_call"]),
    ),
    (
        "F16",
        By(&[
            "nothing_outlives_a_time_out",
            "nothing_outlives_a_call_that_is_dropped",
            "nothing_outlives_a_call_that_is_cancelled",
            "a_time_out_is_an_error_that_carries_what_was_printed",
        ]),
    ),
    ("F18", By(&["there_is_nothing_to_read_and_no_terminal"])),
    (
        "F21",
        By(&["results_are_in_the_order_of_full_paths_before_any_cut_and_the_same_every_time"]),
    ),
    (
        "F22",
        By(&[
            "a_file_that_is_written_keeps_its_mode",
            "an_edit_keeps_the_mode_of_the_file",
        ]),
    ),
];

#[test]
fn each_report_of_built_in_tools_has_a_test() {
    assert_kept(&["F"], REPORTS);
}
