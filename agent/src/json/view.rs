use super::value::{Json, Kind};
use std::fmt;

/// A look at arguments that may not be whole: to be shown, not to be run.
///
/// It reads like a value and turns into text for people, and into nothing else.
///
/// ```
/// use agent::json::PartialArguments;
///
/// let mut arguments = PartialArguments::new();
/// arguments.push(r#"{"to": ["ann@example.org"], "body": "Dear A"#);
/// let view = arguments.view();
/// assert_eq!(view.get("body").and_then(|body| body.as_str()), Some("Dear A"));
/// assert_eq!(view.get("to").map(|to| to.to_string()).as_deref(), Some(r#"["ann@example.org"]"#));
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct View<'v>(&'v Json<'v>);

impl<'v> View<'v> {
    pub(super) fn new(value: &'v Json<'_>) -> Self {
        Self(value)
    }

    /// What kind of value it is.
    pub fn kind(self) -> Kind {
        self.0.kind()
    }

    /// The value of a member.
    pub fn get(self, key: &str) -> Option<View<'v>> {
        self.0.as_object()?.get(key).map(View)
    }

    /// The members of an object, in order; none for other values.
    ///
    /// From the end, `next_back` gives what came last.
    pub fn members(self) -> impl DoubleEndedIterator<Item = (&'v str, View<'v>)> {
        let object = self.0.as_object().into_iter();
        object.flat_map(|object| object.iter().map(|(key, value)| (key, View(value))))
    }

    /// The items of an array, in order; none for other values.
    ///
    /// From the end, `next_back` gives what came last.
    pub fn items(self) -> impl DoubleEndedIterator<Item = View<'v>> + ExactSizeIterator {
        let items = match self.0 {
            Json::Array(items) => items.as_slice(),
            _ => &[],
        };
        items.iter().map(View)
    }

    /// The string, if it is one.
    pub fn as_str(self) -> Option<&'v str> {
        self.0.as_str()
    }
}

impl fmt::Display for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.0, f)
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.0, f)
    }
}
