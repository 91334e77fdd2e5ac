//! Which of several alternatives was meant, so that what is said of it helps.

use super::describe;
use super::problem::Report;
use super::program::{ANY, Id, Node, Union};
use super::walk::{Fits, Walk};
use crate::json::scan::{ScanError, Scanner};
use std::borrow::Cow;

impl<'a> Walk<'a> {
    /// Names what is wrong where no alternative fits: that of the alternative which was meant, where it can be told.
    pub(super) fn none_fits(&mut self, union: &'a Union, start: usize, byte: u8) -> Fits {
        if self.report.is_none() {
            return Ok(false);
        }
        // No alternative takes a key twice, so that is what is wrong, and told by whoever reads the value itself.
        let text = self.scan.text();
        if self.try_node(ANY, start)?.is_none() {
            return Ok(false);
        }
        let program = self.program;
        match self.meant(union, start, byte)? {
            Meant::One(id) => {
                self.scan = Scanner::new_at(text, start);
                let before = self.report.as_ref().map_or(0, Report::len);
                self.value(id)?;
                let report = self.report.as_ref();
                if report.is_some_and(|report| report.len() > before || report.is_full()) {
                    return Ok(false);
                }
            }
            Meant::Tagged(tag, choices, at) => {
                if let Some(report) = &mut self.report {
                    let hidden = report.hidden > 0;
                    let wanted = describe::choices(&choices);
                    let message = match at {
                        None => format!("is missing; must be {wanted}"),
                        Some(at) => {
                            let value = Scanner::new_at(text, at).string().ok();
                            let hint = value.filter(|_| !hidden);
                            let hint = hint.map(|value| describe::hint(&value, &choices));
                            let got = describe::value(text, at, hidden);
                            format!("must be {wanted}, got {got}{}", hint.unwrap_or_default())
                        }
                    };
                    report.push_at(&tag, message);
                }
                return Ok(false);
            }
            Meant::Unclear => {}
        }
        let hint = self.other_way(union, start, byte)?;
        Ok(self.tell(|hidden| {
            format!(
                "must be {}, got {}{}",
                describe::union(program, union),
                describe::value(text, start, hidden),
                if hidden { "" } else { &hint }
            )
        }))
    }

    /// Which alternative the value at `start` was meant to be.
    pub(super) fn meant(&self, union: &Union, start: usize, byte: u8) -> Result<Meant, ScanError> {
        let program = self.program;
        let text = self.scan.text();
        let mut meant: Vec<Id> = union
            .of
            .iter()
            .copied()
            .filter(|id| *id != ANY && program.node(*id).types.may_begin(byte))
            .collect();
        if byte == b'{' && meant.len() > 1 {
            if let Some((tag, choices)) = self.program.tag(&meant) {
                let Some(at) = self.member(start, &tag)? else {
                    return Ok(Meant::Tagged(tag, choices, None));
                };
                let value = Scanner::new_at(text, at).string().ok();
                meant.retain(|id| {
                    value
                        .as_ref()
                        .is_some_and(|value| self.has_tag(*id, &tag, value))
                });
                if meant.is_empty() {
                    return Ok(Meant::Tagged(tag, choices, Some(at)));
                }
            } else {
                self.closest(&mut meant, start)?;
            }
        }
        let [one] = meant.as_slice() else {
            return Ok(Meant::Unclear);
        };
        // A variant by its name alone, or as the key of what it holds: that one alternative begins as the value does says
        // nothing, if the value is none of it.
        let is_alone = union.of.len() == 1;
        let is_other = match (byte, variant(program.node(*one))) {
            (b'"', _) => {
                choices(program.node(*one)).is_some()
                    && union
                        .of
                        .iter()
                        .any(|id| variant(program.node(*id)).is_some())
            }
            (b'{', Some(name)) => self.member(start, name)?.is_none(),
            _ => false,
        };
        Ok(if is_other && !is_alone {
            Meant::Unclear
        } else {
            Meant::One(*one)
        })
    }

