//! Tools as an endpoint is told of them: which are strict, in which words, and what that loses.

use super::definition::ToolDefinition;
use super::set::Definitions;
use super::set_error::ToolSetError;
#[cfg(feature = "providers")]
use crate::message::Protocol;
use crate::schema::{Counts, Dialects, Rendering, Weakening};
#[cfg(feature = "providers")]
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// One tool in the words of an endpoint.
#[derive(Debug)]
pub struct Offer {
    definition: Arc<ToolDefinition>,
    rendering: Rendering,
    strict: Option<bool>,
}

impl Offer {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// Its description, with what its schema cannot say.
    pub fn description(&self) -> String {
        match self.rendering.note() {
            None => self.definition.description.to_string(),
            Some(note) => format!("{}\n\n{note}", self.definition.description),
        }
    }

    /// The schema of its arguments, as JSON.
    pub fn parameters(&self) -> &str {
        self.rendering.as_json()
    }

    /// What this protocol alone is told of it.
    #[cfg(feature = "providers")]
    pub(crate) fn own(&self, protocol: Protocol) -> Option<&Map<String, Value>> {
        self.definition.own.of(protocol)
    }

    /// Whether the provider is to enforce the schema; `None` toward an endpoint that does not read it.
    pub fn strict(&self) -> Option<bool> {
        self.strict
    }
}

impl Definitions {
    /// Each tool in the words of an endpoint, and what that loses.
    ///
    /// A tool of which nothing is said is strict where nothing is lost. If the strict tools are too much together, the
    /// one that costs most of what there is too much of (of several the first by name) is made plain, again and again,
    /// until they are not; tools that must be strict stay.
    ///
    /// # Errors
    ///
    /// When there are more tools than the endpoint takes, when a tool that must be strict cannot be, or when those that
    /// must be strict are too much together.
    pub fn offers(&self, dialects: &Dialects) -> Result<(Vec<Offer>, ToolReport), ToolSetError> {
        if self.len() > dialects.most_tools {
            let beyond = self
                .iter()
                .skip(dialects.most_tools)
                .map(|tool| &*tool.name);
            return Err(ToolSetError::too_many(
                self.len(),
                dialects.most_tools,
                &beyond.collect::<Vec<_>>(),
            ));
        }
        let mut report = ToolReport::default();
        let mut offers = Vec::with_capacity(self.len());
        for definition in self.shared() {
            offers.push(offer(definition, dialects, &mut report)?);
        }
        if let Some(strict) = dialects.strict {
            fit(&mut offers, strict.budget, dialects, &mut report)?;
        }
        for offer in &offers {
            report.notes.extend(
                offer
                    .rendering
                    .weakenings()
                    .iter()
                    .map(|weakening| ToolNote {
                        tool: offer.definition.name.clone(),
                        kind: NoteKind::Weakened(weakening.clone()),
                    }),
            );
        }
        report.notes.sort_by(|one, other| one.tool.cmp(&other.tool));
        Ok((offers, report))
    }
}

fn offer(
    definition: &Arc<ToolDefinition>,
    dialects: &Dialects,
    report: &mut ToolReport,
) -> Result<Offer, ToolSetError> {
    let wanted = definition.strict;
    let Some(strict) = dialects.strict.filter(|_| wanted != Some(false)) else {
        if wanted == Some(true) {
            report.add(definition, NoteKind::Unread);
        }
        return plain(definition, dialects);
    };
    let why = match strict.render(&definition.parameters) {
        Err(impossible) if wanted == Some(true) => {
            return Err(ToolSetError::not_strict(definition, &impossible));
        }
        Err(impossible) => impossible.to_string(),
        Ok(rendering) => match rendering.weakenings().first() {
            Some(lost) if wanted.is_none() => format!("{} gives way at {lost}", strict.name),
            _ => {
                return Ok(Offer {
                    definition: Arc::clone(definition),
                    rendering,
                    strict: Some(true),
                });
            }
        },
    };
    report.add(definition, NoteKind::NotStrict(why));
    plain(definition, dialects)
}

fn plain(definition: &Arc<ToolDefinition>, dialects: &Dialects) -> Result<Offer, ToolSetError> {
    Ok(Offer {
        definition: Arc::clone(definition),
        rendering: dialects
            .plain
            .render(&definition.parameters)
            .map_err(|impossible| ToolSetError::not_strict(definition, &impossible))?,
        strict: dialects.strict.map(|_| false),
    })
}

