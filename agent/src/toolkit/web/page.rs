//! What a server sent, as text.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use std::collections::HashMap;

/// What is shown of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// A page, as text.
    Html(String),
    /// Text as it came.
    Text(String),
    /// Nothing, for this reason.
    Nothing(String),
}

/// Reads a body as the server said what it is; where it said nothing, or what cannot be, as what it looks like.
pub(super) fn read(said: Option<&str>, body: &[u8]) -> Shown {
    let (kind, parameters) = match said {
        Some(said) => said.split_once(';').unwrap_or((said, "")),
        None => ("", ""),
    };
    let kind = kind.trim().to_ascii_lowercase();
    let is_text = is_text(&kind);
    if !(is_text || kind.is_empty()) {
        return Shown::Nothing(format!("{} bytes of {kind}, which is no text", body.len()));
    }
    if looks_binary(body) {
        return Shown::Nothing(match kind.as_str() {
            "" => format!(
                "{} bytes that are no text, and the server does not say what",
                body.len()
            ),
            kind => format!(
                "{} bytes that are no text, though the server says {kind}",
                body.len()
            ),
        });
    }
    let text = decode(parameters, body);
    let start = text
        .trim_start()
        .get(..15)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let is_page = kind == "text/html"
        || kind == "application/xhtml+xml"
        || kind.is_empty() && (start.starts_with("<!doctype html") || start.starts_with("<html"));
    if is_page {
        Shown::Html(plain(&text))
    } else {
        Shown::Text(text)
    }
}

fn is_text(kind: &str) -> bool {
    const TEXT: &[&str] = &[
        "application/json",
        "application/xml",
        "application/xhtml+xml",
        "application/javascript",
        "application/ecmascript",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/sql",
        "application/x-sh",
        "application/x-ndjson",
        "application/graphql",
        "image/svg+xml",
    ];
    kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || TEXT.contains(&kind)
}

/// No text has a zero in it, but for UTF-16, which begins with its mark.
fn looks_binary(body: &[u8]) -> bool {
    Encoding::for_bom(body).is_none() && body.iter().take(64 * 1024).any(|byte| *byte == 0)
}

/// By its mark, by what the server says, as UTF-8, or else as what old pages are in.
fn decode(parameters: &str, body: &[u8]) -> String {
    let named = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim()
            .eq_ignore_ascii_case("charset")
            .then(|| Encoding::for_label(value.as_bytes()))?
    });
    let encoding = named.unwrap_or(match std::str::from_utf8(body) {
        // Cut at the size limit, perhaps inside of a character.
        Err(error) if error.error_len().is_some() => WINDOWS_1252,
        _ => UTF_8,
    });
    encoding.decode(body).0.into_owned()
}

/// The width at which paragraphs and tables of pages are wrapped.
const WIDTH: usize = 200;

/// A page as text, with its links as notes at the end.
fn plain(html: &str) -> String {
    if deepest(html) > MOST_NESTED {
        return stripped(html);
    }
    html2text::config::plain()
        .link_footnotes(true)
        .string_from_read(html.as_bytes(), WIDTH)
        .unwrap_or_else(|error| format!("[the page cannot be shown as text: {error}]"))
}

/// How deep a page may be nested: what is made of it takes the square of that, and no page for readers needs more.
const MOST_NESTED: usize = 500;

/// What has no end of its own, or ends where the next one begins.
const UNNESTED: &[&str] = &[
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "source", "td", "th", "tr", "track", "wbr",
];

/// How deep a page is nested at most, guessed from its tags. An end that ends nothing counts for nothing.
fn deepest(html: &str) -> usize {
    let mut open: HashMap<String, usize> = HashMap::new();
    let (mut depth, mut most) = (0_usize, 0);
    for tag in tags(html) {
        let (is_end, name) = match tag.strip_prefix('/') {
            Some(name) => (true, name),
            None => (false, tag),
        };
        let name = name.to_ascii_lowercase();
        if UNNESTED.contains(&name.as_str()) {
            continue;
        }
        let count = open.entry(name).or_default();
        if !is_end {
            *count += 1;
            depth += 1;
        } else if *count > 0 {
            *count -= 1;
            depth -= 1;
        }
        most = most.max(depth);
    }
    most
}

/// The names of a page's tags, with a slash before those that end something; nothing out of scripts and styles.
fn tags(html: &str) -> impl Iterator<Item = &str> {
    let mut hidden: Option<&str> = None;
    html.split('<').skip(1).filter_map(move |after| {
        let end = after
            .find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '/')
            .unwrap_or(after.len());
        let tag = after
            .get(..end.min(32))
            .filter(|tag| tag.len() > 1 || !tag.starts_with('/'))?;
        if let Some(name) = hidden {
            let ends = tag
                .strip_prefix('/')
                .is_some_and(|tag| tag.eq_ignore_ascii_case(name));
            if !ends {
                return None;
            }
            hidden = None;
        }
        if let Some(name) = ["script", "style"]
            .iter()
            .find(|name| tag.eq_ignore_ascii_case(name))
        {
            hidden = Some(name);
        }
        (!tag.is_empty()).then_some(tag)
    })
}

/// The text between the tags, for a page that is made to be much work.
fn stripped(html: &str) -> String {
    let mut text = String::from("[nested so deep that only its words are shown]\n");
    let mut is_script = false;
    for after in html.split('<') {
        let (tag, words) = after.split_once('>').unwrap_or(("", after));
        let name = tag
            .trim_start_matches('/')
            .split_whitespace()
            .next()
            .unwrap_or_default();
        if ["script", "style"]
            .iter()
            .any(|hidden| name.eq_ignore_ascii_case(hidden))
        {
            is_script = !tag.starts_with('/');
        }
        let words = words.trim();
        if !is_script && !words.is_empty() {
            text.push_str(words);
            text.push('\n');
        }
    }
    text
}
