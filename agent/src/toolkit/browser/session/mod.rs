//! One running browser, and what is done in it: `reading` says what is there, `acting` changes it.

mod acting;
mod reading;

use super::chromium::{self, Chromium};
use super::gate::Gate;
use super::link::{Link, LinkError};
use super::tabs::{State, Tab, Tabs, attach};
use super::tree::{Element, References, on_one_line};
use crate::model::check_network;
use crate::tool::BoxError;
use crate::toolkit::limits::short;
use crate::toolkit::web::Guard;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// How long a page may take to answer a question.
const ANSWER: Duration = Duration::from_secs(15);
/// How long after an action a page has to begin what it will do.
const PAUSE: Duration = Duration::from_secs(2);
/// How long a page that asked to go elsewhere has to do so.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) type Answer<T> = Result<T, BoxError>;

/// How a browser is started.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) program: Option<PathBuf>,
    pub(super) sandbox: bool,
    pub(super) guard: Guard,
    pub(super) time: Duration,
}

/// A running browser. Dropped, it is ended.
#[derive(Debug)]
pub(super) struct Session {
    link: Link,
    tabs: Arc<Tabs>,
    gate: Gate,
    references: References,
    /// What the model was last shown of the page.
    shown: HashSet<String>,
    time: Duration,
    /// Whether anything was opened: it starts with an empty tab.
    is_used: bool,
    // The gate and the link, which end with it.
    _tasks: JoinSet<()>,
    _chromium: Chromium,
}

impl Session {
    pub(super) async fn start(settings: &Settings) -> Answer<Self> {
        check_network()?;
        let program = chromium::find(settings.program.as_deref())?;
        let gate = Gate::new(settings.guard.clone());
        let mut tasks = JoinSet::new();
        let (way_out, serve) = gate.open().await?;
        tasks.spawn(serve);
        let (chromium, address) =
            chromium::start(&program, settings.sandbox, &gate, way_out).await?;
        let tabs = Arc::new(Tabs::default());
        let told = Arc::clone(&tabs);
        let (link, drive) = Link::connect(&address, move |event| told.on(&event))
            .await
            .map_err(|error| format!("the browser could not be talked to: {error}"))?;
        tasks.spawn(drive);
        let session = Self {
            link,
            tabs,
            gate,
            references: References::default(),
            shown: HashSet::new(),
            time: settings.time,
            is_used: false,
            _tasks: tasks,
            _chromium: chromium,
        };
        let deny = json!({"behavior": "deny", "eventsEnabled": true});
        session
            .ask(None, "Browser.setDownloadBehavior", deny)
            .await?;
        session.ask(None, "Target.setAutoAttach", attach()).await?;
        Ok(session)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.link.is_gone()
    }

    async fn ask(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, LinkError> {
        self.link.ask(session, method, params, ANSWER).await
    }

    /// The tab that is looked at, if a page was opened.
    fn tab(&self) -> Answer<Tab> {
        let current = self.tabs.current().filter(|_| self.is_used);
        current.ok_or_else(|| "no page is open; open one with `browser_open`".into())
    }

    /// Goes to an address.
    pub(super) async fn open(&mut self, text: &str) -> Answer<()> {
        check_network()?;
        let mut url = self.gate.guard().address(text)?;
        // It names a place in the page, which no server reads.
        let fragment = text.trim().split_once('#').map(|(_, fragment)| fragment);
        url.set_fragment(fragment);
        let until = Instant::now() + self.time;
        self.gate.refusals(None);
        self.is_used = true;
        let tab = match self.tabs.current() {
            Some(tab) => tab,
            None => self.new_tab().await?,
        };
        let session = Some(tab.session.as_str());
        let to = json!({"url": url.as_str()});
        let answer = match self.link.ask(session, "Page.navigate", to, self.time).await {
            Err(LinkError::Silent(seconds)) => {
                // The page that was there before stays.
                self.ask(session, "Page.stopLoading", json!({})).await?;
                return Err(format!("`{url}` did not answer within {seconds} s").into());
            }
            answer => answer?,
        };
        if let Some(why) = answer.get("errorText").and_then(Value::as_str) {
            let why = match self.gate.refusals(url.host_str()).as_slice() {
                [] if why == "net::ERR_ABORTED" => {
                    // That it is a download is said a moment later; what is none shows nothing, as a 204 does.
                    let told = self.tabs.until(State::has_notes);
                    match timeout_at(Instant::now() + LEAVE, told).await {
                        Ok(()) => self.tabs.notes().join("; "),
                        Err(_) => "the server sent nothing that can be shown".to_owned(),
                    }
                }
                [] => why.to_owned(),
                refusals => refusals.join("; "),
            };
            let url = short(url.as_str(), 200).into_owned();
            return Err(format!("`{url}` was not opened: {why}").into());
        }
        self.loaded(until).await
    }

    async fn new_tab(&self) -> Answer<Tab> {
        let empty = json!({"url": "about:blank"});
        let created = self.ask(None, "Target.createTarget", empty).await?;
        let target = created.get("targetId").and_then(Value::as_str);
        let target = target.ok_or("the browser opened no tab")?;
        let is_there = |tab: &Tab| tab.target == target;
        let until = Instant::now() + ANSWER;
        let there = self.tabs.until(|state| state.tabs.iter().any(is_there));
        timeout_at(until, there)
            .await
            .map_err(|_| "the browser opened no tab")?;
        self.tab()
    }

    /// Waits for the tab to have loaded; at the end of its time it is stopped.
    async fn loaded(&self, until: Instant) -> Answer<()> {
        let loaded = self.tabs.until(|state| !state.is_loading());
        let in_time = tokio::select! {
            in_time = timeout_at(until, loaded) => in_time.is_ok(),
            () = self.link.gone() => return Err(LinkError::Gone.into()),
        };
        if !in_time && let Some(tab) = self.tabs.current() {
            self.ask(Some(&tab.session), "Page.stopLoading", json!({}))
                .await?;
            let mut state = self.tabs.state();
            let seconds = self.time.as_secs();
            state.note(format!(
                "the page was still loading after {seconds} s and was stopped: it may be incomplete"
            ));
            for tab in &mut state.tabs {
                tab.is_loading = false;
            }
        }
        Ok(())
    }

    /// Waits for what an action set off.
    async fn settle(&self) -> Answer<()> {
        let until = Instant::now() + self.time;
        if let Some(tab) = self.tabs.current() {
            // It is no fault when the page goes away meanwhile: that may be what the action was for.
            if self.pause(&tab).await.is_err() {
                let moved = self.tabs.until(|state| {
                    state.current.as_ref() != Some(&tab.session)
                        || state.is_leaving()
                        || state.is_loading()
                });
                let _ = timeout_at(Instant::now() + LEAVE, moved).await;
            }
        }
        let left = self.tabs.until(|state| !state.is_leaving());
        if timeout_at(Instant::now() + LEAVE, left).await.is_err() {
            self.tabs.stay();
        }
        self.loaded(until).await
    }

    /// Lets the page do what it put off.
    async fn pause(&self, tab: &Tab) -> Answer<()> {
        let world = self.world(&tab.session, &tab.target).await?;
        let script = include_str!("../script/pause.js");
        let pause = json!({"expression": script, "contextId": world, "awaitPromise": true});
        let session = Some(tab.session.as_str());
        self.link
            .ask(session, "Runtime.evaluate", pause, PAUSE)
            .await?;
        Ok(())
    }

    /// What happened since it was last said: dialogs, downloads, tabs, and what was kept from the network.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.tabs.notes();
        notes.extend(self.gate.refusals(None));
        notes
    }