/// Makes as many strict tools plain as must be.
fn fit(
    offers: &mut [Offer],
    budget: Counts,
    dialects: &Dialects,
    report: &mut ToolReport,
) -> Result<(), ToolSetError> {
    for (index, (what, most)) in budget.each().into_iter().enumerate() {
        let cost = |offer: &Offer| {
            let counts = offer.rendering.counts().each();
            counts.get(index).map_or(0, |(_, count)| *count)
        };
        loop {
            let strict = || offers.iter().filter(|offer| offer.strict == Some(true));
            let all: usize = strict().map(cost).sum();
            if all <= most {
                break;
            }
            // Of several that cost the same `max_by_key` takes the last.
            let fattest = offers
                .iter()
                .enumerate()
                .rev()
                .filter(|(_, offer)| {
                    offer.strict == Some(true) && offer.definition.strict.is_none()
                })
                .max_by_key(|(_, offer)| cost(offer))
                .map(|(at, offer)| (at, Arc::clone(&offer.definition)));
            let Some((at, definition)) = fattest else {
                let names: Vec<&str> = strict().map(Offer::name).collect();
                return Err(ToolSetError::over_budget(what, all, most, &names));
            };
            report.add(
                &definition,
                NoteKind::NotStrict(format!(
                    "the strict tools have {all} {what} together, and no more than {most} are taken"
                )),
            );
            if let Some(place) = offers.get_mut(at) {
                *place = plain(&definition, dialects)?;
            }
        }
    }
    Ok(())
}

/// What of a set of tools an endpoint does not hold the model to. All of it is checked when a call comes, as ever.
///
/// Displays as one line a note; empty where nothing is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolReport {
    notes: Vec<ToolNote>,
}

impl ToolReport {
    /// The notes, sorted by tool.
    pub fn iter(&self) -> std::slice::Iter<'_, ToolNote> {
        self.notes.iter()
    }

    /// Whether nothing is lost.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// Adds what another report says and this one does not.
    pub(crate) fn extend(&mut self, other: Self) {
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        self.notes.sort_by(|one, other| one.tool.cmp(&other.tool));
    }

    fn add(&mut self, definition: &ToolDefinition, kind: NoteKind) {
        self.notes.push(ToolNote {
            tool: definition.name.clone(),
            kind,
        });
    }
}

impl<'a> IntoIterator for &'a ToolReport {
    type Item = &'a ToolNote;
    type IntoIter = std::slice::Iter<'a, ToolNote>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ToolReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, note) in self.notes.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            note.fmt(f)?;
        }
        Ok(())
    }
}

/// One line of a [`ToolReport`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolNote {
    /// The tool's name.
    pub tool: Arc<str>,
    /// What there is to know.
    pub kind: NoteKind,
}

/// What a [`ToolNote`] says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// It is not strict, and why.
    NotStrict(String),
    /// It was to be strict, and the endpoint does not read that.
    Unread,
    /// Its schema says more than the endpoint is told.
    Weakened(Weakening),
}

impl fmt::Display for ToolNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            NoteKind::NotStrict(why) => write!(f, "`{}` is not strict: {why}", self.tool),
            NoteKind::Unread => write!(
                f,
                "`{}` is not strict: this endpoint does not read it",
                self.tool
            ),
            NoteKind::Weakened(weakening) => write!(f, "`{}`: {weakening}", self.tool),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::schema::{Dialect, Schema};
    use crate::tool::{Tool, ToolSet};

    fn write(offer: &Offer, out: &mut Vec<u8>) {
        out.extend(format!("{:?}", offer.name()).into_bytes());
    }

    #[test]
    fn bytes_are_worked_out_once_for_a_set_and_an_endpoint_and_again_when_the_set_changes() {
        const PLAIN: Dialect = Dialect::plain("plain");
        let dialects = Dialects {
            plain: &PLAIN,
            strict: None,
            most_tools: 3,
        };
        let tool = |name: &str| {
            let schema = Schema::of::<()>().unwrap();
            Tool::external(ToolDefinition::new(name, "A tool.", schema).unwrap())
        };
        let mut set = ToolSet::from_tools([tool("b"), tool("a")]).unwrap();
        let told = |set: &ToolSet| set.definitions().offered(&dialects, "test", write).unwrap();
        let first = told(&set);
        assert_eq!(first.array(), r#"["a","b"]"#);
        assert_eq!(
            (first.tool(0), first.tool(1), first.tool(2)),
            (r#""a""#, r#""b""#, "")
        );
        assert!(Arc::ptr_eq(&first, &told(&set)));
        assert!(Arc::ptr_eq(&first, &told(&set.clone())));
        set.add(tool("c")).unwrap();
        assert_eq!(told(&set).array(), r#"["a","b","c"]"#);
        set.remove("a");
        assert_eq!(told(&set).array(), r#"["b","c"]"#);
        let other = Dialects {
            most_tools: 1,
            ..dialects
        };
        assert!(set.definitions().offered(&other, "test", write).is_err());
    }
}
