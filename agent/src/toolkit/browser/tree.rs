//! A page as lines: what assistive technology is told of it, each part with a reference by which a tool can name it.

use crate::toolkit::limits::short;
use chromiumoxide::cdp::browser_protocol::dom::BackendNodeId;
use chromiumoxide::cdp::browser_protocol::network::LoaderId;
use chromiumoxide::cdp::browser_protocol::page::FrameId;
use chromiumoxide::cdp::browser_protocol::target::SessionId;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// How deep lines are indented.
const MOST_INDENT: usize = 20;
/// How much of one line is shown, in bytes.
const MOST_LINE: usize = 1000;
/// How much of an address is shown, in bytes.
const MOST_ADDRESS: usize = 200;
/// How many references are kept.
const MOST_REFERENCES: usize = 100_000;

/// A node of the tree, as far as it is read. The crate's own type names every property that there is, and takes no tree with
/// one that a newer browser knows.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Node {
    #[serde(rename = "nodeId")]
    id: String,
    #[serde(default)]
    ignored: bool,
    role: Option<Said>,
    name: Option<Said>,
    value: Option<Said>,
    #[serde(default)]
    properties: Vec<Property>,
    #[serde(default)]
    child_ids: Vec<String>,
    parent_id: Option<String>,
    #[serde(rename = "backendDOMNodeId")]
    backend: Option<BackendNodeId>,
}

#[derive(Debug, Deserialize)]
struct Property {
    name: String,
    value: Said,
}

#[derive(Debug, Deserialize)]
struct Said {
    value: Option<Value>,
}

impl Said {
    /// Its text, on one line.
    fn text(said: Option<&Self>) -> String {
        let text = match said.and_then(|said| said.value.as_ref()) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        on_one_line(&text)
    }
}

/// Without line ends and other control characters, so that no page can make a line of its own.
pub(super) fn on_one_line(text: &str) -> String {
    let clean = text.replace(char::is_control, " ");
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One document of a page: the page itself, or a frame in it.
#[derive(Debug)]
pub(super) struct Document {
    /// The session to which it is known.
    pub(super) session: SessionId,
    /// The frame.
    pub(super) frame: FrameId,
    /// What was loaded into the frame.
    pub(super) loader: LoaderId,
    pub(super) nodes: Vec<Node>,
    /// The element of another document in which it stands: that document's place in the list, and the element.
    pub(super) owner: Option<(usize, BackendNodeId)>,
}

/// What a reference stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Element {
    pub(super) session: SessionId,
    pub(super) frame: FrameId,
    pub(super) loader: LoaderId,
    pub(super) backend: BackendNodeId,
}

/// References: an element keeps its own for as long as it is there, and none is given twice.
#[derive(Debug, Default)]
pub(super) struct References {
    last: u32,
    numbers: HashMap<Element, u32>,
    elements: HashMap<u32, Element>,
}

impl References {
    fn of(&mut self, element: Element) -> u32 {
        if let Some(number) = self.numbers.get(&element) {
            return *number;
        }
        self.last += 1;
        self.elements.insert(self.last, element.clone());
        self.numbers.insert(element, self.last);
        self.last
    }

    /// What it stands for; none, if it was never given or is too old.
    pub(super) fn element(&self, number: u32) -> Option<&Element> {
        self.elements.get(&number)
    }

    /// Whether there ever was such a reference.
    pub(super) fn was_given(&self, number: u32) -> bool {
        (1..=self.last).contains(&number)
    }

    /// Forgets the elements of documents that are gone, once there are very many.
    fn forget(&mut self, documents: &[Document]) {
        if self.elements.len() < MOST_REFERENCES {
            return;
        }
        let loaders: HashSet<&LoaderId> = documents.iter().map(|one| &one.loader).collect();
        self.elements
            .retain(|_, element| loaders.contains(&element.loader));
        self.numbers
            .retain(|element, _| loaders.contains(&element.loader));
    }
}

/// What only holds other things together.
const TRANSPARENT: &[&str] = &[
    "none",
    "generic",
    "paragraph",
    "LabelText",
    "RootWebArea",
    "MenuListPopup",
    "LayoutTable",
    "LayoutTableRow",
    "LayoutTableCell",
    "strong",
    "emphasis",
    "rowgroup",
];
/// What says again what stands elsewhere.
const SILENT: &[&str] = &["InlineTextBox", "ListMarker", "LineBreak"];

/// What is drawn of parts that nobody needs: a date is set as a whole.
const WHOLE: &[&str] = &["Date", "DateTime", "InputTime"];

