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
use chromiumoxide::cdp::browser_protocol::browser::{
    SetDownloadBehaviorBehavior, SetDownloadBehaviorParams,
};
use chromiumoxide::cdp::browser_protocol::dom::ResolveNodeParams;
use chromiumoxide::cdp::browser_protocol::page::{
    CreateIsolatedWorldParams, FrameId, NavigateParams, NavigateReturns, StopLoadingParams,
};
use chromiumoxide::cdp::browser_protocol::target::{
    CloseTargetParams, CreateTargetParams, SessionId,
};
use chromiumoxide::cdp::js_protocol::runtime::{
    CallArgument, CallFunctionOnParams, EvaluateParams, ExceptionDetails, ExecutionContextId,
    RemoteObject,
};
use chromiumoxide::types::Command;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

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
    /// How long a page may take to load.
    pub(super) time: Duration,
    /// How long it may take to answer a question.
    pub(super) answer: Duration,
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
    answer: Duration,
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
            answer: settings.answer,
            is_used: false,
            _tasks: tasks,
            _chromium: chromium,
        };
        let deny = SetDownloadBehaviorParams {
            events_enabled: Some(true),
            ..SetDownloadBehaviorParams::new(SetDownloadBehaviorBehavior::Deny)
        };
        session.ask(None, deny).await?;
        session.ask(None, attach()).await?;
        Ok(session)
    }

    pub(super) fn is_gone(&self) -> bool {
        self.link.is_gone()
    }

    /// Gives a command, and waits for what it is answered with.
    async fn ask<C: Command>(
        &self,
        session: Option<&SessionId>,
        command: C,
    ) -> Result<C::Response, LinkError> {
        self.link.ask(session, command, self.answer).await
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
        let session = Some(&tab.session);
        let to = NavigateParams::new(url.as_str());
        let answer: NavigateReturns = match self.link.ask(session, to, self.time).await {
            Err(LinkError::Silent(limit)) => {
                // The page that was there before stays.
                self.ask(session, StopLoadingParams::default()).await?;
                let seconds = limit.as_secs_f64();
                return Err(format!("`{url}` did not answer within {seconds} s").into());
            }
            answer => answer?,
        };
        if let Some(why) = answer.error_text {
            let why = match self.gate.refusals(url.host_str()).as_slice() {
                [] if why == "net::ERR_ABORTED" => {
                    // That it is a download is said a moment later; what is none shows nothing, as a 204 does.
                    let told = self.tabs.until(State::has_notes);
                    match timeout_at(Instant::now() + LEAVE, told).await {
                        Ok(()) => self.tabs.notes().join("; "),
                        Err(_) => "the server sent nothing that can be shown".to_owned(),
                    }
                }
                [] => why,
                refusals => refusals.join("; "),
            };
            let url = short(url.as_str(), 200).into_owned();
            return Err(format!("`{url}` was not opened: {why}").into());
        }
        self.loaded(until).await
    }

    async fn new_tab(&self) -> Answer<Tab> {
        let empty = CreateTargetParams::new("about:blank");
        let created = self.ask(None, empty).await?;
        let is_there = |tab: &Tab| tab.target == created.target_id;
        let until = Instant::now() + self.answer;
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
            self.ask(Some(&tab.session), StopLoadingParams::default())
                .await?;
            let mut state = self.tabs.state();
            let seconds = self.time.as_secs_f64();
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
    async fn pause(&self, tab: &Tab) -> Answer<IgnoredAny> {
        let pause = EvaluateParams {
            context_id: Some(self.world(&tab.session, tab.frame()).await?),
            await_promise: Some(true),
            ..EvaluateParams::new(include_str!("../script/pause.js"))
        };
        let session = Some(&tab.session);
        Ok(self.link.ask(session, pause, PAUSE).await?)
    }

    /// What happened since it was last said: dialogs, downloads, tabs, and what was kept from the network.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = self.tabs.notes();
        notes.extend(self.gate.refusals(None));
        notes
    }

    /// The tabs, and which of them is looked at.
    pub(super) fn tabs(&self) -> (Vec<Tab>, Option<SessionId>) {
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
            let _ = self.ask(None, CloseTargetParams::new(tab.target)).await;
        }
    }

    /// Where our scripts run in a frame: beside the page's own, which can neither see nor change what they use.
    async fn world(&self, session: &SessionId, frame: FrameId) -> Answer<ExecutionContextId> {
        let world = CreateIsolatedWorldParams {
            world_name: Some("agent".to_owned()),
            ..CreateIsolatedWorldParams::new(frame)
        };
        Ok(self.ask(Some(session), world).await?.execution_context_id)
    }

    /// What a script says of the outermost frame of a tab.
    async fn evaluate(&self, tab: &Tab, script: &str) -> Answer<Value> {
        let script = EvaluateParams {
            context_id: Some(self.world(&tab.session, tab.frame()).await?),
            return_by_value: Some(true),
            ..EvaluateParams::new(script)
        };
        let said = self.ask(Some(&tab.session), script).await?;
        value(said.result, said.exception_details)
    }

    /// What a function says that is called on an element.
    async fn call(&self, element: &Element, function: &str, arguments: &[Value]) -> Answer<Value> {
        let session = Some(&element.session);
        let world = self.world(&element.session, element.frame.clone()).await?;
        let node = ResolveNodeParams {
            backend_node_id: Some(element.backend),
            execution_context_id: Some(world),
            ..ResolveNodeParams::default()
        };
        let node = self.ask(session, node).await?.object;
        let arguments = arguments.iter().cloned().map(|value| CallArgument {
            value: Some(value),
            ..CallArgument::default()
        });
        let call = CallFunctionOnParams {
            object_id: node.object_id,
            arguments: Some(arguments.collect()),
            return_by_value: Some(true),
            ..CallFunctionOnParams::new(function)
        };
        let said = self.ask(session, call).await?;
        value(said.result, said.exception_details)
    }
}

fn value(said: RemoteObject, fault: Option<ExceptionDetails>) -> Answer<Value> {
    if let Some(why) = fault.and_then(|fault| fault.exception?.description) {
        let why = on_one_line(&why);
        return Err(format!("the page did not let itself be asked: {}", short(&why, 300)).into());
    }
    Ok(said.value.unwrap_or_default())
}
