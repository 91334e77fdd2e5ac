//! What the browser's events say: which tabs there are, which of them load, and what happened on the way.

use super::link::{Call, Event};
use crate::toolkit::limits::beginning;
use chromiumoxide::cdp::browser_protocol::browser::EventDownloadWillBegin;
use chromiumoxide::cdp::browser_protocol::emulation::SetDeviceMetricsOverrideParams;
use chromiumoxide::cdp::browser_protocol::inspector::{self, EventTargetCrashed};
use chromiumoxide::cdp::browser_protocol::page::{
    self, EventFileChooserOpened, EventFrameRequestedNavigation, EventFrameStartedLoading,
    EventFrameStartedNavigating, EventFrameStoppedLoading, EventJavascriptDialogOpening,
    EventWindowOpen, FrameId, HandleJavaScriptDialogParams, SetInterceptFileChooserDialogParams,
};
use chromiumoxide::cdp::browser_protocol::target::{
    CloseTargetParams, DetachFromTargetParams, EventAttachedToTarget, EventDetachedFromTarget,
    SessionId, SetAutoAttachParams, TargetId,
};
use chromiumoxide::cdp::js_protocol::runtime::RunIfWaitingForDebuggerParams;
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What a page is shown on, in points.
const WIDTH: u32 = 1280;
const HEIGHT: u32 = 800;
/// How many tabs may be open.
const MOST_TABS: usize = 10;
/// How many notes are kept, and how long one may be, in bytes.
const MOST_NOTES: usize = 20;
const MOST_NOTE: usize = 300;

/// The tabs, as the driver of the link and the tools both see them.
#[derive(Debug, Default)]
pub(super) struct Tabs {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tabs: Vec<Tab>,
    /// The session of the tab that is looked at.
    pub(super) current: Option<SessionId>,
    notes: Vec<String>,
    opened: u32,
}

/// A tab.
#[derive(Debug, Clone)]
pub(super) struct Tab {
    /// What it is called, for as long as the browser runs.
    pub(super) number: u32,
    pub(super) session: SessionId,
    /// Its own name, which is that of its outermost frame.
    pub(super) target: TargetId,
    pub(super) is_loading: bool,
    /// Whether its page asked to go elsewhere, which may come to nothing.
    pub(super) is_leaving: bool,
    /// Frames of other sites, each in a process of its own.
    pub(super) frames: Vec<Frame>,
}

/// A frame with a session of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) session: SessionId,
    pub(super) id: FrameId,
    /// The session of what it stands in.
    pub(super) parent: SessionId,
}

impl Tab {
    /// Its outermost frame.
    pub(super) fn frame(&self) -> FrameId {
        FrameId::new(self.target.clone())
    }
}

impl Tabs {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what a tab asked for and did not do.
    pub(super) fn stay(&self) {
        for tab in &mut self.state().tabs {
            tab.is_leaving = false;
        }
    }

    /// The tab that is looked at.
    pub(super) fn current(&self) -> Option<Tab> {
        self.state().looked_at().cloned()
    }

    /// Waits until `condition` holds of what is known.
    ///
    /// # Cancel safety
    ///
    /// It may be dropped and called again.
    pub(super) async fn until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before the look, so that what happens after it is not missed.
            changed.as_mut().enable();
            if condition(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    /// What happened since this was last asked.
    pub(super) fn notes(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notes)
    }

    /// Takes in what happened, and says what is to be done at once.
    pub(super) fn on(&self, event: &Event) -> Vec<Call> {
        let calls = self.state().on(event);
        self.changed.notify_waiters();
        calls
    }
}

impl State {
    fn looked_at(&self) -> Option<&Tab> {
        let session = self.current.as_ref()?;
        self.tabs.iter().find(|tab| tab.session == *session)
    }

    /// Whether the tab that is looked at loads.
    pub(super) fn is_loading(&self) -> bool {
        self.looked_at().is_some_and(|tab| tab.is_loading)
    }

    /// Whether its page asked to go elsewhere.
    pub(super) fn is_leaving(&self) -> bool {
        self.looked_at().is_some_and(|tab| tab.is_leaving)
    }

    /// Whether something happened that was not said yet.
    pub(super) fn has_notes(&self) -> bool {
        !self.notes.is_empty()
    }

    pub(super) fn note(&mut self, note: impl AsRef<str>) {
        if self.notes.len() < MOST_NOTES {
            let note = note.as_ref().split_whitespace().collect::<Vec<_>>();
            let note = note.join(" ");
            self.notes.push(beginning(&note, MOST_NOTE).to_owned());
        }
    }

