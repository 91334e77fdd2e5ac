use super::{Answer, Session};
use crate::tool::BoxError;
use crate::toolkit::browser::link::LinkError;
use crate::toolkit::browser::tabs::Tab;
use crate::toolkit::browser::tree::{Element, on_one_line};
use chromiumoxide::cdp::browser_protocol::dom::{GetBoxModelParams, GetContentQuadsParams, Quad};
use chromiumoxide::cdp::browser_protocol::input::{
    DispatchKeyEventParams, DispatchKeyEventType, DispatchMouseEventParams, DispatchMouseEventType,
    InsertTextParams, MouseButton,
};
use serde_json::{Value, json};

/// A key, as a keyboard sends it: its name, its number, and what it types.
struct Key(&'static str, i64, Option<&'static str>);

const ENTER: Key = Key("Enter", 13, Some("\r"));
const END: Key = Key("End", 35, None);
const DELETE: Key = Key("Delete", 46, None);

impl Session {
    /// The element that a reference stands for, if it is still on the page that is looked at.
    async fn element(&self, number: u32) -> Answer<(Tab, Element)> {
        let tab = self.tab()?;
        let Some(element) = self.references.element(number) else {
            return Err(if self.references.was_given(number) {
                stale(number)
            } else {
                format!("there is no element [{number}]; `browser_read` shows which there are")
                    .into()
            });
        };
        let loader = self.loader(&tab, &element.frame).await?;
        if loader.as_ref() != Some(&element.loader) {
            return Err(stale(number));
        }
        Ok((tab, element.clone()))
    }

    /// Asks a script to make an element ready. What it says is one word in `is`; what stands in the way is an error.
    async fn prepare(
        &self,
        number: u32,
        script: &str,
        arguments: &[Value],
    ) -> Answer<(Tab, Element, Value)> {
        let (tab, element) = self.element(number).await?;
        let said = match self.call(&element, script, arguments).await {
            // The browser no longer knows it.
            Err(error) if is_refused(&error) => return Err(stale(number)),
            said => said?,
        };
        let text = |key: &str| said.get(key).and_then(Value::as_str).unwrap_or_default();
        let why = match text("is") {
            "gone" => return Err(stale(number)),
            "disabled" => "is disabled".to_owned(),
            "hidden" => "is not shown on the page".to_owned(),
            "covered" => format!(
                "is covered by something else ({}), which a click would hit",
                on_one_line(text("by"))
            ),
            "read-only" => "can only be read".to_owned(),
            "file" => "wants a file, and files are not given to pages".to_owned(),
            "no field" => {
                "is no field that can be typed into; name a textbox, or click it".to_owned()
            }
            "no value" => format!(
                "is of type {} and does not take this value; dates are like 2026-01-31, times like 13:05, colours \
                 like #ff0000",
                text("type")
            ),
            "no option" => {
                let options = said.get("options").and_then(Value::as_array);
                let options = options.into_iter().flatten().filter_map(Value::as_str);
                let options: Vec<_> = options
                    .map(|label| format!("`{}`", on_one_line(label)))
                    .collect();
                format!("has no such option; it has {}", options.join(", "))
            }
            _ => return Ok((tab, element, said)),
        };
        Err(format!("[{number}] {why}").into())
    }

    pub(in super::super) async fn click(&mut self, number: u32, twice: bool) -> Answer<()> {
        let script = include_str!("../script/click.js");
        let (tab, element, said) = self.prepare(number, script, &[]).await?;
        if said.get("is").and_then(Value::as_str) == Some("ready") {
            let (x, y) = self.middle(&tab, &element).await.map_err(|error| {
                if is_refused(&error) {
                    stale(number)
                } else {
                    error
                }
            })?;
            let mouse = |kind, count: Option<i64>| {
                let event = DispatchMouseEventParams {
                    button: count.and(Some(MouseButton::Left)),
                    click_count: count,
                    ..DispatchMouseEventParams::new(kind, x, y)
                };
                self.ask(Some(&tab.session), event)
            };
            mouse(DispatchMouseEventType::MouseMoved, None).await?;
            for count in 1..=if twice { 2 } else { 1 } {
                mouse(DispatchMouseEventType::MousePressed, Some(count)).await?;
                match mouse(DispatchMouseEventType::MouseReleased, Some(count)).await {
                    // The click closed the tab or left the page, and there was nobody left to say so.
                    Err(LinkError::Refused(_)) => break,
                    answer => answer?,
                };
            }
        }
        self.settle().await
    }

