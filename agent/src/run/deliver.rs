//! Results on their way into the transcript, one a call and in the model's order.

use super::batch::slot;
use super::desk::{Desk, Slot, Wishes};
use super::error::Cause;
use super::event::{CallEnded, Event};
use super::state::{OpenCall, Stage, calls_of_last};
use super::turn::Drive;
use crate::message::Outcome;
use crate::tool::{CallEnd, ToolSet};

impl Drive<'_> {
    /// Hands out the results of the batch, and puts them into the transcript.
    pub(super) async fn deliver(&mut self) -> Result<(), Cause> {
        if self.state.open.is_empty() {
            return Ok(());
        }
        if !self.events.are_read() {
            self.state.deliver();
            return self.save().await;
        }
        let mut ends = Vec::with_capacity(self.state.open.len());
        self.state
            .deliver_and(|end, result| ends.push(Event::CallEnded(CallEnded::new(end, result))));
        let saved = self.save().await;
        self.events.send_all(ends).await;
        saved
    }

    /// Shows the hooks how calls ended on which the batch itself did not come so far.
    pub(super) async fn look_back(&mut self, tools: &ToolSet) -> Wishes {
        let mut open = std::mem::take(&mut self.state.open);
        let (host, head) = (self.host, &self.state.head);
        let setup = host.agent(&head.handed_to).setup();
        let desk = Desk {
            tools,
            setup,
            host,
            standing: None,
        };
        let calls = calls_of_last(&self.state.transcript).zip(&open).enumerate();
        let slots: Vec<Slot<'_>> = calls
            .map(|(index, (call, open))| slot(host, head, tools, index, call, open))
            .collect();
        for slot in &slots {
            if let Some(tool) = slot.tool {
                // Hooks see the arguments as the tool had them: mended.
                let _ = tool.prepare(slot.arguments(), &slot.context);
            }
        }
        let wishes = desk.after(&mut ends_of(&slots, &mut open)).await;
        drop(slots);
        self.state.open = open;
        wishes
    }

    /// Ends what an earlier run of the conversation has left open. Nothing of it runs under a new prompt, but the hooks look
    /// at how it ended as they look at everything that the model is to read.
    pub(super) async fn close_left_open(&mut self) -> Result<(), Cause> {
        if self.state.open.is_empty() {
            return Ok(());
        }
        let tools = self.step()?.tools;
        let agent = self.host.agent(&self.state.head.handed_to);
        // What was decided for the rest of that run is not for this one.
        self.state.obey_once();
        for open in &mut self.state.open {
            let stage = std::mem::replace(&mut open.stage, Stage::Started);
            let mut end = stage.into_end();
            agent.setup().redact(&mut end.content);
            open.stage = Stage::Finished(end);
        }
        let wishes = self.look_back(&tools).await;
        self.deliver().await?;
        wishes.stop.map_or(Ok(()), Err)
    }
}

/// The calls of a batch that have ended, each with its end.
pub(super) fn ends_of<'s, 'a>(
    slots: &'s [Slot<'a>],
    open: &'s mut [OpenCall],
) -> Vec<(&'s Slot<'a>, &'s mut CallEnd)> {
    let each = slots.iter().zip(open);
    each.filter_map(|(slot, open)| match &mut open.stage {
        Stage::Finished(end) => Some((slot, end)),
        _ => None,
    })
    .collect()
}

/// Of several calls that would hand the run on, the first does; the others are told.
pub(super) fn keep_first_hand_over(open: &mut [OpenCall]) {
    let mut first: Option<String> = None;
    for open in open {
        if let Stage::Finished(end) = &mut open.stage
            && let Some(to) = (end.onward.as_ref()).and_then(|onward| onward.hand_to.clone())
        {
            if let Some(first) = &first {
                let text = format!("the run was handed to `{first}` already, so this was not done");
                *end = CallEnd::says(Outcome::Failed, text);
            } else {
                first = Some(to);
            }
        }
    }
}
