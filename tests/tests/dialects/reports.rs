//! What became of each complaint about schemas (kind A) that others' users filed.

use serde_json::Value;

/// Each complaint and the test that holds it, or why there is none. Tests of `dialects` stand here, those of `schema`
/// in the crate `agent`.
const REPORTS: &[(&str, &str)] = &[
    (
        "A02",
        "agent: schema::canonical::a02_an_enum_is_inlined_and_accepts_what_it_did",
    ),
    (
        "A03",
        "dialects: render::a03_what_stands_beside_a_reference_is_meant_too",
    ),
    (
        "A05",
        "agent: schema::parameters::a05_one_description_with_the_parameter_s_text_first",
    ),
    (
        "A08",
        "dialects: render::a08_d21_an_optional_is_required_and_nullable_only_where_all_must_be_required",
    ),
    (
        "A10",
        "dialects: render::a10_a_map_is_never_strict_and_never_an_empty_object",
    ),
    (
        "A12",
        "dialects: render::a12_a_tuple_is_never_half_converted",
    ),
    (
        "A15",
        "dialects: render::a15_what_is_said_of_the_whole_is_said_in_the_description_and_still_checked",
    ),
    (
        "A17",
        "dialects: render::a17_objects_name_their_properties_and_literals_stay_as_they_are",
    ),
    (
        "A18",
        "dialects: render::a18_a19_a27_a_schema_is_an_object_and_an_array_has_items",
    ),
    (
        "A19",
        "dialects: render::a18_a19_a27_a_schema_is_an_object_and_an_array_has_items",
    ),
    (
        "A24",
        "dialects: render::a24_integer_formats_of_others_become_bounds",
    ),
    (
        "A25",
        "dialects: render::a25_a26_an_optional_has_no_null_where_it_may_be_left_out",
    ),
    (
        "A26",
        "dialects: render::a25_a26_an_optional_has_no_null_where_it_may_be_left_out",
    ),
    (
        "A27",
        "dialects: render::a18_a19_a27_a_schema_is_an_object_and_an_array_has_items",
    ),
    (
        "A28",
        "agent: schema::canonical::a28_a30_recursive_types_keep_their_definitions",
    ),
    (
        "A30",
        "dialects: render::a28_a30_recursion_is_kept_where_it_is_read_and_is_not_strict_where_it_is_not",
    ),
    ("A31", "agent: schema::canonical::a31_expansion_is_bounded"),
    (
        "A32",
        "agent: schema::parameters::a32_names_of_recursive_types_do_not_depend_on_the_order",
    ),
    (
        "A33",
        "agent: schema::canonical::a33_types_of_one_name_stay_apart",
    ),
    (
        "A34",
        "agent: schema::canonical::a34_arguments_that_are_no_object_are_no_schema_of_arguments",
    ),
    (
        "A35",
        "agent: schema::canonical::a35_unit_variants_are_one_flat_enum_with_or_without_comments",
    ),
    (
        "A36",
        "agent: schema::canonical::a36_serde_attributes_are_in_the_schema",
    ),
    (
        "A40",
        "agent: schema::canonical::a40_nested_items_are_described",
    ),
    (
        "A41",
        "agent: schema::canonical::a41_an_optional_union_keeps_every_branch",
    ),
    (
        "A42",
        "agent: schema::canonical::a42_a43_run_time_schemas_ignore_unknown_formats_and_name_what_is_missing",
    ),
    (
        "A43",
        "agent: schema::canonical::a43_missing_parameters_are_named_however_many_there_are",
    ),
];

#[test]
fn every_report_about_schemas_has_a_test_that_exists() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    for (report, test) in REPORTS {
        let (package, name) = test.split_once(": ").unwrap();
        let folder = match package {
            "agent" => root.join("../agent/tests/schema"),
            _ => root.join("tests/dialects"),
        };
        let mut parts = name.split("::").filter(|part| *part != "schema");
        let file = folder.join(format!("{}.rs", parts.next().unwrap()));
        let text = std::fs::read_to_string(&file).unwrap();
        let function = parts.next().unwrap();
        assert!(
            text.contains(&format!("fn {function}()")),
            "{report}: no {function} in {}",
            file.display()
        );
    }
    let Some(folder) = tests::data::folder("AGENT_CASES", "../shared/cases") else {
        return;
    };
    let text = std::fs::read_to_string(folder.join("reports.jsonl")).unwrap();
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let numbers: Vec<String> = rows
        .filter(|row| row["kind"] == "A")
        .map(|row| row["n"].as_str().unwrap().to_owned())
        .collect();
    for number in &numbers {
        assert!(
            REPORTS.iter().any(|(known, _)| known == number),
            "nothing is said of {number}"
        );
    }
    println!("{} reports about schemas, each with a test", numbers.len());
}
