//! Server-sent events, from bytes that are cut anywhere.
//!
//! The crates that parse them wrap a socket or a `Stream` (`eventsource-stream`, `sse-stream`, `reqwest-eventsource`);
//! none takes bytes by a call, which is what a decoder without I/O needs.
//!
//! <https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation>

use std::borrow::Cow;

/// One event: its name (empty if it has none) and its data, the lines joined by line feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event<'a> {
    pub(super) name: &'a str,
    pub(super) data: &'a str,
}

/// A push parser. Buffers are kept from event to event, so an event costs no allocation.
#[derive(Debug, Default)]
pub(super) struct Parser {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a carriage return: a line feed that follows belongs to it.
    after_cr: bool,
    /// The byte order mark, if there is one, is behind.
    started: bool,
}

pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";

impl Parser {
    /// Takes the next bytes and calls `on_event` for each event that they complete, until it returns an error.
    pub(super) fn push<E>(
        &mut self,
        mut bytes: &[u8],
        mut on_event: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            let (line, rest) = bytes.split_at(end);
            bytes = match rest {
                [b'\r'] => {
                    self.after_cr = true;
                    &[]
                }
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => &[],
            };
            if self.line.is_empty() {
                self.take_line(line, &mut on_event)?;
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                let taken = self.take_line(&whole, &mut on_event);
                whole.clear();
                self.line = whole;
                taken?;
            }
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// How many bytes are kept of an event that has not ended.
    pub(super) fn pending(&self) -> usize {
        self.line.len() + self.data.len()
    }

    /// Ends the stream. Servers forget the blank line after their last event, so what is left counts as one; the
    /// event may of course be cut off.
    pub(super) fn finish<E>(
        mut self,
        mut on_event: impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let rest = std::mem::take(&mut self.line);
        if !rest.is_empty() {
            self.take_line(&rest, &mut on_event)?;
        }
        self.dispatch(&mut on_event)
    }

    fn take_line<E>(
        &mut self,
        mut line: &[u8],
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.started {
            self.started = true;
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(on_event);
        }
        if line.starts_with(b"{") {
            // No field has such a name. Servers that fail in the middle of a stream forget that it is one.
            self.dispatch(on_event)?;
            self.data.extend_from_slice(line);
            self.has_data = true;
            return self.dispatch(on_event);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(at) => {
                let (field, value) = line.split_at(at);
                let value = value.strip_prefix(b":").unwrap_or(value);
                (field, value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            // Comments have an empty name; `id` and `retry` are for reconnecting, which no model's answer allows.
            _ => {}
        }
        Ok(())
    }

    fn dispatch<E>(
        &mut self,
        on_event: &mut impl FnMut(Event<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let result = if self.has_data {
            on_event(Event {
                name: &text(&self.name),
                data: &text(&self.data),
            })
        } else {
            Ok(())
        };
        self.name.clear();
        self.data.clear();
        self.has_data = false;
        result
    }
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]

    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn events_of(pieces: &[&[u8]]) -> Vec<(String, String)> {
        let mut events = Vec::new();
        let mut keep = |event: Event<'_>| -> Result<(), Infallible> {
            events.push((event.name.to_owned(), event.data.to_owned()));
            Ok(())
        };
        let mut parser = Parser::default();
        for piece in pieces {
            let Ok(()) = parser.push(piece, &mut keep);
        }
        let Ok(()) = parser.finish(&mut keep);
        events
    }

    #[test]
    fn the_shapes_that_servers_send() {
        let table: &[(&str, &[(&str, &str)])] = &[
            ("data: a\n\n", &[("", "a")]),
            ("data:a\n\n", &[("", "a")]),
            ("data:  a\n\n", &[("", " a")]),
            ("data\n\n", &[("", "")]),
            ("\u{feff}data: a\n\n", &[("", "a")]),
            ("data: a\r\n\r\n", &[("", "a")]),
            ("data: a\r\rdata: b\r\r", &[("", "a"), ("", "b")]),
            ("data: a\ndata: b\n\n", &[("", "a\nb")]),
            ("event: x\ndata: a\n\ndata: b\n\n", &[("x", "a"), ("", "b")]),
            (": ping\n\ndata: a\n\n: pong\n\n", &[("", "a")]),
            ("event: x\n\n", &[]),
            (
                "{\"a\":1}\n{\"b\":2}\n",
                &[("", "{\"a\":1}"), ("", "{\"b\":2}")],
            ),
            ("data: a\n{\"b\":2}\n\n", &[("", "a"), ("", "{\"b\":2}")]),
            ("id: 1\nretry: 5\nnonsense\ndata: a\n\n", &[("", "a")]),
            ("data: a", &[("", "a")]),
            ("data: a\n", &[("", "a")]),
            ("\n\n\n", &[]),
        ];
        for (body, expected) in table {
            let events = events_of(&[body.as_bytes()]);
            let events: Vec<(&str, &str)> = events
                .iter()
                .map(|(n, d)| (n.as_str(), d.as_str()))
                .collect();
            assert_eq!(&events, expected, "{body:?}");
        }
    }

    #[test]
    fn a_stream_cut_at_every_place_gives_the_same_events() {
        let body = "\u{feff}: ping\r\nevent: \u{df}\r\ndata: \u{20ac}\u{6c34}\r\ndata: \u{1f980}\r\n\r\ndata: b\n\ndata: c\r\rdata: d"
            .as_bytes();
        let whole = events_of(&[body]);
        assert_eq!(whole.len(), 4);
        for cut in 0..=body.len() {
            assert_eq!(
                events_of(&[&body[..cut], &body[cut..]]),
                whole,
                "cut at {cut}"
            );
        }
        let single: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(events_of(&single), whole);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_no_cut_changes_what_they_mean(
            lines in proptest::collection::vec("(data:|event:|:|x)?[ a\u{df}\u{1f980}]{0,4}(\r|\n|\r\n){0,2}", 0..12),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6),
        ) {
            let body = lines.concat().into_bytes();
            let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
            at.extend([0, body.len()]);
            at.sort_unstable();
            let pieces: Vec<&[u8]> = at.windows(2).map(|w| &body[w[0]..w[1]]).collect();
            prop_assert_eq!(events_of(&pieces), events_of(&[&body]));
        }
    }
}
