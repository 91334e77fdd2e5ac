/// One thing that is wrong with a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// Where: a JSON pointer (RFC 6901); empty for the arguments as a whole.
    pub path: String,
    /// What is wrong and what would be right, in words that a model can act on.
    pub message: String,
}

/// Everything that is wrong with a call's arguments, in the order in which the parameters are declared. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub(crate) Vec<Problem>);
