use crate::run::{Brought, Extension};
use crate::tool::{BoxError, BuiltIn, End, Ended, Tool, ToolContext, ToolError, ToolSet};
use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How large a file of a skill may be that the model reads, in bytes.
const MOST: u64 = 256 * 1024;

/// Things that the model can learn when it needs them: each a folder with a file `SKILL.md`, which begins with its name
/// and a sentence that says what it is for.
///
/// ```text
/// ---
/// name: release-notes
/// description: How release notes are written in this project.
/// ---
/// Begin with ..
/// ```
///
/// The head is YAML; name and description are texts in it, plain, quoted, or folded over several lines, and other keys are
/// passed over.
///
/// The names and sentences stand in the instructions; the text of a skill comes only when the model asks for it with the
/// tool `skill`, and the files beside it with `read_skill_file`. Nothing outside of the skill's folder can be read.
#[derive(Debug, Clone)]
pub struct Skills {
    folder: PathBuf,
}

impl Skills {
    /// The skills in the folders of this folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }
}

/// A skill that was found.
#[derive(Debug)]
struct Skill {
    name: String,
    description: String,
    folder: PathBuf,
    body: String,
}

impl Skill {
    /// Reads the skill in a folder; `None` if there is none.
    fn read(folder: PathBuf) -> Result<Option<Self>, BoxError> {
        let path = folder.join("SKILL.md");
        if !path.is_file() {
            return Ok(None);
        }
        let wrong = |why: &str| format!("`{}` is no skill: {why}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(&error.to_string()))?;
        let mut lines = text.trim_start_matches('\u{feff}').lines();
        let is_rule = |line: &&str| line.trim_end() == "---";
        let head: Vec<&str> = match lines.next() {
            Some(first) if is_rule(&first) => {
                lines.by_ref().take_while(|line| !is_rule(line)).collect()
            }
            _ => Vec::new(),
        };
        if head.is_empty() {
            return Err(
                wrong("it does not begin with `---`, `name:`, `description:` and `---`").into(),
            );
        }
        let key = |key: &str| {
            value(&head, key)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| wrong(&format!("it has no text after `{key}:`")))
        };
        Ok(Some(Self {
            name: key("name")?,
            description: key("description")?,
            body: lines.collect::<Vec<_>>().join("\n").trim().to_owned(),
            folder,
        }))
    }
}

/// The text of a key in lines of YAML, on one line: as it is, quoted, or going on in the lines below, folded (`>`) or not
/// (`|`). No more of YAML is needed of a name and a sentence than this, and a list or a map is neither.
fn value(head: &[&str], key: &str) -> Option<String> {
    let mut lines = head
        .iter()
        .skip_while(|line| text_after(line, key).is_none());
    let first = text_after(lines.next()?, key)?;
    let is_block = first.starts_with(['>', '|']);
    let below = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
    let first = if is_block { "" } else { first };
    let words = std::iter::once(first).chain(below.copied());
    let text = words
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    if is_block {
        return Some(text);
    }
    let inside = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inside) = inside('\'') {
        return Some(inside.replace("''", "'"));
    }
    if let Some(inside) = inside('"') {
        return Some(serde_json::from_str(&text).unwrap_or_else(|_| inside.to_owned()));
    }
    let plain = text.split_once(" #").map_or(&*text, |(plain, _)| plain);
    let is_text = !plain.starts_with(['[', '{', '#']);
    is_text.then(|| plain.trim_end().to_owned())
}

/// What stands after a key at the beginning of a line.
fn text_after<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let rest = line.strip_prefix(key)?.trim_start().strip_prefix(':')?;
    Some(rest.trim())
}

