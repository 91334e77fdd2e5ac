//! Which commands a text has, however deep they stand in it.

use super::wrappers::{Inner, Known, evaluates, inner};
use brush_parser::ast::{
    AndOr, AndOrList, AssignmentName, AssignmentValue, Command, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget,
    IoRedirect, Pipeline, RedirectList, SimpleCommand, Word,
};
use brush_parser::word::{WordPiece, WordPieceWithSource, parse, parse_heredoc};
use brush_parser::{Parser, ParserOptions};

/// How deep texts may stand in texts.
const DEEPEST: usize = 32;

/// How many levels a text may open, closed ones counted, since only a parser knows which are.
const MOST_OPENINGS: usize = 400;
/// What the parser has for them: some tens of kilobytes a level.
const STACK: usize = 64 * 1024 * 1024;

/// The places where a level may begin.
fn openings(text: &str) -> usize {
    const WORDS: &[&str] = &["if", "while", "until", "for", "case", "select", "function"];
    let signs = text.chars().filter(|sign| "({`!".contains(*sign)).count();
    let words = text.split(|sign: char| !sign.is_ascii_alphabetic());
    signs + words.filter(|word| WORDS.contains(word)).count()
}

/// What a text does, as far as it can be told before it runs.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The words of each command, the ones that other commands run among them.
    pub(super) found: Vec<Vec<Known>>,
    /// It writes to a file by a redirection, or connects.
    pub(super) redirects: bool,
    /// It sets a variable, which may change what any command does.
    pub(super) assigns: bool,
}

impl Commands {
    /// The commands of a text.
    ///
    /// # Errors
    ///
    /// Why nothing can be said of it.
    pub(super) fn of(text: &str) -> Result<Self, String> {
        Self::read(text, true)
    }

    /// The commands of a rule, without those that they run.
    ///
    /// # Errors
    ///
    /// Why nothing can be said of it.
    pub(super) fn of_rule(text: &str) -> Result<Self, String> {
        Self::read(text, false)
    }

    fn read(text: &str, follows: bool) -> Result<Self, String> {
        if openings(text) > MOST_OPENINGS {
            return Err("it is nested too deep".to_owned());
        }
        let walk = || {
            let mut commands = Self::default();
            let mut walk = Walk {
                commands: &mut commands,
                depth: 0,
                follows,
            };
            walk.script(text).map(|()| commands)
        };
        // The parser goes down a level for each that a text opens, and a text of a model's may open many.
        std::thread::scope(|scope| {
            let walking = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, walk)
                .map_err(|error| format!("it cannot be read: {error}"))?;
            walking
                .join()
                .unwrap_or_else(|_| Err("it cannot be read as shell".to_owned()))
        })
    }
}

struct Walk<'a> {
    commands: &'a mut Commands,
    depth: usize,
    /// Whether commands that run commands are followed.
    follows: bool,
}

type Walked = Result<(), String>;

