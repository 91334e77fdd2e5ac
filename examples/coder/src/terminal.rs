//! What the user sees, and what the user is asked.

use agent::message::Usage;
use agent::{Event, Paused, Progress, Shown, Verdict};
use std::error::Error;
use std::io::{IsTerminal, Write, stdout};
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin, stdin};
use tokio_util::sync::CancellationToken;

/// How much of one thing is shown, in letters.
const MOST: usize = 4000;

pub(crate) struct Terminal {
    colours: bool,
    answers: Lines<BufReader<Stdin>>,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        Self {
            colours: stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            answers: BufReader::new(stdin()).lines(),
        }
    }

    pub(crate) fn show(&mut self, event: &Event) {
        match event {
            Event::Text(text) => {
                print!("{}", plain(text));
                let _ = stdout().flush();
            }
            Event::CallStarted(call) => {
                self.line(
                    "36",
                    &format!("-> {} {}", call.call().name, call.arguments()),
                );
            }
            Event::Progress {
                name,
                progress: Progress::Text(text),
                ..
            } => self.line("2", &format!("   {name}: {text}")),
            Event::CallEnded(end) => {
                let text = match &end.shown {
                    Shown::Text(text) => text.clone(),
                    Shown::Nothing => return,
                    _ => first_lines(&end.result.text(), 6),
                };
                let colour = if end.result.is_error() { "31" } else { "2" };
                self.result(&text, colour);
            }
            Event::Replied(reply) if !reply.text().is_empty() => println!(),
            _ => {}
        }
    }

    /// A result, with the lines of a diff in their colours.
    fn result(&self, text: &str, colour: &str) {
        for line in clipped(text).lines() {
            let colour = match line.as_bytes().first() {
                Some(b'+') => "32",
                Some(b'-') => "31",
                Some(b'@') => "35",
                _ => colour,
            };
            self.line(colour, &format!("   {line}"));
        }
    }

    fn line(&self, colour: &str, text: &str) {
        let text = plain(&clipped(text));
        if self.colours {
            println!("\x1b[{colour}m{text}\x1b[0m");
        } else {
            println!("{text}");
        }
    }

    pub(crate) fn usage(&self, usage: Usage, turns: u32) {
        let Usage { input, output, .. } = usage;
        self.line(
            "2",
            &format!("[{turns} turns, {input} tokens read, {output} written]"),
        );
    }

    /// Asks about each pending call. Where nobody answers, the answer is no.
    pub(crate) async fn decide(
        &mut self,
        paused: &mut Paused,
        stop: &CancellationToken,
    ) -> Result<(), Box<dyn Error>> {
        let asked: Vec<(String, String)> = paused
            .pending()
            .map(|call| {
                let why = match call.why() {
                    "" => String::new(),
                    why => format!(" ({why})"),
                };
                let what = format!("{}{why} {}", call.name(), call.arguments());
                (call.id().to_owned(), what)
            })
            .collect();
        for (id, what) in asked {
            self.line("33", &format!("?? {what}"));
            print!("   run it? [y]es, [a]lways, [n]o <reason>: ");
            stdout().flush()?;
            let answer = tokio::select! {
                line = self.answers.next_line() => line?,
                () = stop.cancelled() => return Ok(()),
            };
            paused.decide(&id, verdict(answer.as_deref()))?;
        }
        println!();
        Ok(())
    }
}

fn verdict(answer: Option<&str>) -> Verdict {
    let Some(answer) = answer else {
        return Verdict::Reject("nobody is there to agree to this".to_owned());
    };
    let (word, reason) = answer.trim().split_once(' ').unwrap_or((answer.trim(), ""));
    match word {
        "y" | "yes" => Verdict::Approve,
        "a" | "always" => Verdict::ApproveForRun,
        _ => Verdict::Reject(match reason.trim() {
            "" => "the user said no".to_owned(),
            reason => format!("the user said no: {reason}"),
        }),
    }
}

/// Text that cannot steer the terminal: what files and models say may hold escape sequences.
fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| match letter {
            '\n' | '\t' => letter,
            letter if letter.is_control() => '\u{fffd}',
            letter => letter,
        })
        .collect()
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}..", text.get(..at).unwrap_or_default()),
    }
}

fn first_lines(text: &str, most: usize) -> String {
    let all = text.lines().count();
    let mut lines: Vec<&str> = text.lines().take(most).collect();
    let more = format!(".. {} more lines", all.saturating_sub(most));
    if all > most {
        lines.push(&more);
    }
    lines.join("\n")
}