/// The lines of a page, its frames in their places. The first document is the page itself.
pub(super) fn lines(documents: &[Document], references: &mut References) -> Vec<String> {
    references.forget(documents);
    let mut lines = Vec::new();
    let maps: Vec<HashMap<&str, &Node>> = documents
        .iter()
        .map(|document| {
            let nodes = document.nodes.iter();
            nodes.map(|node| (node.id.as_str(), node)).collect()
        })
        .collect();
    // What is still to be said, the next at the end: of which document, which node, how deep, and below which name.
    let mut open: Vec<(usize, &Node, usize, String)> = Vec::new();
    let mut said: HashSet<(usize, &str)> = HashSet::new();
    open.extend(root(documents, 0).map(|node| (0, node, 0, String::new())));
    while let Some((at, node, depth, above)) = open.pop() {
        let (Some(document), Some(map)) = (documents.get(at), maps.get(at)) else {
            continue;
        };
        if !said.insert((at, &node.id)) {
            continue;
        }
        let role = Said::text(node.role.as_ref());
        if SILENT.contains(&role.as_str()) {
            continue;
        }
        let name = Said::text(node.name.as_ref());
        let is_text = role == "StaticText";
        let is_shown = !node.ignored
            && if is_text {
                !name.is_empty() && !above.contains(&name)
            } else {
                !TRANSPARENT.contains(&role.as_str())
                    || (role == "generic" && node.flag("focusable"))
            };
        let (mut depth, mut above) = (depth, above);
        if is_shown {
            let reference = node.backend.map(|backend| {
                references.of(Element {
                    session: document.session.clone(),
                    frame: document.frame.clone(),
                    loader: document.loader.clone(),
                    backend,
                })
            });
            lines.push(line(node, &role, &name, depth, reference));
            depth = (depth + 1).min(MOST_INDENT);
            // Of a field, what is in it stands in it again.
            above = format!("{name}\n{}", Said::text(node.value.as_ref()));
        }
        if is_text || WHOLE.contains(&role.as_str()) {
            continue;
        }
        let inner = documents.iter().enumerate().filter(|(_, inner)| {
            node.backend.is_some() && inner.owner == node.backend.map(|backend| (at, backend))
        });
        let inner: Vec<_> = inner.map(|(place, _)| place).collect();
        for place in inner.into_iter().rev() {
            open.extend(root(documents, place).map(|node| (place, node, depth, String::new())));
        }
        let children = node.child_ids.iter().rev();
        let children = children.filter_map(|id| map.get(id.as_str()));
        open.extend(children.map(|child| (at, *child, depth, above.clone())));
    }
    lines
}

fn root(documents: &[Document], at: usize) -> Option<&Node> {
    let nodes = &documents.get(at)?.nodes;
    let root = nodes.iter().find(|node| node.parent_id.is_none());
    root.or_else(|| nodes.first())
}

fn line(node: &Node, role: &str, name: &str, depth: usize, reference: Option<u32>) -> String {
    let mut line = "  ".repeat(depth);
    if let Some(reference) = reference {
        let _ = write!(line, "[{reference}] ");
    }
    line.push_str(&match role {
        "StaticText" => "text".to_owned(),
        role => role.to_lowercase(),
    });
    if !name.is_empty() {
        let _ = write!(line, " {}", quoted(name));
    }
    let value = Said::text(node.value.as_ref());
    if !value.is_empty() && value != name {
        let _ = write!(line, " = {}", quoted(&value));
    }
    let mut states = Vec::new();
    for property in &node.properties {
        let said = Said::text(Some(&property.value));
        match (property.name.as_str(), said.as_str()) {
            ("level", level) => states.push(format!("level {level}")),
            ("checked" | "pressed", "true") => states.push(property.name.clone()),
            ("checked" | "pressed", "false") => states.push(format!("not {}", property.name)),
            ("checked" | "pressed", other) => states.push(format!("{} {other}", property.name)),
            ("expanded", "true") => states.push("expanded".to_owned()),
            ("expanded", "false") => states.push("collapsed".to_owned()),
            ("disabled" | "selected" | "required" | "readonly" | "modal" | "busy", "true") => {
                states.push(property.name.clone());
            }
            ("invalid", said) if !matches!(said, "" | "false") => states.push("invalid".to_owned()),
            _ => {}
        }
    }
    if !states.is_empty() {
        let _ = write!(line, " ({})", states.join(", "));
    }
    let address = node.property("url");
    if role == "link" && !address.is_empty() {
        let _ = write!(line, " -> {}", short(&address, MOST_ADDRESS));
    }
    short(&line, MOST_LINE).into_owned()
}

