use crate::message::{Content, Message};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Messages for a run that is under way. Cheap to clone; the clones are the same inbox.
///
/// ```
/// use agent::Inbox;
///
/// # async fn shown(agent: agent::Agent) -> Result<(), agent::RunError> {
/// let inbox = Inbox::new();
/// let run = agent.run("Plan three days in Rome.").inbox(&inbox);
/// // From another task, while it runs:
/// inbox.steer("Leave out museums.");
/// inbox.follow_up("Now write the packing list.");
/// let answer = run.await?;
/// # let _ = answer;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<Waiting>>);

#[derive(Debug, Default)]
struct Waiting {
    steering: VecDeque<Message>,
    following: VecDeque<Message>,
}

impl Inbox {
    /// An empty inbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says something to the model in its next request. A run that was about to end goes on with it.
    pub fn steer(&self, content: impl Into<Content>) {
        self.with(|waiting| waiting.steering.push_back(Message::user(content)));
    }

    /// Says something to the model when it would have ended the run. Of several, each begins when the one before it was
    /// answered. It takes a further turn of the same run: where a [limit](crate::Limits::turns) leaves none, the run ends
    /// with that limit, and the message stands in its transcript.
    pub fn follow_up(&self, content: impl Into<Content>) {
        self.with(|waiting| waiting.following.push_back(Message::user(content)));
    }

    /// Takes back what the run has not taken yet, in the order in which it was said.
    pub fn take_back(&self) -> Vec<Message> {
        self.with(|waiting| {
            let steering = waiting.steering.drain(..);
            steering.chain(waiting.following.drain(..)).collect()
        })
    }

    /// What else is to be said in the next request.
    pub(super) fn steering(&self) -> Option<Message> {
        self.with(|waiting| waiting.steering.pop_front())
    }

    /// What is to be said in place of ending.
    pub(super) fn following(&self) -> Option<Message> {
        self.with(|waiting| {
            waiting
                .steering
                .pop_front()
                .or_else(|| waiting.following.pop_front())
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut Waiting) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