    /// The tabs, and which of them is looked at.
    pub(super) fn tabs(&self) -> (Vec<Tab>, Option<String>) {
        let state = self.tabs.state();
        (state.tabs.clone(), state.current.clone())
    }

    /// Looks at another tab.
    pub(super) fn look_at(&mut self, number: u32) -> Answer<()> {
        let mut state = self.tabs.state();
        let mut tabs = state.tabs.iter();
        let tab = tabs.find(|tab| tab.number == number);
        let session = tab.map(|tab| tab.session.clone());
        state.current = Some(session.ok_or_else(|| format!("there is no tab {number}"))?);
        drop(state);
        self.shown.clear();
        Ok(())
    }

    /// Closes the tab that is looked at, whose page no longer answers.
    pub(super) async fn give_up(&self) {
        if let Some(tab) = self.tabs.current() {
            // It may take its time to go, and is none of ours from now on.
            self.tabs.state().detached(&tab.session);
            let close = json!({"targetId": tab.target});
            let _ = self.ask(None, "Target.closeTarget", close).await;
        }
    }

    /// Where our scripts run in a frame: beside the page's own, which can neither see nor change what they use.
    async fn world(&self, session: &str, frame: &str) -> Answer<i64> {
        let world = json!({"frameId": frame, "worldName": "agent"});
        let world = self
            .ask(Some(session), "Page.createIsolatedWorld", world)
            .await?;
        let id = world.get("executionContextId").and_then(Value::as_i64);
        Ok(id.ok_or("the page has no place for scripts")?)
    }

    /// What a script says of the outermost frame of a tab.
    async fn evaluate(&self, tab: &Tab, script: &str) -> Answer<Value> {
        let world = self.world(&tab.session, &tab.target).await?;
        let script = json!({"expression": script, "contextId": world, "returnByValue": true});
        let session = Some(tab.session.as_str());
        value(&self.ask(session, "Runtime.evaluate", script).await?)
    }

    /// What a function says that is called on an element.
    async fn call(&self, element: &Element, function: &str, arguments: &[Value]) -> Answer<Value> {
        let session = Some(element.session.as_str());
        let world = self.world(&element.session, &element.frame).await?;
        let node = json!({"backendNodeId": element.backend, "executionContextId": world});
        let node = self.ask(session, "DOM.resolveNode", node).await?;
        let arguments: Vec<_> = arguments
            .iter()
            .map(|value| json!({"value": value}))
            .collect();
        let call = json!({
            "objectId": node.pointer("/object/objectId"),
            "functionDeclaration": function,
            "arguments": arguments,
            "returnByValue": true,
        });
        value(&self.ask(session, "Runtime.callFunctionOn", call).await?)
    }
}

fn value(answer: &Value) -> Answer<Value> {
    if let Some(why) = answer.pointer("/exceptionDetails/exception/description") {
        let why = on_one_line(why.as_str().unwrap_or_default());
        return Err(format!("the page did not let itself be asked: {}", short(&why, 300)).into());
    }
    let value = answer.pointer("/result/value");
    Ok(value.cloned().unwrap_or_default())
}
