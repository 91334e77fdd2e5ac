//! Which of several alternatives was meant, so that what is said of it helps.

use super::describe;
use super::problem::Report;
use super::program::{ANY, Id, Union};
use super::walk::{Fits, Walk};
use crate::json::scan::{ScanError, Scanner};
use std::borrow::Cow;

impl<'a> Walk<'a> {
    /// Names what is wrong where no alternative fits: that of the alternative which was meant, where it can be told.
    pub(super) fn none_fits(&mut self, union: &'a Union, start: usize, byte: u8) -> Fits {
        if self.report.is_none() {
            return Ok(false);
        }
        // No alternative takes a key twice, so that is what is wrong.
        let text = self.scan.text();
        self.scan = Scanner::new_at(text, start);
        if !self.value(ANY)? {
            return Ok(false);
        }
        let program = self.program;
        let mut meant: Vec<Id> = union
            .of
            .iter()
            .copied()
            .filter(|id| *id != ANY && program.node(*id).types.may_begin(byte))
            .collect();
        if byte == b'{' && meant.len() > 1 {
            if let Some((tag, choices)) = self.tag(&meant) {
                match self.member(start, &tag)? {
                    None => {
                        if let Some(report) = &mut self.report {
                            let wanted = describe::choices(&choices);
                            report.push_at(&tag, format!("is missing; must be {wanted}"));
                        }
                        return Ok(false);
                    }
                    Some(at) => {
                        let value = Scanner::new_at(text, at).string().ok();
                        meant.retain(|id| {
                            value
                                .as_ref()
                                .is_some_and(|value| self.has_tag(*id, &tag, value))
                        });
                        if meant.is_empty() {
                            if let Some(report) = &mut self.report {
                                let hidden = report.hidden > 0;
                                let hint = value.map_or_else(String::new, |value| {
                                    if hidden {
                                        String::new()
                                    } else {
                                        describe::hint(&value, &choices)
                                    }
                                });
                                report.push_at(
                                    &tag,
                                    format!(
                                        "must be {}, got {}{hint}",
                                        describe::choices(&choices),
                                        describe::value(text, at, hidden)
                                    ),
                                );
                            }
                            return Ok(false);
                        }
                    }
                }
            } else {
                self.closest(&mut meant, start)?;
            }
        }
        if let [one] = meant.as_slice() {
            self.scan = Scanner::new_at(text, start);
            let before = self.report.as_ref().map_or(0, Report::len);
            self.value(*one)?;
            if self
                .report
                .as_ref()
                .is_some_and(|report| report.len() > before || report.is_full())
            {
                return Ok(false);
            }
        }
        Ok(self.tell(|hidden| {
            let words: Vec<_> = union
                .of
                .iter()
                .map(|id| describe::node(program, *id))
                .collect();
            format!(
                "must be {}, got {}",
                describe::list(&words, ", or "),
                describe::value(text, start, hidden)
            )
        }))
    }

    /// The property by which these objects are told apart: required in each, with a string to choose.
    fn tag(&self, among: &[Id]) -> Option<(Box<str>, Vec<Box<str>>)> {
        let first = self.program.node(*among.first()?).fields.as_deref()?;
        first
            .properties
            .iter()
            .filter(|property| property.required)
            .find_map(|property| {
                let choices = among.iter().map(|id| {
                    let fields = self.program.node(*id).fields.as_deref()?;
                    let own = fields
                        .properties
                        .iter()
                        .find(|own| own.name == property.name && own.required)?;
                    self.program
                        .node(own.node)
                        .text
                        .as_ref()?
                        .choices
                        .as_deref()
                });
                let choices: Option<Vec<_>> = choices.collect();
                let mut distinct: Vec<Box<str>> = Vec::new();
                for choice in choices?.into_iter().flatten() {
                    if !distinct.contains(choice) {
                        distinct.push(choice.clone());
                    }
                }
                Some((property.name.clone(), distinct))
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
