//! The tree of processes that a child became, and how all of it is ended; `linux` finds those that left their group.

use rustix::process::{Pid, Signal};
use std::time::{Duration, Instant};

/// All processes that a command became: its own, its children, theirs, and those that went away from it.
///
/// On Linux they are found by any of four marks, so that one that gets rid of some is found by another: descent, the
/// session, a variable in the environment, and a limit that is inherited by whatever a process does, which nothing
/// unprivileged can raise again. On other systems it is the process group: what leaves it (`setsid`) is not found.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    leader: Pid,
    #[cfg(target_os = "linux")]
    marks: linux::Marks,
}

/// How long one is hunted that goes on making others.
const HUNT: Duration = Duration::from_secs(2);

impl Tree {
    /// The processes that come of `leader`, which has not started anything yet.
    pub(super) fn of(leader: Pid, mark: &Mark) -> Self {
        #[cfg(not(target_os = "linux"))]
        let Mark {} = mark;
        Self {
            leader,
            #[cfg(target_os = "linux")]
            marks: linux::Marks::put_on(leader, mark),
        }
    }

    /// Ends all of them at once. Returns how many there were.
    ///
    /// Blocks for as long as it takes to list the processes of the system a few times, and two seconds where somebody
    /// starts new ones all the time.
    pub(super) fn kill(&self) -> usize {
        let until = Instant::now() + HUNT;
        let mut ended = 0;
        loop {
            match self.signal(Signal::KILL) {
                // Those that were signalled are still listed for a moment, so ask until nobody is.
                0 => return ended,
                found => ended = ended.max(found),
            }
            if Instant::now() > until {
                return ended;
            }
            std::thread::yield_now();
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod group {
    use super::{Pid, Signal, Tree};
    use rustix::process::{kill_process_group, test_kill_process_group};

    /// Nothing but the group tells the processes of a command.
    #[derive(Debug)]
    pub(in super::super) struct Mark {}

    impl Mark {
        pub(in super::super) fn new() -> Self {
            Self {}
        }

        pub(in super::super) fn variable(&self) -> Option<(&str, &str)> {
            None
        }
    }

    impl Tree {
        /// Signals them, and says how many there are: one for a group.
        pub(in super::super) fn signal(&self, signal: Signal) -> usize {
            usize::from(kill_process_group(self.leader, signal).is_ok())
        }

        /// Whether none is left.
        pub(in super::super) fn is_gone(&self) -> bool {
            test_kill_process_group(self.leader).is_err()
        }
    }
}
#[cfg(not(target_os = "linux"))]
pub(super) use group::Mark;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::Mark;
