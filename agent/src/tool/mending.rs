use crate::schema::Coercion;

/// What may be done to arguments before they are checked: said of a tool, or of an agent for the tools that say
/// nothing. Whatever is done, the check comes after it, and nothing switches that off.
///
/// ```
/// use agent::{Coercion, Repaired, ToolPolicy};
///
/// let mut policy = ToolPolicy::DEFAULT;
/// policy.mending.coercion = Some(Coercion::Off);
/// policy.mending.repaired = Some(Repaired::Run);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Mending {
    /// Whether a text that had to be repaired to be JSON at all may run. `None`: where the tool is declared `read_only`
    /// or `idempotent`.
    pub repaired: Option<Repaired>,
    /// Whether values are read in another type where they say the same. `None`: [`Coercion::Usual`].
    pub coercion: Option<Coercion>,
}

impl Mending {
    /// Nothing said.
    pub const UNSAID: Self = Self {
        repaired: None,
        coercion: None,
    };

    /// What this says, and `other` where it says nothing.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            repaired: self.repaired.or(other.repaired),
            coercion: self.coercion.or(other.coercion),
        }
    }
}

/// What becomes of a call whose arguments were no JSON, and could be repaired without guessing.
///
/// Arguments that are cut off, or that cannot be read without guessing, never run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repaired {
    /// It runs.
    Run,
    /// The model reads what was wrong and sends it again.
    SendAgain,
}
