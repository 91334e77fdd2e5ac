//! What Anthropic reads of a tool's schema.

use crate::schema::{Counts, Dialect, Dialects};

/// Strict tools: what its own clients leave in a schema, and the limits that its server reports.
pub(super) const STRICT: Dialect = Dialect {
    name: "Anthropic strict",
    strict: true,
    keywords: Some(&["format", "minItems"]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "uri",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    all_of: true,
    all_required: false,
    recursion: false,
    look_around: false,
    same_first_keys: true,
    largest_min_items: 1,
    depth: usize::MAX,
    budget: Counts {
        tools: 20,
        optional: 24,
        unions: 16,
        ..Counts::UNBOUNDED
    },
    long_choices: (usize::MAX, usize::MAX),
};

/// Of a tool that is not strict.
pub(super) const PLAIN: Dialect = Dialect::plain("Anthropic");

/// Both.
pub(super) const BOTH: Dialects = Dialects {
    plain: &PLAIN,
    strict: Some(&STRICT),
    most_tools: usize::MAX,
};

/// Servers that speak the protocol and do not read `strict`.
pub(super) const COMPATIBLE: Dialects = Dialects {
    strict: None,
    ..BOTH
};
