//! A conversation as lines of JSON: a heading, then one line a change. A line counts when it is whole.

use crate::message::Message;
use crate::run::{Change, SessionError, Stored};
use serde::{Deserialize, Serialize};

/// The form of the lines. A change that older code cannot read gets the next number.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Heading {
    format: u32,
    /// For whoever looks into the file.
    id: String,
}

#[derive(Serialize)]
struct Written<'a> {
    keep: usize,
    add: &'a [Message],
    head: &'a str,
}

#[derive(Deserialize)]
struct Read {
    keep: usize,
    add: Vec<Message>,
    head: String,
}

/// What the lines say.
pub(super) struct Lines {
    pub(super) stored: Option<Stored>,
    /// How many bytes of them are whole: what stands behind was being written when its process died, and never counted.
    pub(super) whole: usize,
}

/// The line with which the file of a conversation begins.
pub(super) fn heading(id: &str) -> Result<Vec<u8>, SessionError> {
    line(&Heading {
        format: FORMAT,
        id: id.to_owned(),
    })
}

/// The line of a change.
pub(super) fn change(change: Change<'_>) -> Result<Vec<u8>, SessionError> {
    line(&Written {
        keep: change.keep,
        add: change.add,
        head: change.head,
    })
}

fn line(value: &impl Serialize) -> Result<Vec<u8>, SessionError> {
    let mut line = serde_json::to_vec(value).map_err(SessionError::store)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads the lines of a conversation.
///
/// JSON text holds no line end and no byte that is zero, so a line of which a part never reached the disk is not whole: it
/// lacks its end, or has a hole. Only the last one may be so; of any other it is damage.
pub(super) fn read(text: &[u8], id: &str) -> Result<Lines, SessionError> {
    let damaged = |number: usize, why: &dyn std::fmt::Display| SessionError::Unreadable {
        id: id.to_owned(),
        why: format!("line {number} of its file is damaged: {why}"),
    };
    let mut lines = Lines {
        stored: None,
        whole: 0,
    };
    for (number, line) in (1..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        let is_last = lines.whole + line.len() == text.len();
        if is_last && line.last() != Some(&b'\n') {
            break;
        }
        if number == 1 {
            match serde_json::from_slice::<Heading>(line) {
                Ok(heading) if heading.format == FORMAT => {}
                Ok(Heading { format, .. }) => {
                    return Err(SessionError::Unreadable {
                        id: id.to_owned(),
                        why: format!(
                            "its file was written in format {format}, and this program reads format {FORMAT}"
                        ),
                    });
                }
                Err(_) if is_last => break,
                Err(error) => return Err(damaged(number, &error)),
            }
        } else {
            let read = match serde_json::from_slice::<Read>(line) {
                Ok(read) => read,
                Err(_) if is_last => break,
                Err(error) => return Err(damaged(number, &error)),
            };
            let stored = lines.stored.get_or_insert_default();
            if read.keep > stored.messages.len() {
                return Err(damaged(number, &"it keeps more messages than there are"));
            }
            stored.messages.truncate(read.keep);
            stored.messages.extend(read.add);
            stored.head = read.head;
        }
        lines.whole += line.len();
    }
    Ok(lines)
}

/// The same conversation in the fewest lines.
pub(super) fn shortest(id: &str, stored: &Stored) -> Result<Vec<u8>, SessionError> {
    let mut text = heading(id)?;
    text.extend(change(Change::new(0, &stored.messages, &stored.head))?);
    Ok(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]
    use super::*;

    fn written() -> (Vec<u8>, Vec<usize>) {
        let mut text = heading("a").unwrap();
        let mut ends = vec![text.len()];
        let said = [Message::user("one\ntwo"), Message::user("three")];
        for (keep, add) in [(0, &said[..]), (1, &said[..1]), (0, &[])] {
            text.extend(change(Change::new(keep, add, "{\"head\":1}")).unwrap());
            ends.push(text.len());
        }
        (text, ends)
    }

    #[test]
    fn a_file_that_breaks_off_anywhere_holds_the_changes_that_are_whole() {
        let (text, ends) = written();
        for cut in 0..=text.len() {
            let whole = ends.iter().rev().find(|end| **end <= cut);
            let lines = read(&text[..cut], "a").unwrap();
            assert_eq!(lines.whole, whole.copied().unwrap_or(0), "cut at {cut}");
            let is_stored = cut >= ends[1];
            assert_eq!(lines.stored.is_some(), is_stored, "cut at {cut}");
        }
    }

    #[test]
    fn a_last_line_with_a_hole_is_not_whole_and_any_other_one_is_damage() {
        let (text, ends) = written();
        let hole = |from: usize| {
            let mut text = text.clone();
            text[from + 4..from + 8].fill(0);
            text
        };
        assert_eq!(read(&hole(ends[2]), "a").unwrap().whole, ends[2]);
        for (number, from) in [(1, 0), (2, ends[0]), (3, ends[1])] {
            let error = read(&hole(from), "a").err().unwrap().to_string();
            let said = format!(
                "the conversation `a` cannot be read: line {number} of its file is damaged"
            );
            assert!(error.starts_with(&said), "{error}");
        }
    }

    #[test]
    fn an_unknown_format_is_refused_with_its_number() {
        let error = read(b"{\"format\":2,\"id\":\"a\"}\n{\"new\":1}\n", "a").err();
        assert_eq!(
            error.unwrap().to_string(),
            "the conversation `a` cannot be read: its file was written in format 2, and this program reads format 1"
        );
    }
}
