//! The bytes with which an endpoint is told of a set of tools: worked out once, copied by each request.

use super::offer::{Offer, ToolReport};
use super::set::Definitions;
use super::set_error::ToolSetError;
use crate::schema::Dialects;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// How a protocol writes a tool: the object, as JSON.
pub(crate) type Write = fn(&Offer, &mut Vec<u8>);

/// The tools of a set as one protocol writes them.
#[derive(Debug)]
pub(crate) struct Offered {
    bytes: Box<str>,
    /// Where each tool stands in `bytes`, by the order of the set.
    places: Vec<Range<usize>>,
    report: ToolReport,
}

impl Offered {
    /// All of them: an array, as JSON.
    pub(crate) fn array(&self) -> &str {
        &self.bytes
    }

    /// The tool at this place of the set.
    pub(crate) fn tool(&self, at: usize) -> &str {
        let place = self.places.get(at).cloned().unwrap_or_default();
        self.bytes.get(place).unwrap_or_default()
    }

    pub(crate) fn report(&self) -> &ToolReport {
        &self.report
    }
}

/// What was worked out, for each of the few endpoints that a set of tools meets.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<Vec<(Dialects, &'static str, Arc<Offered>)>>);

impl Definitions {
    /// The tools as the endpoint's protocol writes them; worked out the first time. `protocol` tells apart what writes.
    ///
    /// # Errors
    ///
    /// When there are more tools than the endpoint takes, when a tool that must be strict cannot be, or when those that
    /// must be strict are too much together.
    pub(crate) fn offered(
        &self,
        dialects: &Dialects,
        protocol: &'static str,
        write: Write,
    ) -> Result<Arc<Offered>, ToolSetError> {
        let mut known = self
            .memory()
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mine = known
            .iter()
            .find(|(other, name, _)| *name == protocol && same(other, dialects));
        if let Some((_, _, offered)) = mine {
            return Ok(Arc::clone(offered));
        }
        let (offers, report) = self.offers(dialects)?;
        let mut bytes = vec![b'['];
        let mut places = Vec::with_capacity(offers.len());
        for offer in &offers {
            if bytes.len() > 1 {
                bytes.push(b',');
            }
            let start = bytes.len();
            write(offer, &mut bytes);
            places.push(start..bytes.len());
        }
        bytes.push(b']');
        let offered = Arc::new(Offered {
            bytes: String::from_utf8_lossy(&bytes).into(),
            places,
            report,
        });
        known.push((*dialects, protocol, Arc::clone(&offered)));
        Ok(offered)
    }
}

fn same(one: &Dialects, other: &Dialects) -> bool {
    let strict = match (one.strict, other.strict) {
        (Some(one), Some(other)) => std::ptr::eq(one, other) || one == other,
        (None, None) => true,
        _ => false,
    };
    strict
        && one.most_tools == other.most_tools
        && (std::ptr::eq(one.plain, other.plain) || one.plain == other.plain)
}