impl Walk<'_> {
    fn script(&mut self, text: &str) -> Walked {
        if self.depth > DEEPEST {
            return Err("it is nested too deep".to_owned());
        }
        self.depth += 1;
        let program = Parser::new(text.as_bytes(), &ParserOptions::default())
            .parse_program()
            .map_err(|error| format!("it cannot be read as shell: {error}"))?;
        for list in &program.complete_commands {
            self.list(list)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self, list: &CompoundList) -> Walked {
        list.0.iter().try_for_each(|item| self.and_or(&item.0))
    }

    fn and_or(&mut self, list: &AndOrList) -> Walked {
        self.pipeline(&list.first)?;
        list.additional.iter().try_for_each(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
        })
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Walked {
        pipeline
            .seq
            .iter()
            .try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Walked {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirects) => {
                self.compound(compound)?;
                self.redirects(redirects.as_ref())
            }
            Command::Function(function) => {
                self.compound(&function.body.0)?;
                self.redirects(function.body.1.as_ref())
            }
            Command::ExtendedTest(test, redirects) => {
                self.test(&test.expr)?;
                self.redirects(redirects.as_ref())
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Walked {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => {
                self.quoted(&arithmetic.expr.value)?;
                // Where it is two subshells to the shell, as `( ( ls))` is, it is one of these to the parser.
                self.script(&arithmetic.expr.value)
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                for expression in [&clause.initializer, &clause.condition, &clause.updater]
                    .into_iter()
                    .flatten()
                {
                    self.quoted(&expression.value)?;
                }
                self.list(&clause.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                self.commands.assigns = true;
                self.words(clause.values.iter().flatten())?;
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value)?;
                clause.cases.iter().try_for_each(|case| {
                    self.words(&case.patterns)?;
                    case.cmd.iter().try_for_each(|list| self.list(list))
                })
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                clause.elses.iter().flatten().try_for_each(|other| {
                    other
                        .condition
                        .iter()
                        .try_for_each(|list| self.list(list))?;
                    self.list(&other.body)
                })
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
            CompoundCommand::Coprocess(coprocess) => self.command(&coprocess.body),
        }
    }

    fn test(&mut self, test: &ExtendedTestExpr) -> Walked {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => {
                self.test(inner)
            }
            ExtendedTestExpr::UnaryTest(_, word) => unevaluated(&self.word(word)?),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.words([left, right])?.iter().try_for_each(unevaluated)
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Walked {
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            self.item(item)?;
        }
        let mut words = match &simple.word_or_name {
            Some(name) => vec![self.word(name)?],
            None => Vec::new(),
        };
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            words.extend(self.item(item)?);
        }
        if words.is_empty() {
            return Ok(());
        }
        self.found(words)
    }

    /// A command, and what it runs itself.
    fn found(&mut self, words: Vec<Known>) -> Walked {
        if self.depth > DEEPEST {
            return Err("it is nested too deep".to_owned());
        }
        // After `eval` and `time` it ends their options.
        let words = match words.split_first() {
            Some((Some(first), rest)) if first == "--" => rest.to_vec(),
            _ => words,
        };
        let Some((Some(name), arguments)) = words.split_first() else {
            return Err("which command it runs is decided only when it runs".to_owned());
        };
        let name = base(name).to_owned();
        if evaluates(&name) {
            arguments.iter().try_for_each(unevaluated)?;
        }
        let inner = if self.follows {
            inner(&name, arguments)
        } else {
            Inner::Nothing
        };
        self.commands.found.push(words);
        self.depth += 1;
        match inner {
            Inner::Nothing => {}
            Inner::Command(words) => self.found(words)?,
            Inner::Commands(commands) => commands
                .into_iter()
                .filter(|words| !words.is_empty())
                .try_for_each(|words| self.found(words))?,
            Inner::Script(text) => self.script(&text)?,
            Inner::Unknown => {
                return Err(format!("what `{name}` runs cannot be told from its words"));
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// A word of the command, if this is one.
    fn item(&mut self, item: &CommandPrefixOrSuffixItem) -> Result<Option<Known>, String> {
        match item {
            CommandPrefixOrSuffixItem::Word(word) => self.word(word).map(Some),
            CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect)?;
                Ok(None)
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(_, subshell) => {
                self.list(&subshell.list)?;
                Ok(Some(None))
            }
            CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                self.commands.assigns = true;
                if let AssignmentName::ArrayElementName(_, index) = &assignment.name {
                    self.quoted(index)?;
                }
                let values = match &assignment.value {
                    AssignmentValue::Scalar(value) => vec![value],
                    AssignmentValue::Array(values) => values
                        .iter()
                        .flat_map(|(key, value)| key.iter().chain([value]))
                        .collect(),
                };
                self.words(values)?.iter().try_for_each(unevaluated)?;
                // After the name it is an argument, as in `export A=1` and `env A=1`.
                self.word(word).map(Some)
            }
        }
    }

    fn redirects(&mut self, redirects: Option<&RedirectList>) -> Walked {
        redirects
            .iter()
            .flat_map(|list| &list.0)
            .try_for_each(|redirect| self.redirect(redirect))
    }

    fn redirect(&mut self, redirect: &IoRedirect) -> Walked {
        match redirect {
            IoRedirect::File(_, kind, target) => match target {
                IoFileRedirectTarget::Fd(_) => {}
                IoFileRedirectTarget::ProcessSubstitution(_, subshell) => {
                    self.list(&subshell.list)?;
                }
                IoFileRedirectTarget::Duplicate(word) => {
                    let word = self.word(word)?;
                    let is_number =
                        |text: &str| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit());
                    self.commands.redirects |= !word.as_deref().is_some_and(is_number);
                }
                IoFileRedirectTarget::Filename(word) => {
                    let word = self.word(word)?;
                    let reads = matches!(kind, IoFileRedirectKind::Read)
                        && word
                            .as_deref()
                            .is_some_and(|file| !file.starts_with("/dev/"));
                    self.commands.redirects |= !reads && word.as_deref() != Some("/dev/null");
                }
            },
            IoRedirect::HereDocument(_, document) => {
                if document.requires_expansion {
                    self.quoted(&document.doc.value)?;
                }
            }
            IoRedirect::HereString(_, word) => drop(self.word(word)?),
            IoRedirect::OutputAndError(word, _) => {
                let word = self.word(word)?;
                self.commands.redirects |= word.as_deref() != Some("/dev/null");
            }
        }
        Ok(())
    }

    fn words<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word>,
    ) -> Result<Vec<Known>, String> {
        words.into_iter().map(|word| self.word(word)).collect()
    }

    /// What a word is, if that is known, and the commands in it.
    fn word(&mut self, word: &Word) -> Result<Known, String> {
        let pieces = parse(&word.value, &ParserOptions::default())
            .map_err(|error| format!("it cannot be read as shell: {error}"))?;
        let mut known = Some(String::new());
        self.pieces(&pieces, &word.value, false, &mut known)?;
        Ok(known)
    }

    /// The commands in what is read as if it stood in double quotes, with quotes of its own meaning nothing: a here
    /// document, arithmetic, the inside of `${..}`. It finds some that no shell would run, and none too few.
    fn quoted(&mut self, text: &str) -> Walked {
        let pieces = parse_heredoc(text, &ParserOptions::default())
            .map_err(|error| format!("it cannot be read as shell: {error}"))?;
        self.pieces(&pieces, text, true, &mut None)
    }

    fn pieces(
        &mut self,
        pieces: &[WordPieceWithSource],
        source: &str,
        is_quoted: bool,
        known: &mut Known,
    ) -> Walked {
        for piece in pieces {
            match &piece.piece {
                // What a shell makes several words of, or files, is not known.
                WordPiece::Text(text)
                    if !is_quoted && text.contains(['*', '?', '[', '{', '~', '(']) =>
                {
                    *known = None;
                }
                WordPiece::Text(text) | WordPiece::SingleQuotedText(text) => append(known, text),
                WordPiece::EscapeSequence(text) => {
                    let text = text.strip_prefix('\\').unwrap_or(text);
                    if text != "\n" {
                        append(known, text);
                    }
                }
                WordPiece::DoubleQuotedSequence(inner) => {
                    self.pieces(inner, source, true, known)?;
                }
                WordPiece::GettextDoubleQuotedSequence(inner) => {
                    *known = None;
                    self.pieces(inner, source, true, known)?;
                }
                WordPiece::AnsiCQuotedText(_) | WordPiece::TildeExpansion(_) => *known = None,
                WordPiece::CommandSubstitution(text) => {
                    *known = None;
                    self.script(text)?;
                }
                WordPiece::BackquotedCommandSubstitution(text) => {
                    *known = None;
                    self.script(&unescaped(text))?;
                }
                WordPiece::ArithmeticExpression(arithmetic) => {
                    *known = None;
                    self.quoted(&arithmetic.value)?;
                }
                WordPiece::ParameterExpansion(_) => {
                    *known = None;
                    let whole = source.get(piece.start_index..piece.end_index);
                    let whole = whole.ok_or("it cannot be read as shell")?;
                    if let Some(inside) = whole
                        .strip_prefix("${")
                        .and_then(|rest| rest.strip_suffix('}'))
                    {
                        self.quoted(inside)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// That a text does not run where a shell reads it once more: what names a variable or a number is arithmetic to it, and it
/// runs what stands in the index of an array there.
fn unevaluated(word: &Known) -> Walked {
    match word {
        Some(text) if text.contains("$(") || text.contains('`') => {
            Err("it has text in it that a shell may run as a part of arithmetic".to_owned())
        }
        _ => Ok(()),
    }
}

fn append(known: &mut Known, text: &str) {
    if let Some(known) = known {
        known.push_str(text);
    }
}

/// Between backquotes, a backslash before another, a backquote or a dollar goes away before the text is read.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match characters.peek() {
            Some(next @ ('\\' | '`' | '$')) if character == '\\' => {
                plain.push(*next);
                characters.next();
            }
            _ => plain.push(character),
        }
    }
    plain
}

/// The name of a program without its folder.
pub(super) fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