    pub(in super::super) async fn type_into(
        &mut self,
        number: u32,
        text: &str,
        replace: bool,
        enter: bool,
    ) -> Answer<()> {
        let script = include_str!("../script/type.js");
        let arguments = [json!(text), json!(replace)];
        let (tab, _, said) = self.prepare(number, script, &arguments).await?;
        if said.get("is").and_then(Value::as_str) == Some("ready") {
            if said.get("end").is_some() {
                self.press(&tab, &END).await?;
            }
            if text.is_empty() && replace {
                self.press(&tab, &DELETE).await?;
            } else if !text.is_empty() {
                let session = Some(&tab.session);
                self.ask(session, InsertTextParams::new(text)).await?;
            }
        }
        if enter {
            self.press(&tab, &ENTER).await?;
        }
        self.settle().await
    }

    async fn press(&self, tab: &Tab, Key(name, number, text): &Key) -> Answer<()> {
        let key = |kind, text: Option<&str>| {
            let event = DispatchKeyEventParams {
                key: Some((*name).to_owned()),
                code: Some((*name).to_owned()),
                windows_virtual_key_code: Some(*number),
                text: text.map(str::to_owned),
                ..DispatchKeyEventParams::new(kind)
            };
            self.ask(Some(&tab.session), event)
        };
        let down = match text {
            Some(_) => DispatchKeyEventType::KeyDown,
            None => DispatchKeyEventType::RawKeyDown,
        };
        key(down, *text).await?;
        match key(DispatchKeyEventType::KeyUp, None).await {
            Err(LinkError::Refused(_)) => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }

    /// Scrolls, and says how far down what scrolled is now: the top and the height of what is seen, and of all.
    pub(in super::super) async fn scroll(
        &mut self,
        number: Option<u32>,
        to: &str,
    ) -> Answer<[u64; 3]> {
        let script = include_str!("../script/scroll.js");
        let said = if let Some(number) = number {
            self.prepare(number, script, &[json!(to)]).await?.2
        } else {
            let tab = self.tab()?;
            let whole = format!("(\n{script}\n).call(document, {})", json!(to));
            self.evaluate(&tab, &whole).await?
        };
        self.settle().await?;
        Ok(["top", "shown", "height"]
            .map(|key| said.get(key).and_then(Value::as_u64).unwrap_or_default()))
    }

    /// The middle of an element, from the corner of the tab.
    async fn middle(&self, tab: &Tab, element: &Element) -> Answer<(f64, f64)> {
        let node = GetContentQuadsParams {
            backend_node_id: Some(element.backend),
            ..GetContentQuadsParams::default()
        };
        let answer = self.ask(Some(&element.session), node).await?;
        let quads = answer.quads.iter().filter_map(corners);
        let (mut x, mut y) = quads
            .filter(|quad| area(quad) > 0.5)
            .map(|quad| {
                let sum = quad.iter().fold((0.0, 0.0), |sum, corner| {
                    (sum.0 + corner.0, sum.1 + corner.1)
                });
                (sum.0 / 4.0, sum.1 / 4.0)
            })
            .next()
            .ok_or("the element is not shown on the page")?;
        // A frame of another site counts from its own corner.
        let mut session = &element.session;
        while let Some(frame) = tab.frames.iter().find(|frame| frame.session == *session) {
            let owner = self.owner(&frame.parent, &frame.id).await?;
            let owner = GetBoxModelParams {
                backend_node_id: Some(owner),
                ..GetBoxModelParams::default()
            };
            let place = self.ask(Some(&frame.parent), owner).await?;
            let corner = corners(&place.model.content);
            let [(left, top), ..] = corner.ok_or("the frame of the element is not shown")?;
            x += left;
            y += top;
            session = &frame.parent;
        }
        Ok((x, y))
    }
}

/// Four corners, each across and down.
fn corners(quad: &Quad) -> Option<[(f64, f64); 4]> {
    let pairs = quad.inner().chunks_exact(2).filter_map(|pair| match pair {
        [across, down] => Some((*across, *down)),
        _ => None,
    });
    pairs.collect::<Vec<_>>().try_into().ok()
}

/// How much of the page four corners enclose.
fn area(quad: &[(f64, f64); 4]) -> f64 {
    let next = quad.iter().cycle().skip(1);
    let parts = quad
        .iter()
        .zip(next)
        .map(|(from, to)| from.0 * to.1 - to.0 * from.1);
    (parts.sum::<f64>() / 2.0).abs()
}

fn stale(number: u32) -> BoxError {
    format!("[{number}] is no longer on the page; `browser_read` shows what is").into()
}

fn is_refused(error: &BoxError) -> bool {
    matches!(error.downcast_ref(), Some(LinkError::Refused(_)))
}
