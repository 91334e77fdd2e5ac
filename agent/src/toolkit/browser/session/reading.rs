use super::{Answer, Session};
use crate::toolkit::browser::tabs::Tab;
use crate::toolkit::browser::tree::{self, Document, Node, on_one_line};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashSet;

/// How many elements a page may have to be shown as a tree.
const MOST_ELEMENTS: u64 = 50_000;
/// How many frames are looked into.
const MOST_FRAMES: usize = 30;

/// What a page is, in short.
#[derive(Debug, Deserialize)]
pub(in super::super) struct Page {
    #[serde(skip)]
    pub(in super::super) tab: u32,
    pub(in super::super) title: String,
    pub(in super::super) url: String,
    pub(in super::super) status: u64,
    elements: u64,
}

/// A frame, and what was loaded into it.
struct Place {
    session: String,
    frame: String,
    loader: String,
    parent: Option<(String, String)>,
}

impl Session {
    /// What the tab shows, in short.
    pub(in super::super) async fn page(&self) -> Answer<Page> {
        let tab = self.tab()?;
        let about = self.evaluate(&tab, include_str!("../script/about.js"));
        let mut page: Page = serde_json::from_value(about.await?)?;
        page.tab = tab.number;
        page.title = on_one_line(&page.title);
        page.url = on_one_line(&page.url);
        Ok(page)
    }

    /// The words of the page, line by line, and how many of them were too many to be read, in UTF-16 units.
    pub(in super::super) async fn text(&self) -> Answer<(Vec<String>, u64)> {
        #[derive(Deserialize)]
        struct Words {
            text: String,
            length: u64,
        }
        let tab = self.tab()?;
        let words = self.evaluate(&tab, include_str!("../script/text.js"));
        let words: Words = serde_json::from_value(words.await?)?;
        let missing = words
            .length
            .saturating_sub(words.text.encode_utf16().count() as u64);
        let clean = |line: &str| line.trim_end().replace(char::is_control, " ");
        Ok((words.text.lines().map(clean).collect(), missing))
    }

    /// The page as a tree, line by line.
    pub(in super::super) async fn tree(&mut self) -> Answer<Vec<String>> {
        let tab = self.tab()?;
        let page = self.page().await?;
        if page.elements > MOST_ELEMENTS {
            return Err(format!(
                "the page has {} elements, more than the {MOST_ELEMENTS} that are shown as a tree; read it as text",
                page.elements
            )
            .into());
        }
        let documents = self.documents(&tab).await?;
        let lines = tree::lines(&documents, &mut self.references);
        Ok(lines)
    }

    /// The page as a tree, and of it what the model has not seen; all of it, if it was never shown this page.
    pub(in super::super) async fn news(&mut self) -> Answer<(Vec<String>, usize)> {
        let lines = self.tree().await?;
        let now: HashSet<String> = lines
            .iter()
            .map(|line| line.trim_start().to_owned())
            .collect();
        let before = std::mem::replace(&mut self.shown, now);
        let known = |line: &String| before.contains(line.trim_start());
        let same = lines.iter().filter(|line| known(line)).count();
        Ok((
            lines.into_iter().filter(|line| !known(line)).collect(),
            same,
        ))
    }

    /// Remembers what the model was shown.
    pub(in super::super) fn was_shown(&mut self, lines: &[String]) {
        self.shown = lines
            .iter()
            .map(|line| line.trim_start().to_owned())
            .collect();
    }

    /// What is seen of the page, as a PNG in base64.
    pub(in super::super) async fn screenshot(&self) -> Answer<String> {
        let tab = self.tab()?;
        let take = json!({"format": "png"});
        let session = Some(tab.session.as_str());
        let taken = self.ask(session, "Page.captureScreenshot", take).await?;
        let data = taken.get("data").and_then(Value::as_str);
        Ok(data.ok_or("the browser took no picture")?.to_owned())
    }

    /// The frames of a tab, the outermost first, each after the one in which it stands.
    async fn places(&self, tab: &Tab) -> Answer<Vec<Place>> {
        let mut places = Vec::new();
        let outermost = (tab.session.clone(), None);
        let frames = tab.frames.iter();
        let sessions = frames.map(|frame| (frame.session.clone(), Some(frame.parent.clone())));
        for (session, parent) in std::iter::once(outermost).chain(sessions) {
            let tree = self
                .ask(Some(&session), "Page.getFrameTree", json!({}))
                .await;
            // A frame may go away while it is looked at.
            let Ok(tree) = tree else { continue };
            let mut open = vec![(tree.get("frameTree"), parent)];
            while let Some((Some(branch), parent)) = open.pop() {
                let text = |pointer| {
                    let text = branch.pointer(pointer).and_then(Value::as_str);
                    text.unwrap_or_default().to_owned()
                };
                let frame = text("/frame/id");
                for child in branch
                    .get("childFrames")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                {
                    open.push((Some(child), Some(session.clone())));
                }
                places.push(Place {
                    session: session.clone(),
                    parent: parent.map(|parent| (parent, frame.clone())),
                    loader: text("/frame/loaderId"),
                    frame,
                });
            }
        }
        places.truncate(MOST_FRAMES);
        Ok(places)
    }

    /// What is loaded into a frame now.
    pub(super) async fn loader(&self, tab: &Tab, frame: &str) -> Answer<Option<String>> {
        let mut places = self.places(tab).await?.into_iter();
        Ok(places
            .find(|place| place.frame == frame)
            .map(|place| place.loader))
    }

    async fn documents(&self, tab: &Tab) -> Answer<Vec<Document>> {
        #[derive(Deserialize)]
        struct Tree {
            nodes: Vec<Node>,
        }
        let mut documents: Vec<Document> = Vec::new();
        for place in self.places(tab).await? {
            let owner = match &place.parent {
                Some((session, frame)) => {
                    let Ok(backend) = self.owner(session, frame).await else {
                        continue;
                    };
                    // Which document has the element is known by the session alone: no two of one have it.
                    let holds = |document: &Document| {
                        document.session == *session
                            && document.nodes.iter().any(|node| node.is(backend))
                    };
                    let Some(at) = documents.iter().position(holds) else {
                        continue;
                    };
                    Some((at, backend))
                }
                None => None,
            };
            let whole = json!({"frameId": place.frame});
            let session = Some(place.session.as_str());
            let tree = self
                .ask(session, "Accessibility.getFullAXTree", whole)
                .await;
            let tree = match (tree, &place.parent) {
                (Ok(tree), _) => tree,
                (Err(_), Some(_)) => continue,
                (Err(error), None) => return Err(error.into()),
            };
            documents.push(Document {
                nodes: serde_json::from_value::<Tree>(tree)?.nodes,
                session: place.session,
                frame: place.frame,
                loader: place.loader,
                owner,
            });
        }
        Ok(documents)
    }

    /// The element in which a frame stands, by its number in the session of what is around it.
    pub(super) async fn owner(&self, session: &str, frame: &str) -> Answer<i64> {
        let frame = json!({"frameId": frame});
        let owner = self.ask(Some(session), "DOM.getFrameOwner", frame).await?;
        let backend = owner.get("backendNodeId").and_then(Value::as_i64);
        Ok(backend.ok_or("a frame stands nowhere")?)
    }
}
