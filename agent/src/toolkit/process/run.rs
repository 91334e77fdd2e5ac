use super::Running;
use super::spawn::wait;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// How long processes have to end by themselves once they are asked to.
const GRACE: Duration = Duration::from_millis(300);
/// How long the rest of an output is waited for once nobody should be left to write it.
const DRAIN: Duration = Duration::from_secs(1);
/// How often it is asked whether they have ended.
const LOOK: Duration = Duration::from_millis(20);

/// A program that was run.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) end: End,
    /// How many processes it left behind, which were ended.
    pub(crate) left_behind: usize,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Exited(ExitStatus),
    TimedOut,
    Cancelled,
}

/// Runs a started program to its end, or for as long as it may; then nothing is left of it. What its processes write goes
/// to `take`, in order.
///
/// When its first process ends, what it left in the background is ended, too. Out of time or cancelled, all are asked to
/// end (`SIGTERM`), and a moment later made to (`SIGKILL`).
///
/// # Cancel safety
///
/// Dropped, it ends all of them at once.
pub(crate) async fn run(
    mut running: Running,
    limit: Option<Duration>,
    cancellation: &CancellationToken,
    mut take: impl FnMut(&[u8]),
) -> io::Result<Ran> {
    let out_of_time = async {
        match limit {
            Some(limit) => tokio::time::sleep(limit).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(out_of_time);
    let mut buffer = vec![0; 64 * 1024];
    let mut is_open = true;
    let end = loop {
        tokio::select! {
            status = wait(&mut running.child) => break End::Exited(status?),
            () = &mut out_of_time => break End::TimedOut,
            () = cancellation.cancelled() => break End::Cancelled,
            read = running.output.read(&mut buffer), if is_open => match read? {
                0 => is_open = false,
                read => take(buffer.get(..read).unwrap_or_default()),
            },
        }
    };
    if !matches!(end, End::Exited(_)) {
        running.ask_to_end();
        let until = Instant::now() + GRACE;
        while Instant::now() < until && !running.is_gone() {
            let look = Instant::now() + LOOK;
            drain(&mut running, &mut buffer, look, &mut take).await;
            tokio::time::sleep_until(look.min(until)).await;
        }
    }
    let left_behind = running.kill().await;
    let until = Instant::now() + DRAIN;
    drain(&mut running, &mut buffer, until, &mut take).await;
    Ok(Ran { end, left_behind })
}

/// Reads up to the end, or for as long as it may.
async fn drain(
    running: &mut Running,
    buffer: &mut [u8],
    until: Instant,
    mut take: impl FnMut(&[u8]),
) {
    while let Ok(Ok(read @ 1..)) = timeout_at(until, running.output.read(buffer)).await {
        take(buffer.get(..read).unwrap_or_default());
        // A flood is always ready, and a time limit is looked at only by who waits.
        if Instant::now() > until {
            break;
        }
    }
}
