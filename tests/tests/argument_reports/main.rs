//! What users of other frameworks reported of schemas and of arguments (kinds A and B), each a rule of ours.
//!
//! Below is what became of each report. `schemas` and `calls` hold those rules that are told best with the report's own
//! function; the others stand with their like.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::unused_async,
    clippy::needless_pass_by_value,
    reason = "the tools are written as people write them"
)]

mod calls;
mod schemas;

use tests::reports::Kept::{But, By};
use tests::reports::{Kept, assert_kept};

const SCHEMAS: &[(&str, Kept)] = &[
    (
        "A02",
        By(&["a02_an_enum_is_inlined_and_accepts_what_it_did"]),
    ),
    (
        "A03",
        By(&[
            "a03_what_stands_beside_a_reference_is_meant_too",
            "siblings_of_a_reference_are_an_intersection",
        ]),
    ),
    (
        "A05",
        By(&["a05_one_description_with_the_parameter_s_text_first"]),
    ),
    (
        "A08",
        By(&[
            "a08_an_optional_is_required_only_where_all_must_be_and_null_is_none",
            "a08_d21_an_optional_is_required_and_nullable_only_where_all_must_be_required",
        ]),
    ),
    (
        "A10",
        By(&[
            "a10_a_map_goes_out_without_strict_and_as_a_map",
            "a10_a_map_is_never_strict_and_never_an_empty_object",
        ]),
    ),
    ("A12", By(&["a12_a_tuple_is_never_half_converted"])),
    (
        "A15",
        By(&["a15_what_is_said_of_the_whole_is_said_in_the_description_and_still_checked"]),
    ),
    (
        "A17",
        By(&["a17_objects_name_their_properties_and_literals_stay_as_they_are"]),
    ),
    (
        "A18",
        By(&[
            "a18_any_value_is_an_empty_schema_and_never_true",
            "a18_a19_a27_a_schema_is_an_object_and_an_array_has_items",
        ]),
    ),
    (
        "A19",
        By(&["a19_a_boolean_schema_takes_no_tool_away_and_an_unusable_one_only_its_own"]),
    ),
    (
        "A24",
        By(&[
            "a24_integer_formats_of_others_become_bounds",
            "a24_integer_formats_of_others_are_checked",
        ]),
    ),
    (
        "A25",
        By(&[
            "a25_an_optional_is_a_plain_type_that_may_be_missing_or_null",
            "a25_a26_an_optional_has_no_null_where_it_may_be_left_out",
        ]),
    ),
    (
        "A26",
        By(&["a26_an_optional_list_is_a_plain_array_and_read_from_a_string"]),
    ),
    (
        "A27",
        By(&[
            "a27_arrays_have_items",
            "a18_a19_a27_a_schema_is_an_object_and_an_array_has_items",
        ]),
    ),
    (
        "A28",
        By(&[
            "a28_a30_a_type_that_contains_itself_keeps_its_definition_and_its_siblings_are_inlined",
            "a28_a30_recursive_types_keep_their_definitions",
        ]),
    ),
    (
        "A30",
        By(&[
            "a28_a30_a_type_that_contains_itself_keeps_its_definition_and_its_siblings_are_inlined",
            "a28_a30_recursion_is_kept_where_it_is_read_and_is_not_strict_where_it_is_not",
        ]),
    ),
    (
        "A31",
        By(&[
            "a31_expansion_is_bounded",
            "a31_a_pointer_s_escapes_are_read",
        ]),
    ),
    (
        "A32",
        By(&[
            "a32_types_of_one_name_say_the_same_in_either_order",
            "a32_names_of_recursive_types_do_not_depend_on_the_order",
        ]),
    ),
    ("A33", By(&["a33_types_of_one_name_stay_apart"])),
    (
        "A34",
        By(&[
            "a34_arguments_that_are_no_object_are_no_schema_of_arguments",
            "a34_a_type_that_is_no_object_stands_under_its_name",
        ]),
    ),
    (
        "A35",
        By(&["a35_unit_variants_are_one_flat_enum_with_or_without_comments"]),
    ),
    (
        "A36",
        By(&[
            "a36_serde_attributes_are_in_the_schema",
            "the_reader_accepts_exactly_what_the_schema_accepts",
        ]),
    ),
    ("A40", By(&["a40_items_are_described_in_every_dialect"])),
    (
        "A41",
        By(&[
            "a41_an_optional_union_keeps_every_branch_in_every_dialect",
            "a41_an_optional_union_keeps_every_branch",
        ]),
    ),
    (
        "A42",
        By(&[
            "a42_an_unknown_format_is_a_note",
            "a42_a43_run_time_schemas_ignore_unknown_formats_and_name_what_is_missing",
        ]),
    ),
    (
        "A43",
        By(&[
            "a43_missing_parameters_are_named_however_many_there_are",
            "a42_a43_run_time_schemas_ignore_unknown_formats_and_name_what_is_missing",
        ]),
    ),
];