    /// What to do where a variant was named that is said in the other way, or nearly named.
    fn other_way(&self, union: &Union, start: usize, byte: u8) -> Result<String, ScanError> {
        let nodes = || union.of.iter().map(|id| self.program.node(*id));
        let units: Vec<Box<str>> = nodes().filter_map(choices).flatten().cloned().collect();
        let holding: Vec<Box<str>> = nodes().filter_map(variant).map(Into::into).collect();
        let named = match byte {
            b'"' => Scanner::new_at(self.scan.text(), start).string().ok(),
            b'{' => self.first_key(start)?,
            _ => None,
        };
        let Some(named) = named else {
            return Ok(String::new());
        };
        let shown = describe::quoted(&named);
        let has = |names: &[Box<str>], named: &str| names.iter().any(|name| **name == *named);
        if let Some((tag, choices)) = self.program.tag(&self.program.objects(union)) {
            let tag = describe::quoted(&tag);
            return Ok(if byte == b'"' && has(&choices, &named) {
                format!("; send {{{tag}: {shown}}}, with what else it holds")
            } else {
                String::new()
            });
        }
        if holding.is_empty() {
            return Ok(String::new());
        }
        Ok(if byte == b'"' && has(&holding, &named) {
            format!("; send {{{shown}: ..}}, with what it holds")
        } else if byte == b'{' && has(&units, &named) {
            format!("; send {shown} alone, as a string")
        } else {
            let all = [units, holding.clone()].concat();
            match describe::near(&named, &all) {
                Some(near) if byte == b'"' && has(&holding, near) => {
                    format!("; did you mean {{{}: ..}}?", describe::quoted(near))
                }
                _ => describe::hint(&named, &all),
            }
        })
    }

    fn first_key(&self, start: usize) -> Result<Option<Cow<'a, str>>, ScanError> {
        let mut scan = Scanner::new_at(self.scan.text(), start);
        scan.pass();
        Ok(if scan.another(true, b'}')? {
            Some(scan.key()?)
        } else {
            None
        })
    }

    fn has_tag(&self, id: Id, tag: &str, value: &str) -> bool {
        let fields = self.program.node(id).fields.as_deref();
        let property = fields.and_then(|fields| {
            fields
                .properties
                .iter()
                .find(|property| *property.name == *tag)
        });
        property.is_some_and(|property| self.program.node(property.node).takes_text(value))
    }

    /// Where the value of this key begins.
    fn member(&self, start: usize, name: &str) -> Result<Option<usize>, ScanError> {
        let mut found = None;
        self.each_key(start, |key, at| {
            if key == name {
                found.get_or_insert(at);
            }
        })?;
        Ok(found)
    }

    /// Keeps the alternative that knows most of the keys, if there is one such.
    fn closest(&self, meant: &mut Vec<Id>, start: usize) -> Result<(), ScanError> {
        let mut known = vec![0_usize; meant.len()];
        self.each_key(start, |key, _| {
            for (count, id) in known.iter_mut().zip(meant.iter()) {
                let fields = self.program.node(*id).fields.as_deref();
                *count += usize::from(fields.is_some_and(|fields| fields.find(key, 0).is_some()));
            }
        })?;
        let most = known.iter().copied().max().unwrap_or(0);
        if most > 0 && known.iter().filter(|count| **count == most).count() == 1 {
            let best = known
                .iter()
                .position(|count| *count == most)
                .and_then(|index| meant.get(index).copied());
            *meant = best.into_iter().collect();
        }
        Ok(())
    }

    fn each_key(&self, start: usize, mut visit: impl FnMut(&str, usize)) -> Result<(), ScanError> {
        let mut scan = Scanner::new_at(self.scan.text(), start);
        scan.pass();
        let mut first = true;
        while scan.another(first, b'}')? {
            first = false;
            let key: Cow<'_, str> = scan.key()?;
            scan.peek_value()?;
            visit(&key, scan.position());
            scan.skip(self.depth + 1)?;
        }
        Ok(())
    }
}

/// What can be told of which alternative was meant.
pub(super) enum Meant {
    /// This one.
    One(Id),
    /// One of those that this property tells apart by these words. It is missing, or says something else at this place.
    Tagged(Box<str>, Vec<Box<str>>, Option<usize>),
    /// Nothing.
    Unclear,
}

/// The name of a variant that holds something: the only key of its object.
fn variant(node: &Node) -> Option<&str> {
    let fields = node.fields.as_deref()?;
    match &*fields.properties {
        [only] if only.required && fields.allows_only_properties() => Some(&only.name),
        _ => None,
    }
}

/// The strings of which one is wanted.
fn choices(node: &Node) -> Option<&[Box<str>]> {
    node.text.as_ref()?.choices.as_deref()
}