    fn tab(&mut self, session: Option<&SessionId>) -> Option<&mut Tab> {
        let session = session?;
        self.tabs.iter_mut().find(|tab| {
            tab.session == *session || tab.frames.iter().any(|frame| frame.session == *session)
        })
    }

    /// Sets whether a tab loads, if `frame` is its outermost.
    fn set_loading(&mut self, session: Option<&SessionId>, frame: &str, is_loading: bool) {
        if let Some(tab) = self.tab(session)
            && tab.target.as_ref() == frame
        {
            tab.is_loading = is_loading;
            tab.is_leaving = false;
        }
    }

    fn on(&mut self, event: &Event) -> Vec<Call> {
        let text = |pointer: &str| {
            let value = event.params.pointer(pointer).and_then(Value::as_str);
            value.unwrap_or_default()
        };
        let session = event.session.as_ref();
        match event.method.as_ref() {
            EventAttachedToTarget::IDENTIFIER => return self.attached(session, &text),
            EventDetachedFromTarget::IDENTIFIER => {
                self.detached(&SessionId::new(text("/sessionId")));
            }
            EventFrameRequestedNavigation::IDENTIFIER if text("/disposition") == "currentTab" => {
                if let Some(tab) = self.tab(session)
                    && tab.target.as_ref() == text("/frameId")
                {
                    tab.is_leaving = true;
                }
            }
            // Another tab comes, unless it is kept from it.
            EventWindowOpen::IDENTIFIER => {
                if let Some(tab) = self.tab(session) {
                    tab.is_leaving = true;
                }
            }
            EventFrameStartedLoading::IDENTIFIER | EventFrameStartedNavigating::IDENTIFIER => {
                self.set_loading(session, text("/frameId"), true);
            }
            EventFrameStoppedLoading::IDENTIFIER => {
                self.set_loading(session, text("/frameId"), false);
            }
            EventJavascriptDialogOpening::IDENTIFIER => {
                // To leave a page is what the model asked for; anything else a page asks is not agreed to.
                let is_leaving = text("/type") == "beforeunload";
                self.note(match text("/type") {
                    "beforeunload" => {
                        "the page asked whether it should be left, and was".to_owned()
                    }
                    "alert" => format!("the page said in a dialog: {:?}", text("/message")),
                    _ => format!(
                        "the page asked in a dialog, which was dismissed: {:?}",
                        text("/message")
                    ),
                });
                let answer = HandleJavaScriptDialogParams::new(is_leaving);
                return vec![Call::new(session, answer)];
            }
            EventDownloadWillBegin::IDENTIFIER => {
                let name = text("/suggestedFilename");
                self.note(format!(
                    "a download was refused: {name:?} from {}",
                    text("/url")
                ));
            }
            EventFileChooserOpened::IDENTIFIER => {
                self.note("the page asked for a file, and got none: files are not given to pages");
            }
            EventTargetCrashed::IDENTIFIER => {
                if let Some(tab) = self.tab(session) {
                    let note = format!("tab {} crashed and was closed", tab.number);
                    let close = close(tab.target.clone());
                    self.note(note);
                    return vec![close];
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn attached<'e>(
        &mut self,
        parent: Option<&SessionId>,
        text: &impl Fn(&str) -> &'e str,
    ) -> Vec<Call> {
        let session = SessionId::new(text("/sessionId"));
        let target = text("/targetInfo/targetId");
        let go_on = Call::new(Some(&session), RunIfWaitingForDebuggerParams::default());
        let mut calls = match text("/targetInfo/type") {
            "page" => {
                if self.tabs.len() >= MOST_TABS {
                    self.note(format!("a tab was closed again: {MOST_TABS} are open"));
                    return vec![close(TargetId::new(target))];
                }
                self.opened += 1;
                let by_page = !text("/targetInfo/openerId").is_empty();
                if by_page {
                    self.note(format!(
                        "the page opened tab {}, which is looked at now; `browser_tabs` goes back",
                        self.opened
                    ));
                }
                self.current = Some(session.clone());
                self.tabs.push(Tab {
                    number: self.opened,
                    session: session.clone(),
                    target: TargetId::new(target),
                    // What a page opens always says when it is there, also if it is empty; ours is there already.
                    is_loading: by_page,
                    is_leaving: false,
                    frames: Vec::new(),
                });
                let screen = SetDeviceMetricsOverrideParams::new(WIDTH, HEIGHT, 1.0, false);
                let chooser = SetInterceptFileChooserDialogParams::new(true);
                vec![
                    Call::new(Some(&session), inspector::EnableParams::default()),
                    Call::new(Some(&session), screen),
                    Call::new(Some(&session), chooser),
                ]
            }
            "iframe" => {
                let frame = Frame {
                    session: session.clone(),
                    id: FrameId::new(target),
                    parent: parent.cloned().unwrap_or_default(),
                };
                if let Some(tab) = self.tab(parent) {
                    tab.frames.push(frame);
                }
                Vec::new()
            }
            // Workers and the like run without being looked at.
            _ => {
                let leave = DetachFromTargetParams::builder()
                    .session_id(session)
                    .build();
                return vec![go_on, Call::new(parent, leave)];
            }
        };
        calls.push(Call::new(Some(&session), page::EnableParams::default()));
        calls.push(Call::new(Some(&session), attach()));
        calls.push(go_on);
        calls
    }

    /// Forgets a tab or a frame that is gone.
    pub(super) fn detached(&mut self, session: &SessionId) {
        for tab in &mut self.tabs {
            tab.frames
                .retain(|frame| frame.session != *session && frame.parent != *session);
        }
        let Some(at) = self.tabs.iter().position(|tab| tab.session == *session) else {
            return;
        };
        let closed = self.tabs.remove(at);
        if self.current.as_ref() == Some(session) {
            let next = self.tabs.last();
            self.current = next.map(|tab| tab.session.clone());
            let now = match next {
                Some(tab) => format!("tab {} is looked at now", tab.number),
                None => "no tab is left".to_owned(),
            };
            self.note(format!("tab {} was closed; {now}", closed.number));
        }
    }
}

/// Everything that comes is attached to before it runs, so that not even its first dialog is missed.
pub(super) fn attach() -> SetAutoAttachParams {
    SetAutoAttachParams {
        flatten: Some(true),
        ..SetAutoAttachParams::new(true, true)
    }
}

fn close(target: TargetId) -> Call {
    Call::new(None, CloseTargetParams::new(target))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn happens(tabs: &Tabs, session: Option<&str>, method: &str, params: Value) -> usize {
        let event = json!({"method": method, "sessionId": session, "params": params});
        tabs.on(&serde_json::from_value(event).unwrap()).len()
    }

    fn opens(tabs: &Tabs, name: &str, opener: Option<&str>) {
        let target = json!({"type": "page", "targetId": name, "openerId": opener});
        let params = json!({"sessionId": name, "targetInfo": target});
        assert!(happens(tabs, None, "Target.attachedToTarget", params) > 0);
    }

    #[test]
    fn a_tab_that_a_page_opens_is_looked_at_until_it_is_closed() {
        let tabs = Tabs::default();
        opens(&tabs, "a", None);
        assert_eq!(tabs.notes(), Vec::<String>::new());
        opens(&tabs, "b", Some("a"));
        assert_eq!(tabs.current().unwrap().number, 2);
        assert_eq!(
            tabs.notes(),
            ["the page opened tab 2, which is looked at now; `browser_tabs` goes back"]
        );
        happens(
            &tabs,
            None,
            "Target.detachedFromTarget",
            json!({"sessionId": "b"}),
        );
        assert_eq!(tabs.current().unwrap().number, 1);
        assert_eq!(tabs.notes(), ["tab 2 was closed; tab 1 is looked at now"]);
    }

    #[test]
    fn only_the_outermost_frame_says_whether_a_tab_loads() {
        let tabs = Tabs::default();
        opens(&tabs, "a", None);
        let is_loading = || tabs.state().is_loading();
        for (frame, starts, expected) in [
            ("x", true, false),
            ("a", true, true),
            ("x", false, true),
            ("a", false, false),
        ] {
            let method = if starts {
                "Page.frameStartedLoading"
            } else {
                "Page.frameStoppedLoading"
            };
            happens(&tabs, Some("a"), method, json!({"frameId": frame}));
            assert_eq!(is_loading(), expected, "{frame} {starts}");
        }
    }

    #[test]
    fn a_page_cannot_say_without_end() {
        let tabs = Tabs::default();
        opens(&tabs, "a", None);
        let said = json!({"type": "alert", "message": "x\n".repeat(10_000)});
        for _ in 0..1000 {
            // Each is answered, so that the page goes on.
            assert_eq!(
                happens(
                    &tabs,
                    Some("a"),
                    "Page.javascriptDialogOpening",
                    said.clone()
                ),
                1
            );
        }
        let notes = tabs.notes();
        assert_eq!(notes.len(), MOST_NOTES);
        assert!(
            notes
                .iter()
                .all(|note| note.len() <= MOST_NOTE && !note.contains('\n'))
        );
        for number in 0..100 {
            opens(&tabs, &number.to_string(), Some("a"));
        }
        assert_eq!(tabs.state().tabs.len(), MOST_TABS);
    }
}
