//! How the processes of a command are told from others on Linux.

use super::Tree;
use procfs::process::{LimitValue, Process, Stat, all_processes};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, getrlimit, pidfd_open, pidfd_send_signal, prlimit,
};
use std::collections::HashSet;
use std::hash::{BuildHasher, Hasher, RandomState};

/// The variable that marks the processes of a command; those of an agent inside of another carry the marks of both.
const VARIABLE: &str = "AGENT_PROCESS_TREE";

/// What is put on the first process of a command before it runs anything.
#[derive(Debug)]
pub(in super::super) struct Mark {
    number: u64,
    value: String,
}

impl Mark {
    /// One that nobody has.
    pub(in super::super) fn new() -> Self {
        let number = RandomState::new().build_hasher().finish();
        let value = match std::env::var(VARIABLE) {
            Ok(outer) => format!("{outer}:{number:016x}"),
            Err(_) => format!("{number:016x}"),
        };
        Self { number, value }
    }

    /// The variable, for the environment.
    #[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
    pub(in super::super) fn variable(&self) -> Option<(&str, &str)> {
        Some((VARIABLE, &self.value))
    }
}

/// By what a process is known.
#[derive(Debug, Clone)]
pub(super) struct Marks {
    /// When the first of them started, in ticks of the system: older ones are none of them.
    since: u64,
    /// The limit on real-time work without a pause, in microseconds. It means nothing to anybody who is not scheduled
    /// so, and a number this large never bites; but it is inherited through `fork`, `exec` and `setsid`.
    limit: Option<u64>,
    value: String,
}

impl Marks {
    pub(super) fn put_on(leader: Pid, mark: &Mark) -> Self {
        let since = Process::new(leader.as_raw_nonzero().get())
            .and_then(|process| process.stat())
            .map_or(0, |stat| stat.starttime);
        // Inside of another agent's command the limit can only go down.
        let most = getrlimit(Resource::Rttime).maximum.unwrap_or(u64::MAX >> 1);
        let limit = (most / 2) + mark.number % (most / 2).max(1);
        let both = Rlimit {
            current: Some(limit),
            maximum: Some(limit),
        };
        let is_put = prlimit(Some(leader), Resource::Rttime, both).is_ok();
        Self {
            since,
            limit: is_put.then_some(limit),
            value: mark.value.clone(),
        }
    }
}

impl Tree {
    /// Signals them, and says how many there are.
    pub(in super::super) fn signal(&self, signal: Signal) -> usize {
        let members = self.members();
        for process in &members {
            let Some(pid) = Pid::from_raw(process.pid) else {
                continue;
            };
            // The handle names whoever has the number now; that it is the one found is asked after that, so that
            // nobody else who got the number since is hit.
            if let Ok(handle) = pidfd_open(pid, PidfdFlags::empty())
                && process.stat().is_ok()
            {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
        members.len()
    }

    /// Whether none is left.
    pub(in super::super) fn is_gone(&self) -> bool {
        self.members().is_empty()
    }

    fn members(&self) -> Vec<Process> {
        let Ok(all) = all_processes() else {
            return Vec::new();
        };
        let (mut members, mut others) = (Vec::new(), Vec::new());
        for process in all.flatten() {
            let Ok(stat) = process.stat() else { continue };
            if stat.starttime < self.marks.since || is_over(&stat) {
                continue;
            }
            if self.has_mark(&process, &stat) {
                members.push(process);
            } else {
                others.push((process, stat.ppid));
            }
        }
        let mut parents: HashSet<i32> = members.iter().map(Process::pid).collect();
        loop {
            let (children, rest): (Vec<_>, Vec<_>) = others
                .into_iter()
                .partition(|(_, parent)| parents.contains(parent));
            if children.is_empty() {
                return members;
            }
            others = rest;
            parents.extend(children.iter().map(|(process, _)| process.pid));
            members.extend(children.into_iter().map(|(process, _)| process));
        }
    }

    fn has_mark(&self, process: &Process, stat: &Stat) -> bool {
        let leader = self.leader.as_raw_nonzero().get();
        if stat.session == leader || process.pid == leader {
            return true;
        }
        let by_limit = self.marks.limit.is_some_and(|limit| {
            process.limits().is_ok_and(|limits| {
                matches!(limits.max_realtime_timeout.hard_limit, LimitValue::Value(value) if value == limit)
            })
        });
        by_limit
            || process.environ().is_ok_and(|environment| {
                environment
                    .get(std::ffi::OsStr::new(VARIABLE))
                    .and_then(|value| value.to_str())
                    .is_some_and(|value| value.starts_with(&self.marks.value))
            })
    }
}

/// Only a record of it is left. One whose first thread ended and whose others go on looks so, too, but for its threads.
fn is_over(stat: &Stat) -> bool {
    matches!(stat.state, 'Z' | 'X' | 'x') && stat.num_threads <= 1
}
