//! What of an answer's JSON is known, and what is not: fields that nobody here reads are shown as they came.

use super::json::{Members, Raw, is_blank, write_members};
use crate::model::ModelEvent;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The names that an object may have; what is known inside of their values, where somebody reads that.
#[derive(Debug)]
pub(super) struct Known(pub(super) &'static [(&'static str, Option<&'static Known>)]);

/// An object, parted.
pub(super) struct Parted {
    /// What is known of it. Of members of one name the last.
    pub(super) known: String,
    /// What is not and says something, with all that it stands in.
    pub(super) unknown: Option<String>,
}

impl Known {
    /// Parts an object.
    pub(super) fn part(&self, json: &str) -> Result<Parted, serde_json::Error> {
        let members: Members<'_> = serde_json::from_str(json)?;
        let mut known: Vec<(&str, Cow<'_, str>)> = Vec::new();
        let mut unknown: Vec<(&str, Cow<'_, str>)> = Vec::new();
        for (name, value) in members.iter() {
            let Some((_, inside)) = self.0.iter().find(|(known, _)| *known == name) else {
                if !is_blank(value) {
                    unknown.push((name, value.into()));
                }
                continue;
            };
            let (value, rest) = match inside {
                Some(inside) => inside.part_each(value),
                None => (value.into(), None),
            };
            known.retain(|(earlier, _)| *earlier != name);
            known.push((name, value));
            unknown.extend(rest.map(|rest| (name, rest.into())));
        }
        let write = |members: &[(&str, Cow<'_, str>)]| {
            write_members(members.iter().map(|(name, value)| (*name, &**value)))
        };
        Ok(Parted {
            known: write(&known),
            unknown: (!unknown.is_empty()).then(|| write(&unknown)),
        })
    }

    /// The same for a value: an object, or a list of them.
    fn part_each<'v>(&self, value: &'v str) -> (Cow<'v, str>, Option<String>) {
        let as_it_is = (Cow::Borrowed(value), None);
        if !value.starts_with('[') {
            return match self.part(value) {
                Ok(parted) => (parted.known.into(), parted.unknown),
                Err(_) => as_it_is,
            };
        }
        let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(value) else {
            return as_it_is;
        };
        let (mut known, mut unknown) = (Vec::new(), Vec::new());
        for element in elements {
            match self.part(element.get()) {
                Ok(parted) => {
                    known.push(Cow::from(parted.known));
                    unknown.extend(parted.unknown);
                }
                Err(_) => known.push(element.get().into()),
            }
        }
        let rest = (!unknown.is_empty()).then(|| format!("[{}]", unknown.join(",")));
        (format!("[{}]", known.join(",")).into(), rest)
    }
}

/// What was shown of the unknown: what a server repeats with each word is shown once.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    last: Option<String>,
}

impl Unknown {
    /// Shows what is not known of a member, which is read apart from the rest.
    pub(super) fn show_of(
        &mut self,
        name: &str,
        value: Raw<'_>,
        known: &Known,
        out: &mut Vec<ModelEvent>,
    ) {
        let parted = value.get().and_then(|json| known.part(json).ok());
        let unknown = parted.and_then(|parted| parted.unknown);
        let unknown = unknown.map(|unknown| write_members([(name, unknown.as_str())].into_iter()));
        self.show(unknown, out.len(), out);
    }

    /// Shows it in front of what stands from `at` on.
    pub(super) fn show(&mut self, unknown: Option<String>, at: usize, out: &mut Vec<ModelEvent>) {
        if unknown.is_some() && unknown != self.last {
            let at = at.min(out.len());
            let event = unknown.clone().map(ModelEvent::Unknown);
            out.splice(at..at, event);
            self.last = unknown;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const INNER: Known = Known(&[("a", None)]);
    const OUTER: Known = Known(&[("a", None), ("in", Some(&INNER))]);

    #[test]
    fn what_is_known_stays_and_what_is_not_stands_where_it_stood() {
        for (json, known, unknown) in [
            (r#"{"a": [ 1 ]}"#, r#"{"a":[ 1 ]}"#, None),
            (r#"{"b":2,"a":1}"#, r#"{"a":1}"#, Some(r#"{"b":2}"#)),
            (r#"{"b":null,"c":[],"d":"","e":{},"f":false}"#, "{}", None),
            (r#"{"b":0}"#, "{}", Some(r#"{"b":0}"#)),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, None),
            (
                r#"{"in":{"a":1,"b":2}}"#,
                r#"{"in":{"a":1}}"#,
                Some(r#"{"in":{"b":2}}"#),
            ),
            (
                r#"{"in":[{"a":1},{"b":2},3,[{"b":4}]]}"#,
                r#"{"in":[{"a":1},{},3,[{"b":4}]]}"#,
                Some(r#"{"in":[{"b":2}]}"#),
            ),
            (r#"{"in":"text"}"#, r#"{"in":"text"}"#, None),
        ] {
            let parted = OUTER.part(json).unwrap();
            assert_eq!(parted.known, known, "{json}");
            assert_eq!(parted.unknown.as_deref(), unknown, "{json}");
        }
        assert!(OUTER.part("[]").is_err());
        assert!(OUTER.part("{").is_err());
    }
}