/// All skills of a folder, by name.
fn read_all(folder: &Path) -> Result<Vec<Skill>, BoxError> {
    let cannot = |error| {
        format!(
            "the skills in `{}` cannot be listed: {error}",
            folder.display()
        )
    };
    let mut skills = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cannot)? {
        skills.extend(Skill::read(entry.map_err(cannot)?.path())?);
    }
    skills.sort_by(|a, b| a.name.cmp(&b.name));
    for (a, b) in skills.iter().zip(skills.iter().skip(1)) {
        if a.name == b.name {
            let (name, a, b) = (&a.name, a.folder.display(), b.folder.display());
            return Err(format!("two skills are named `{name}`: {a} and {b}").into());
        }
    }
    Ok(skills)
}

#[async_trait]
impl Extension for Skills {
    fn name(&self) -> &str {
        "skills"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        let folder = self.folder.clone();
        let skills = tokio::task::spawn_blocking(move || read_all(&folder)).await??;
        if skills.is_empty() {
            return Ok(());
        }
        let mut told =
            String::from("Skills that you can learn with the tool `skill` when they fit the task:");
        for skill in &skills {
            // Writing to a `String` cannot fail.
            let _ = write!(told, "\n- {}: {}", skill.name, skill.description);
        }
        brought.instructions(told);
        let skills = Arc::new(skills);
        let learn = LearnSkill(Arc::clone(&skills));
        let learn = Tool::built_in("skill", "Learn a skill: read its text.", learn)?;
        let read = Tool::built_in(
            "read_skill_file",
            "Read a file that belongs to a skill.",
            ReadSkillFile(skills),
        )?;
        let tools = [learn, read].map(|tool| tool.with_policy(|policy| policy.read_only = true));
        brought.tools(ToolSet::from_tools(tools)?)?;
        Ok(())
    }
}

#[derive(Deserialize, JsonSchema)]
struct Learn {
    /// The skill's name.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct ReadFile {
    /// The skill's name.
    name: String,
    /// The path of the file in the skill's folder.
    path: String,
}

struct LearnSkill(Arc<Vec<Skill>>);

impl BuiltIn for LearnSkill {
    type Arguments = Learn;

    async fn run(&self, Learn { name }: Learn, _: &ToolContext) -> End {
        find(&self.0, &name).map(|skill| Ended::Text(skill.body.clone()))
    }
}

struct ReadSkillFile(Arc<Vec<Skill>>);

impl BuiltIn for ReadSkillFile {
    type Arguments = ReadFile;

    async fn run(&self, ReadFile { name, path }: ReadFile, _: &ToolContext) -> End {
        let folder = find(&self.0, &name)?.folder.clone();
        let read = tokio::task::spawn_blocking(move || file_in(&folder, &path));
        read.await.map_err(ToolError::internal)?.map(Ended::Text)
    }
}

fn find<'a>(skills: &'a [Skill], name: &str) -> Result<&'a Skill, ToolError> {
    skills
        .iter()
        .find(|skill| skill.name == name)
        .ok_or_else(|| {
            let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
            ToolError::new(format!(
                "there is no skill of this name; the skills are {}",
                names.join(", ")
            ))
        })
}

/// The text of a file in a folder, however the path tries to leave it.
fn file_in(folder: &Path, path: &str) -> Result<String, ToolError> {
    let outside = || ToolError::new(format!("`{path}` is not in the skill's folder"));
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(path).components().all(is_plain) {
        return Err(outside());
    }
    let cannot = |error: std::io::Error| {
        ToolError::new(format!("`{path}` cannot be read: {}", error.kind()))
    };
    // A link may lead out of the folder: what counts is where the file really is.
    let root = folder.canonicalize().map_err(cannot)?;
    let real = root.join(path).canonicalize().map_err(cannot)?;
    if !real.starts_with(&root) {
        return Err(outside());
    }
    let about = real.metadata().map_err(cannot)?;
    if !about.is_file() {
        return Err(ToolError::new(format!("`{path}` is no file")));
    }
    let bytes = about.len();
    if bytes > MOST {
        return Err(ToolError::new(format!(
            "`{path}` has {bytes} bytes, and at most {MOST} are read"
        )));
    }
    let bytes = std::fs::read(&real).map_err(cannot)?;
    String::from_utf8(bytes).map_err(|_| ToolError::new(format!("`{path}` is no text")))
}