/// Between quotation marks of which none is the page's own.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl Node {
    /// Whether it stands for this element.
    pub(super) fn is(&self, backend: BackendNodeId) -> bool {
        self.backend == Some(backend)
    }

    fn property(&self, name: &str) -> String {
        let mut properties = self.properties.iter();
        let found = properties.find(|property| property.name == name);
        Said::text(found.map(|property| &property.value))
    }

    fn flag(&self, name: &str) -> bool {
        self.property(name) == "true"
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(loader: &str, nodes: Value, owner: Option<(usize, i64)>) -> Document {
        Document {
            session: SessionId::new("s"),
            frame: FrameId::new(format!("f{loader}")),
            loader: LoaderId::new(loader),
            nodes: serde_json::from_value(nodes).unwrap(),
            owner: owner.map(|(at, backend)| (at, BackendNodeId::new(backend))),
        }
    }

    fn node(id: u32, role: &str, name: &str, children: &[u32]) -> Value {
        json!({
            "nodeId": id.to_string(), "role": {"value": role}, "name": {"value": name}, "backendDOMNodeId": id,
            "childIds": children.iter().map(u32::to_string).collect::<Vec<_>>(),
        })
    }

    #[test]
    fn a_page_is_its_named_parts_and_not_what_holds_them_together() {
        let mut link = node(4, "link", "Home", &[5]);
        link["properties"] = json!([{"name": "url", "value": {"value": "http://a/"}}]);
        let mut field = node(6, "textbox", "Name", &[]);
        field["value"] = json!({"value": "Ada"});
        field["properties"] = json!([{"name": "required", "value": {"value": true}}, {"name": "invalid", "value": {"value": "false"}}]);
        let page = json!([
            node(1, "RootWebArea", "T", &[2, 6, 7]),
            node(2, "generic", "", &[3, 4]),
            node(3, "StaticText", "Hello", &[]),
            link,
            node(5, "StaticText", "Home", &[]),
            field,
            node(7, "paragraph", "", &[8]),
            node(8, "StaticText", "end", &[9]),
            node(9, "InlineTextBox", "end", &[]),
        ]);
        let mut references = References::default();
        let lines = lines(&[document("l", page, None)], &mut references);
        assert_eq!(
            lines,
            [
                "[1] text \"Hello\"",
                "[2] link \"Home\" -> http://a/",
                "[3] textbox \"Name\" = \"Ada\" (required)",
                "[4] text \"end\"",
            ]
        );
    }

    #[test]
    fn an_element_keeps_its_reference_and_none_is_given_twice() {
        let page = |loader| {
            document(
                loader,
                json!([
                    node(1, "RootWebArea", "", &[2]),
                    node(2, "button", "Go", &[])
                ]),
                None,
            )
        };
        let mut references = References::default();
        let first = lines(&[page("a")], &mut references);
        assert_eq!(lines(&[page("a")], &mut references), first);
        assert_eq!(lines(&[page("b")], &mut references), ["[2] button \"Go\""]);
        assert!(references.was_given(2) && !references.was_given(3) && !references.was_given(0));
        assert_eq!(references.element(1).unwrap().loader.as_ref(), "a");
    }

    #[test]
    fn a_frame_stands_in_its_element() {
        let outer = json!([
            node(1, "RootWebArea", "", &[2, 3]),
            node(2, "Iframe", "ad", &[]),
            node(3, "button", "b", &[])
        ]);
        let inner = json!([
            node(1, "RootWebArea", "", &[2]),
            node(2, "button", "a", &[])
        ]);
        let documents = [
            document("o", outer, None),
            document("i", inner, Some((0, 2))),
        ];
        let lines = lines(&documents, &mut References::default());
        assert_eq!(
            lines,
            [
                "[1] iframe \"ad\"",
                "  [2] button \"a\"",
                "[3] button \"b\""
            ]
        );
    }

    #[test]
    fn a_page_cannot_make_a_line_of_its_own() {
        let name = "a\"\n[9] button \"b\u{2028}\u{7}c";
        let page = json!([
            node(1, "RootWebArea", "", &[2]),
            node(2, "button", name, &[])
        ]);
        let lines = lines(&[document("l", page, None)], &mut References::default());
        assert_eq!(lines, ["[1] button \"a\\\" [9] button \\\"b c\""]);
    }

    #[test]
    fn a_tree_that_is_deep_or_goes_round_is_read_to_its_end() {
        let count = 5000;
        let nodes: Vec<Value> = (1..=count)
            .map(|id| node(id, "group", "g", &[id % count + 1]))
            .collect();
        let lines = lines(
            &[document("l", Value::Array(nodes), None)],
            &mut References::default(),
        );
        assert_eq!(lines.len(), 5000);
        assert!(lines.iter().all(|line| line.len() < 100));
    }
}
