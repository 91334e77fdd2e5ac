use crate::model::PromptCache;
use crate::run::{Brought, Extension};
use crate::tool::BoxError;
use async_trait::async_trait;

/// Asks the provider to remember what requests begin with: the tools, the instructions and the conversation so far. A
/// choice that the agent's own options make stays.
#[derive(Debug, Clone, Copy)]
pub struct PromptCaching(PromptCache);

impl PromptCaching {
    /// For some minutes.
    pub fn short() -> Self {
        Self(PromptCache::Short)
    }

    /// For an hour or more, at a higher price.
    pub fn long() -> Self {
        Self(PromptCache::Long)
    }
}

#[async_trait]
impl Extension for PromptCaching {
    fn name(&self) -> &str {
        "prompt caching"
    }

    async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
        brought.prompt_cache(self.0);
        Ok(())
    }
}
