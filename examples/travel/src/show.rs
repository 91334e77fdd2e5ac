//! Draws the events of a run on a terminal.

use agent::{Answer, Event, Progress};
use std::io::{self, Write};

/// What was drawn last, so that streamed text and lines do not run into each other.
#[derive(Default)]
pub(crate) struct Show {
    in_text: bool,
}

impl Show {
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Text(text) => self.text(text),
            Event::CallStarted(call) => {
                self.line(&format!("-> {} {}", call.call().name, call.arguments()))
            }
            Event::Progress { name, progress, .. } => match progress {
                Progress::Text(text) => self.line(&format!("   {name}: {text}")),
                other => self.line(&format!("   {name}: {other:?}")),
            },
            Event::CallEnded(ended) => {
                let mark = if ended.result.is_error() { "!!" } else { "<-" };
                let text = ended.result.text().replace('\n', "\n     ");
                self.line(&format!("{mark} {} {text}", ended.result.name()))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, answer: &Answer) -> io::Result<()> {
        let usage = answer.usage();
        self.line(&format!(
            "\n{} turns, {} tokens read, {} written",
            answer.turns(),
            usage.input,
            usage.output
        ))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        if !self.in_text {
            writeln!(out)?;
            self.in_text = true;
        }
        write!(out, "{text}")?;
        out.flush()
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        let mut out = io::stdout();
        if self.in_text {
            writeln!(out)?;
            self.in_text = false;
        }
        writeln!(out, "{line}")
    }
}
