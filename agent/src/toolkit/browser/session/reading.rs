use super::{Answer, Session};
use crate::toolkit::browser::tabs::Tab;
use crate::toolkit::browser::tree::{self, Document, Node, on_one_line};
use chromiumoxide::cdp::browser_protocol::accessibility::GetFullAxTreeParams;
use chromiumoxide::cdp::browser_protocol::dom::{BackendNodeId, GetFrameOwnerParams};
use chromiumoxide::cdp::browser_protocol::network::LoaderId;
use chromiumoxide::cdp::browser_protocol::page::{
    CaptureScreenshotParams, FrameId, GetFrameTreeParams,
};
use chromiumoxide::cdp::browser_protocol::target::SessionId;
use serde::Deserialize;
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
    session: SessionId,
    frame: FrameId,
    loader: LoaderId,
    /// The session of what it stands in.
    parent: Option<SessionId>,
}

/// The frames of a session, and of each what is needed: the crate's own types name everything that a browser may say of one,
/// and take nothing that a newer browser says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frames {
    frame_tree: Branch,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branch {
    frame: Leaf,
    #[serde(default)]
    child_frames: Vec<Branch>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Leaf {
    id: FrameId,
    loader_id: LoaderId,
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
        let take = CaptureScreenshotParams::default();
        Ok(self.ask(Some(&tab.session), take).await?.data.into())
    }

    /// The frames of a tab, the outermost first, each after the one in which it stands.
    async fn places(&self, tab: &Tab) -> Answer<Vec<Place>> {
        let mut places = Vec::new();
        let outermost = (tab.session.clone(), None);
        let frames = tab.frames.iter();
        let sessions = frames.map(|frame| (frame.session.clone(), Some(frame.parent.clone())));
        for (session, parent) in std::iter::once(outermost).chain(sessions) {
            let tree = GetFrameTreeParams::default();
            let tree = self.link.ask(Some(&session), tree, self.answer).await;
            // A frame may go away while it is looked at.
            let Ok(Frames { frame_tree }) = tree else {
                continue;
            };
            let mut open = vec![(frame_tree, parent)];
            while let Some((branch, parent)) = open.pop() {
                let inner = branch.child_frames.into_iter();
                open.extend(inner.map(|child| (child, Some(session.clone()))));
                places.push(Place {
                    session: session.clone(),
                    frame: branch.frame.id,
                    loader: branch.frame.loader_id,
                    parent,
                });
            }
        }
        places.truncate(MOST_FRAMES);
        Ok(places)
    }

    /// What is loaded into a frame now.
    pub(super) async fn loader(&self, tab: &Tab, frame: &FrameId) -> Answer<Option<LoaderId>> {
        let mut places = self.places(tab).await?.into_iter();
        Ok(places
            .find(|place| place.frame == *frame)
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
                Some(session) => {
                    let Ok(backend) = self.owner(session, &place.frame).await else {
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
            let whole = GetFullAxTreeParams {
                frame_id: Some(place.frame.clone()),
                ..GetFullAxTreeParams::default()
            };
            let tree = self.link.ask(Some(&place.session), whole, self.answer);
            let Tree { nodes } = match (tree.await, &place.parent) {
                (Ok(tree), _) => tree,
                (Err(_), Some(_)) => continue,
                (Err(error), None) => return Err(error.into()),
            };
            documents.push(Document {
                nodes,
                session: place.session,
                frame: place.frame,
                loader: place.loader,
                owner,
            });
        }
        Ok(documents)
    }

    /// The element in which a frame stands, by its number in the session of what is around it.
    pub(super) async fn owner(
        &self,
        session: &SessionId,
        frame: &FrameId,
    ) -> Answer<BackendNodeId> {
        let frame = GetFrameOwnerParams::new(frame.clone());
        Ok(self.ask(Some(session), frame).await?.backend_node_id)
    }
}
