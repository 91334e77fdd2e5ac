use super::pointer::push_key;
use std::borrow::Cow;
use std::fmt;

/// How many problems are told at once.
pub(super) const MOST_PROBLEMS: usize = 32;
/// How long a message, or a path, gets: in bytes.
const MOST_TEXT: usize = 600;

/// One thing that is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where: a JSON pointer (RFC 6901); empty for the arguments as a whole.
    pub path: String,
    /// What is wrong and what would be right, in words that a model can act on.
    pub message: String,
}

impl Problem {
    /// A problem at a JSON pointer.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Everything that is wrong with a call's arguments, in the order in which the parameters are declared. Never empty.
///
/// At most 32 are kept; [`omitted`](Self::omitted) counts the rest. Displays as one line a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems {
    list: Vec<Problem>,
    omitted: usize,
}

impl Problems {
    /// One problem.
    pub fn one(problem: Problem) -> Self {
        Self {
            list: vec![problem],
            omitted: 0,
        }
    }

    /// These problems; `None` if there are none.
    pub fn new(list: Vec<Problem>) -> Option<Self> {
        let mut problems = Report::default();
        for problem in list {
            problems.add(problem);
        }
        problems.finish()
    }

    /// The problems, those of earlier parameters first.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.list.iter()
    }

    /// The problems, those of earlier parameters first.
    pub fn as_slice(&self) -> &[Problem] {
        &self.list
    }

    /// These, behind one that is about the whole.
    pub(crate) fn behind(self, first: Problem) -> Self {
        let mut report = Report::default();
        report.add(first);
        report.append(self.list);
        report.omit(self.omitted);
        Self {
            list: report.list,
            omitted: report.omitted,
        }
    }

    /// As it displays.
    pub(crate) fn to_text(&self) -> String {
        let each = self.list.iter();
        let each = each.map(|problem| problem.path.len() + problem.message.len() + 3);
        let mut text = String::with_capacity(each.sum::<usize>() + 16);
        for (index, problem) in self.list.iter().enumerate() {
            if index > 0 {
                text.push('\n');
            }
            if !problem.path.is_empty() {
                text.push_str(&problem.path);
                text.push_str(": ");
            }
            text.push_str(&problem.message);
        }
        if self.omitted > 0 {
            text.push_str("\nand ");
            text.push_str(&self.omitted.to_string());
            text.push_str(" more");
        }
        text
    }

    pub(super) fn into_list(self) -> Vec<Problem> {
        self.list
    }

    /// How many more there were than are kept.
    pub fn omitted(&self) -> usize {
        self.omitted
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}

impl std::error::Error for Problems {}

/// Where the walk is.
#[derive(Debug, Clone)]
pub(super) enum Step<'a> {
    Key(Cow<'a, str>),
    /// A key that no schema names, so that it may be as secret as a value.
    Other(Cow<'a, str>),
    Index(usize),
}

/// Problems while they are found.
#[derive(Debug, Default)]
pub(super) struct Report<'a> {
    pub(super) path: Vec<Step<'a>>,
    list: Vec<Problem>,
    omitted: usize,
    /// Inside how many values that must never be shown.
    pub(super) hidden: usize,
    /// Something was found, or let pass, that mending might change.
    pub(super) may_mend: bool,
}

impl Report<'_> {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether one more would only be counted.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST_PROBLEMS
    }

    /// A problem where the walk is.
    pub(super) fn push(&mut self, message: String) {
        if self.is_full() {
            self.omitted += 1;
        } else {
            let (path, _) = self.pointer();
            self.add(Problem { path, message });
        }
    }

    /// A problem at a key of where the walk is, one that a schema names.
    pub(super) fn push_at(&mut self, key: &str, message: String) {
        if self.is_full() {
            self.omitted += 1;
        } else {
            let (mut path, is_whole) = self.pointer();
            if is_whole {
                push_key(&mut path, key);
            }
            self.add(Problem { path, message });
        }
    }

    /// Counts problems that are not kept.
    pub(super) fn omit(&mut self, count: usize) {
        self.omitted += count;
    }

    pub(super) fn add(&mut self, mut problem: Problem) {
        if self.is_full() {
            self.omitted += 1;
            return;
        }
        shorten(&mut problem.message);
        shorten(&mut problem.path);
        self.list.push(problem);
    }

    /// Takes the problems found since there were `from`.
    pub(super) fn split_off(&mut self, from: usize) -> Vec<Problem> {
        if from == 0 {
            return std::mem::take(&mut self.list);
        }
        self.list.split_off(from)
    }

    /// Puts back problems that were taken.
    pub(super) fn append(&mut self, problems: Vec<Problem>) {
        if self.list.is_empty() && problems.len() <= MOST_PROBLEMS {
            self.list = problems;
            return;
        }
        for problem in problems {
            self.add(problem);
        }
    }

    /// Where the walk is, as far as it may be told, and whether that is all of it.
    fn pointer(&self) -> (String, bool) {
        let mut path = String::new();
        for step in &self.path {
            match step {
                // Only what is declared is hidden, so this stands inside of it.
                Step::Other(_) if self.hidden > 0 => return (path, false),
                Step::Key(key) | Step::Other(key) => push_key(&mut path, key),
                Step::Index(index) => {
                    path.push('/');
                    path.push_str(&index.to_string());
                }
            }
        }
        (path, true)
    }

    pub(super) fn finish(self) -> Option<Problems> {
        (!self.list.is_empty()).then_some(Problems {
            list: self.list,
            omitted: self.omitted,
        })
    }
}

/// The problems of one object, each with the rank of its property: they are told in the order of declaration, the rest
/// behind. Mostly there are those of one property, which cost no list.
#[derive(Debug, Default)]
pub(super) struct Found {
    first: Option<(usize, Vec<Problem>)>,
    /// In their order.
    more: Vec<(usize, Vec<Problem>)>,
}

impl Found {
    pub(super) fn push(&mut self, rank: usize, problems: Vec<Problem>) {
        if self.first.is_none() {
            self.first = Some((rank, problems));
            return;
        }
        let at = self.more.partition_point(|(other, _)| *other <= rank);
        self.more.insert(at, (rank, problems));
    }

    pub(super) fn put_into(mut self, report: &mut Report<'_>) {
        for (rank, problems) in self.more {
            if let Some((_, first)) = self.first.take_if(|(first, _)| *first <= rank) {
                report.append(first);
            }
            report.append(problems);
        }
        if let Some((_, first)) = self.first {
            report.append(first);
        }
    }
}

fn shorten(text: &mut String) {
    if text.len() > MOST_TEXT {
        text.truncate(text.floor_char_boundary(MOST_TEXT));
        text.push('…');
    }
}