const CALLS: &[(&str, Kept)] = &[
    ("B01", By(&["blank_arguments_are_an_empty_object"])),
    ("B03", By(&["null_in_the_place_of_arguments_means_none"])),
    (
        "B04",
        By(&["b04_null_and_an_empty_object_are_the_same_for_what_takes_either"]),
    ),
    (
        "B06",
        By(&["b06_the_word_null_is_null_only_where_no_string_is_wanted"]),
    ),
    ("B08", By(&["a_string_that_may_be_any_text_is_left_alone"])),
    (
        "B09",
        By(&["b09_a_string_that_a_union_takes_stays_a_string"]),
    ),
    (
        "B10",
        By(&["b10_json_in_a_string_is_read_at_every_depth_by_its_own_schema"]),
    ),
    (
        "B11",
        By(&["b11_arguments_that_were_encoded_twice_are_decoded"]),
    ),
    (
        "B14",
        By(&["b14_one_value_becomes_a_list_and_is_never_split"]),
    ),
    (
        "B15",
        By(&["b15_a_number_in_a_string_is_read_where_all_of_it_is_one"]),
    ),
    ("B16", By(&["b16_a_flag_is_never_true_by_being_something"])),
    (
        "B17",
        By(&["b17_a_number_where_text_is_wanted_keeps_its_spelling"]),
    ),
    (
        "B18",
        By(&["b18_b19_a_whole_number_is_an_integer_however_it_is_written_and_no_other_is"]),
    ),
    (
        "B19",
        By(&["b18_b19_a_whole_number_is_an_integer_however_it_is_written_and_no_other_is"]),
    ),
    (
        "B20",
        By(&["b20_integers_are_exact_and_beyond_their_range_an_error"]),
    ),
    (
        "B22",
        By(&["b22_surrogate_pairs_are_one_character_on_the_mending_way_too"]),
    ),
    (
        "B23",
        By(&["b23_half_a_pair_is_replaced_and_an_escaped_backslash_is_not_touched"]),
    ),
    (
        "B24",
        By(&["b24_b25_what_the_limit_of_tokens_cut_is_answered_with_that_and_never_runs"]),
    ),
    (
        "B25",
        By(&["b24_b25_what_the_limit_of_tokens_cut_is_answered_with_that_and_never_runs"]),
    ),
    (
        "B27",
        By(&[
            "b27_b31_what_is_cut_or_broken_never_runs_whatever_the_stop_reason_says",
            "no_start_of_a_text_ever_runs",
        ]),
    ),
    (
        "B29",
        But(
            &["b29_brackets_are_closed_in_stack_order_to_be_shown"],
            "a text whose brackets are not all closed was cut: it is shown closed in stack order, without a number that \
             touches the cut, and is refused, never run",
        ),
    ),
    (
        "B31",
        But(
            &["b27_b31_what_is_cut_or_broken_never_runs_whatever_the_stop_reason_says"],
            "the refusal says where the text breaks; the schema is not repeated, since the model has it with the tool",
        ),
    ),
    (
        "B32",
        By(&["b32_a_repeated_object_is_one_and_two_that_differ_are_none"]),
    ),
    (
        "B34",
        By(&["b34_an_object_after_words_is_read_as_it_stands"]),
    ),
    (
        "B35",
        But(
            &[
                "b35_bare_keys_and_extra_braces_are_mended_and_leaked_tokens_refused",
                "the_turn_limit_owns_what_was_done",
            ],
            "there is no budget of its own for calls that are refused: the turns of a run are limited, and that bounds \
             them too",
        ),
    ),
    (
        "B39",
        By(&[
            "a_hundred_thousand_brackets_are_refused_on_every_path",
            "b39_a_hundred_thousand_brackets_are_refused_on_every_path",
        ]),
    ),
];

#[test]
fn each_report_of_schemas_and_arguments_has_a_test_or_a_reason() {
    assert_kept(&["A"], SCHEMAS);
    assert_kept(&["B"], CALLS);
}
