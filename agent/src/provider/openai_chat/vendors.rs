use super::Chat;
use crate::message::IdRule;

/// Somebody who serves models over Chat Completions, and what is particular there.
///
#[doc = include_str!("vendors.md")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vendor {
    /// Its name, as in `AGENT_MODEL=deepseek/deepseek-chat`.
    pub name: &'static str,
    /// Where requests go.
    pub base_url: &'static str,
    /// The environment variable in which its users keep the key; none for a server that needs none.
    pub key_variable: Option<&'static str>,
    /// How it is spoken to.
    pub chat: Chat,
}

/// What most servers share; each vendor says how it differs.
const fn vendor(name: &'static str, base_url: &'static str, key: &'static str) -> Vendor {
    Vendor {
        name,
        base_url,
        key_variable: Some(key),
        chat: Chat::COMPATIBLE,
    }
}

impl Vendor {
    /// DeepSeek: each turn with calls must bring its `reasoning_content` back, if only an empty one. A message with an image
    /// is refused (`unknown variant image_url, expected text`), save by models that see: for these, set `takes_images`.
    ///
    /// Source: <https://api-docs.deepseek.com/>.
    pub const DEEPSEEK: Self = Self {
        chat: Chat {
            takes_images: false,
            demands_reasoning: true,
            says_parallel: false,
            ..Chat::COMPATIBLE
        },
        ..vendor("deepseek", "https://api.deepseek.com", "DEEPSEEK_API_KEY")
    };

    /// Groq.
    ///
    /// Source: <https://console.groq.com/docs/openai>.
    pub const GROQ: Self = Self {
        chat: Chat {
            output_limit: "max_completion_tokens",
            ..Chat::COMPATIBLE
        },
        ..vendor("groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY")
    };

    /// Mistral: it refuses fields that it does not know and ids of calls that are not nine letters and digits, and counts
    /// tokens in streams without being asked.
    ///
    /// Source: <https://docs.mistral.ai/api/>.
    pub const MISTRAL: Self = Self {
        chat: Chat {
            asks_for_usage: false,
            call_ids: Some(IdRule::new(9, 9, "")),
            ..Chat::COMPATIBLE
        },
        ..vendor("mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY")
    };

    /// Together.
    ///
    /// Source: <https://docs.together.ai/docs/inference/openai-compatibility>.
    pub const TOGETHER: Self = Self {
        chat: Chat {
            says_parallel: false,
            ..Chat::COMPATIBLE
        },
        ..vendor("together", "https://api.together.ai/v1", "TOGETHER_API_KEY")
    };

    /// `OpenRouter`.
    ///
    /// Source: <https://openrouter.ai/docs/quickstart>.
    pub const OPENROUTER: Self = vendor(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
    );

    /// Ollama on this machine.
    ///
    /// Source: <https://docs.ollama.com/api/openai-compatibility>.
    pub const OLLAMA: Self = Self {
        key_variable: None,
        chat: Chat {
            says_parallel: false,
            ..Chat::COMPATIBLE
        },
        ..vendor("ollama", "http://localhost:11434/v1", "")
    };

    /// The server of llama.cpp on this machine.
    ///
    /// Source: the README of `tools/server` in llama.cpp.
    pub const LLAMA_CPP: Self = Self {
        key_variable: None,
        ..vendor("llama-cpp", "http://localhost:8080/v1", "")
    };

    /// Gemini, by its compatible endpoint.
    ///
    /// Source: <https://ai.google.dev/gemini-api/docs/openai>.
    pub const GEMINI: Self = Self {
        chat: Chat {
            says_parallel: false,
            ..Chat::COMPATIBLE
        },
        ..vendor(
            "gemini",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY",
        )
    };

    /// xAI.
    ///
    /// Source: <https://docs.x.ai/docs/api-reference>.
    pub const XAI: Self = Self {
        chat: Chat {
            output_limit: "max_completion_tokens",
            ..Chat::COMPATIBLE
        },
        ..vendor("xai", "https://api.x.ai/v1", "XAI_API_KEY")
    };

    /// Moonshot: as at `DeepSeek`, turns with calls must bring their `reasoning_content` back.
    ///
    /// Source: <https://platform.moonshot.ai/docs>.
    pub const MOONSHOT: Self = Self {
        chat: Chat {
            demands_reasoning: true,
            says_parallel: false,
            ..Chat::COMPATIBLE
        },
        ..vendor("moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY")
    };

    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::DEEPSEEK,
        Self::GROQ,
        Self::MISTRAL,
        Self::TOGETHER,
        Self::OPENROUTER,
        Self::OLLAMA,
        Self::LLAMA_CPP,
        Self::GEMINI,
        Self::XAI,
        Self::MOONSHOT,
    ];

    /// The vendor of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|vendor| vendor.name == name)
    }
}

