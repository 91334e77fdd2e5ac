use std::collections::VecDeque;
use std::fmt::Write as _;

/// How much of an output is kept whole.
pub(super) const WHOLE: usize = 4 * 1024 * 1024;

/// What is kept of an output: its head and its tail, and a true count of what was between.
///
/// Nothing of an output grows without bound here, however long it goes on and whatever it is.
#[derive(Debug)]
pub(crate) struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    /// From the beginning on, for who wants to read more of it.
    whole: Vec<u8>,
    /// Bytes in all.
    total: u64,
    /// Line ends in all.
    lines: u64,
}

impl Kept {
    pub(crate) fn new(head_limit: usize, tail_limit: usize) -> Self {
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit,
            whole: Vec::new(),
            total: 0,
            lines: 0,
        }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        self.lines = self.lines.saturating_add(line_ends(bytes.iter()));
        let room = WHOLE.saturating_sub(self.whole.len()).min(bytes.len());
        self.whole
            .extend_from_slice(bytes.get(..room).unwrap_or_default());
        let room = self.head_limit.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let rest = rest
            .get(rest.len().saturating_sub(self.tail_limit)..)
            .unwrap_or_default();
        let over = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..over.min(self.tail.len()));
        self.tail.extend(rest);
    }

    /// Whether nothing came.
    pub(crate) fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Whether [`text`](Self::text) leaves something out.
    pub(crate) fn is_cut(&self) -> bool {
        self.total != (self.head.len() + self.tail.len()) as u64
    }

    /// All of it as text, if it is no more than [`WHOLE`]; of a longer one the beginning, and how many bytes are missing.
    pub(crate) fn whole(&self) -> (String, u64) {
        let (text, _) = readable(&self.whole);
        (text, self.total - self.whole.len() as u64)
    }

    /// As text: all of it, or its head, a line that says how much is missing, and its tail. Cut between characters, and
    /// between lines where there are any; what is no text is replaced, and said so. `elsewhere` says where the missing part can be read, if it can.
    pub(crate) fn text(&self, elsewhere: &str) -> String {
        if !self.is_cut() {
            let whole: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
            let (mut text, replaced) = readable(&whole);
            note_replaced(&mut text, replaced);
            return text;
        }
        let head = head_of_whole_lines(whole_characters(&self.head));
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let tail = tail_of_whole_lines(tail.get(continuation(&tail)..).unwrap_or_default());
        let left_out = self.total - (head.len() + tail.len()) as u64;
        let lines = self.lines - line_ends(head.iter()) - line_ends(tail.iter());
        let (mut text, replaced_before) = readable(head);
        end_line(&mut text);
        let _ = match lines {
            0 => writeln!(text, "[{left_out} bytes left out here{elsewhere}]"),
            lines => writeln!(
                text,
                "[{left_out} bytes with {lines} line ends left out here{elsewhere}]"
            ),
        };
        let (after, replaced_after) = readable(tail);
        text.push_str(&after);
        note_replaced(&mut text, replaced_before + replaced_after);
        text
    }
}

pub(super) fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

fn note_replaced(text: &mut String, replaced: usize) {
    if replaced > 0 {
        end_line(text);
        let _ = write!(
            text,
            "[\u{fffd} stands for what is no text, {replaced} times]"
        );
    }
}

/// Text without control characters but for tabs and line ends, and how many places were replaced.
fn readable(bytes: &[u8]) -> (String, usize) {
    let mut replaced = 0;
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() && !matches!(character, '\n' | '\r' | '\t') {
                replaced += 1;
                text.push('\u{fffd}');
            } else {
                text.push(character);
            }
        }
        if !chunk.invalid().is_empty() {
            replaced += 1;
            text.push('\u{fffd}');
        }
    }
    (text, replaced)
}

fn line_ends<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.filter(|byte| **byte == b'\n').count() as u64
}

/// Without the beginning of a character at the end.
fn whole_characters(bytes: &[u8]) -> &[u8] {
    let Some(last) = bytes.utf8_chunks().last() else {
        return bytes;
    };
    // What is invalid at the end may be the beginning of a character that was cut; a byte that begins none is kept and shown
    // as what it is.
    let cut = last.invalid();
    let begins = cut.first().is_some_and(|byte| (0xc2..=0xf4).contains(byte));
    let keep = bytes.len() - if begins { cut.len() } else { 0 };
    bytes.get(..keep).unwrap_or_default()
}

/// How many bytes at the beginning continue a character that was cut: three at most.
fn continuation(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(3)
        .take_while(|byte| (0x80..0xc0).contains(*byte))
        .count()
}

/// Up to its last line end, if that keeps at least half.
fn head_of_whole_lines(bytes: &[u8]) -> &[u8] {
    match bytes.iter().rposition(|byte| *byte == b'\n') {
        Some(end) if end >= bytes.len() / 2 => bytes.get(..=end).unwrap_or_default(),
        _ => bytes,
    }
}

/// From its first line on, if that keeps at least half.
fn tail_of_whole_lines(bytes: &[u8]) -> &[u8] {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) if end <= bytes.len() / 2 => bytes.get(end + 1..).unwrap_or_default(),
        _ => bytes,
    }
}
