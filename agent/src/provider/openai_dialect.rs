//! What `OpenAI` reads of a tool's schema, in both of its protocols.

use crate::schema::{Counts, Dialect, Dialects};

/// Structured Outputs, as its guide describes them in early 2026. What the guide and what its users report differ on
/// (`minLength`, `uniqueItems`, ..) counts as not read.
pub(super) const STRICT: Dialect = Dialect {
    name: "OpenAI strict",
    strict: true,
    keywords: Some(&[
        "pattern",
        "format",
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ]),
    formats: Some(&[
        "date-time",
        "time",
        "date",
        "duration",
        "email",
        "hostname",
        "ipv4",
        "ipv6",
        "uuid",
    ]),
    all_of: false,
    all_required: true,
    recursion: true,
    look_around: false,
    same_first_keys: false,
    largest_min_items: u64::MAX,
    depth: 10,
    budget: Counts {
        properties: 5_000,
        choices: 1_000,
        characters: 120_000,
        ..Counts::UNBOUNDED
    },
    long_choices: (250, 15_000),
};

/// Of a tool that is not strict.
pub(super) const PLAIN: Dialect = Dialect::plain("OpenAI");

/// Chat Completions, which refuses more than 128 tools.
pub(super) const CHAT: Dialects = Dialects {
    plain: &PLAIN,
    strict: Some(&STRICT),
    most_tools: 128,
};

/// Responses.
pub(super) const RESPONSES: Dialects = Dialects {
    most_tools: usize::MAX,
    ..CHAT
};

/// Servers that speak Chat Completions and do not read `strict`.
pub(super) const COMPATIBLE: Dialects = Dialects {
    plain: &PLAIN,
    strict: None,
    most_tools: usize::MAX,
};