#[cfg(feature = "http")]
mod made {
    use super::Vendor;
    use crate::provider::openai_chat::OpenAiChat;

    /// Models of known vendors. The key is read from the vendor's variable when the model is made, and missed, by name,
    /// when the first request is to be sent; [`api_key`](crate::provider::HttpModel::api_key) gives another.
    impl OpenAiChat {
        /// A model of this name at this vendor.
        pub fn at_vendor(vendor: &Vendor, model: impl Into<String>) -> Self {
            Self::with_wire(vendor.chat.clone(), model)
                .at(vendor.base_url)
                .key_from(vendor.key_variable)
        }

        /// A model at [DeepSeek](Vendor::DEEPSEEK), with the key in `DEEPSEEK_API_KEY`.
        ///
        /// ```no_run
        /// use agent::provider::openai_chat::OpenAiChat;
        ///
        /// let model = OpenAiChat::deepseek("deepseek-v4-pro");
        /// ```
        pub fn deepseek(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::DEEPSEEK, model)
        }

        /// A model at [Groq](Vendor::GROQ), with the key in `GROQ_API_KEY`.
        pub fn groq(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::GROQ, model)
        }

        /// A model at [Mistral](Vendor::MISTRAL), with the key in `MISTRAL_API_KEY`.
        pub fn mistral(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::MISTRAL, model)
        }

        /// A model at [Together](Vendor::TOGETHER), with the key in `TOGETHER_API_KEY`.
        pub fn together(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::TOGETHER, model)
        }

        /// A model at [OpenRouter](Vendor::OPENROUTER), with the key in `OPENROUTER_API_KEY`.
        pub fn openrouter(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::OPENROUTER, model)
        }

        /// A model of [Ollama](Vendor::OLLAMA) on this machine.
        pub fn ollama(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::OLLAMA, model)
        }

        /// The model of [llama.cpp's server](Vendor::LLAMA_CPP) on this machine.
        pub fn llama_cpp(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::LLAMA_CPP, model)
        }

        /// A model at [Gemini's compatible endpoint](Vendor::GEMINI), with the key in `GEMINI_API_KEY`.
        pub fn gemini(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::GEMINI, model)
        }

        /// A model at [xAI](Vendor::XAI), with the key in `XAI_API_KEY`.
        pub fn xai(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::XAI, model)
        }

        /// A model at [Moonshot](Vendor::MOONSHOT), with the key in `MOONSHOT_API_KEY`.
        pub fn moonshot(model: impl Into<String>) -> Self {
            Self::at_vendor(&Vendor::MOONSHOT, model)
        }

        /// A deployment at Azure, `endpoint` being the address of the resource, for example
        /// `https://my-resource.openai.azure.com`, with the key in `AZURE_OPENAI_API_KEY`. It speaks as OpenAI does.
        pub fn azure(endpoint: &str, deployment: impl Into<String>) -> Self {
            let endpoint = endpoint.trim_end_matches('/');
            Self::new(deployment).at_azure(format!("{endpoint}/openai/v1"))
        }

        /// The same over the older addresses, which name the deployment and a version of the API, for example
        /// `2024-10-21`.
        pub fn azure_version(endpoint: &str, deployment: &str, api_version: &str) -> Self {
            let endpoint = endpoint.trim_end_matches('/');
            Self::new(deployment).at_azure(format!(
                "{endpoint}/openai/deployments/{deployment}?api-version={api_version}"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_documentation_is_the_table_in_the_code() {
        let says = |yes| if yes { "said" } else { "left out" };
        let written = Vendor::ALL.iter().map(|vendor| {
            let Vendor {
                name,
                base_url,
                key_variable,
                chat,
            } = vendor;
            let key = key_variable.map_or("none".to_owned(), |name| format!("`{name}`"));
            let reasoning = if chat.demands_reasoning {
                "with every call"
            } else {
                "as it came"
            };
            let ids = match &chat.call_ids {
                Some(rule) => format!("{} letters and digits", rule.most()),
                None => "any".to_owned(),
            };
            format!(
                "| `{name}` | `{base_url}` | {key} | `{}` | {} | {} | {} | {} | {reasoning} | {ids} |",
                chat.output_limit,
                says(chat.says_strict),
                says(chat.says_parallel),
                says(chat.asks_for_usage),
                if chat.takes_images { "sent" } else { "a line" },
            )
        });
        let table: Vec<&str> = include_str!("vendors.md")
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        let written: Vec<String> = written.collect();
        assert_eq!(table, written, "write:\n{}", written.join("\n"));
    }

    #[test]
    fn each_vendor_is_found_by_its_name_alone() {
        for vendor in Vendor::ALL {
            assert_eq!(Vendor::named(vendor.name), Some(vendor));
            assert!(!vendor.base_url.ends_with('/'));
        }
        assert_eq!(Vendor::named("nobody"), None);
    }
}
