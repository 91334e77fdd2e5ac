use super::openai_chat::{OpenAiChat, Vendor};
use super::{ApiKey, HttpModel, Wire};
use crate::message::Protocol;
use crate::model::{Model, ModelError, ModelErrorKind};
use std::sync::Arc;

/// The model that the environment names.
///
/// | variable | |
/// |---|---|
/// | `AGENT_MODEL` | protocol and model, `openai-chat/gpt-5-mini`, or vendor and model, `deepseek/deepseek-chat`; the model's name may have slashes of its own |
/// | `AGENT_BASE_URL` | another server that speaks the protocol, for example `http://localhost:8080/v1` |
/// | `OPENAI_API_KEY`, `ANTHROPIC_API_KEY` | the key, by protocol; needed unless `AGENT_BASE_URL` is set |
///
/// The protocols are `openai-chat`, `openai-responses` and `anthropic-messages`; the vendors, with their variables for
/// the key, are those of [`Vendor`](super::openai_chat::Vendor).
///
/// A key in the environment is sent to `AGENT_BASE_URL`, too: leave it unset for a server that needs none.
///
/// # Errors
///
/// When `AGENT_MODEL` is not set or names no protocol, or a key is missing. There is no model to fall back on.
pub fn from_env() -> Result<Arc<dyn Model>, ModelError> {
    from_lookup(|name| std::env::var(name).ok())
}

fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Arc<dyn Model>, ModelError> {
    let lookup = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
    let Some(named) = lookup("AGENT_MODEL") else {
        return Err(config(
            "no model is named; set AGENT_MODEL to protocol and model, for example \
             AGENT_MODEL=openai-chat/gpt-5-mini"
                .to_owned(),
        ));
    };
    let settings = Settings {
        base_url: lookup("AGENT_BASE_URL"),
        lookup: &lookup,
    };
    let (protocol, model) = named.trim().split_once('/').unwrap_or((named.trim(), ""));
    let vendor = Vendor::named(protocol).filter(|_| !model.is_empty());
    if let Some(vendor) = vendor {
        return of_vendor(vendor, model, &settings);
    }
    let Some((_, make)) = MAKERS.iter().find(|(known, _)| known.as_str() == protocol) else {
        let known: Vec<&str> = MAKERS.iter().map(|(known, _)| known.as_str()).collect();
        return Err(config(format!(
            "AGENT_MODEL names the protocol `{protocol}`, which is none of {}; write it like \
             AGENT_MODEL=openai-chat/gpt-5-mini",
            known.join(", ")
        )));
    };
    if model.is_empty() {
        return Err(config(format!(
            "AGENT_MODEL names no model after `{protocol}`; write it like AGENT_MODEL={protocol}/name-of-the-model"
        )));
    }
    make(model, &settings)
}

fn of_vendor(
    vendor: &Vendor,
    model: &str,
    settings: &Settings<'_>,
) -> Result<Arc<dyn Model>, ModelError> {
    let mut made = OpenAiChat::at_vendor(vendor, model);
    if let Some(variable) = vendor.key_variable {
        match ((settings.lookup)(variable), &settings.base_url) {
            (Some(key), _) => made = made.api_key(key),
            (None, Some(_)) => {}
            (None, None) => {
                return Err(config(format!(
                    "no key for {}; set {variable}, or AGENT_BASE_URL for a server that needs none",
                    vendor.name
                )));
            }
        }
    }
    if let Some(address) = &settings.base_url {
        made = made.base_url(address.clone());
    }
    Ok(Arc::new(made))
}

type Make = fn(&str, &Settings<'_>) -> Result<Arc<dyn Model>, ModelError>;

/// How each protocol makes its model.
const MAKERS: &[(Protocol, Make)] = &[
    (Protocol::OpenaiChat, |model, settings| {
        settings.apply(OpenAiChat::new(model), OpenAiChat::base_url)
    }),
    (Protocol::OpenaiResponses, |model, settings| {
        use super::openai_responses::OpenAiResponses;
        settings.apply(OpenAiResponses::new(model), OpenAiResponses::base_url)
    }),
    (Protocol::AnthropicMessages, |model, settings| {
        use super::anthropic::Anthropic;
        settings.apply(Anthropic::new(model), Anthropic::base_url)
    }),
];

struct Settings<'a> {
    base_url: Option<String>,
    lookup: &'a dyn Fn(&str) -> Option<String>,
}

impl Settings<'_> {
    fn apply<W: Wire + 'static>(
        &self,
        mut model: HttpModel<W>,
        base_url: fn(HttpModel<W>, String) -> HttpModel<W>,
    ) -> Result<Arc<dyn Model>, ModelError> {
        let variable = model.wire.key_variable();
        let key = (self.lookup)(variable).map(ApiKey::from);
        match (key, &self.base_url) {
            (Some(key), _) => model = model.api_key(key),
            (None, Some(_)) => {}
            (None, None) => {
                return Err(config(format!(
                    "no key for {}; set {variable}, or AGENT_BASE_URL for a server that needs none",
                    model.wire.protocol()
                )));
            }
        }
        if let Some(address) = &self.base_url {
            model = base_url(model, address.clone());
        }
        Ok(Arc::new(model))
    }
}

fn config(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Config, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<String, String> {
        from_lookup(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
        .map(|model| model.name().to_owned())
        .map_err(|error| error.to_string())
    }

    #[test]
    fn a_protocol_and_a_model_are_enough_with_a_key_or_an_address() {
        let key = ("OPENAI_API_KEY", "sk-1");
        let address = ("AGENT_BASE_URL", "http://localhost:8080/v1");
        let model = ("AGENT_MODEL", "openai-chat/org/model:free");
        assert_eq!(from(&[model, key]).as_deref(), Ok("org/model:free"));
        let vendor = ("AGENT_MODEL", "ollama/qwen3");
        assert_eq!(from(&[vendor]).as_deref(), Ok("qwen3"));
        assert_eq!(from(&[model, address]).as_deref(), Ok("org/model:free"));
        assert_eq!(
            from(&[model, address, key]).as_deref(),
            Ok("org/model:free")
        );
    }

    #[test]
    fn what_is_missing_is_named_with_an_example() {
        for (variables, named) in [
            (&[][..], "AGENT_MODEL=openai-chat/"),
            (&[("AGENT_MODEL", " ")], "AGENT_MODEL=openai-chat/"),
            (
                &[("AGENT_MODEL", "gpt-5")],
                "the protocol `gpt-5`, which is none of openai-chat",
            ),
            (
                &[("AGENT_MODEL", "openai-chat")],
                "names no model after `openai-chat`",
            ),
            (
                &[("AGENT_MODEL", "openai-chat/m")],
                "set OPENAI_API_KEY, or AGENT_BASE_URL",
            ),
            (
                &[("AGENT_MODEL", "deepseek/m")],
                "no key for deepseek; set DEEPSEEK_API_KEY",
            ),
            (
                &[("AGENT_MODEL", "openai-chat/m"), ("OPENAI_API_KEY", "")],
                "set OPENAI_API_KEY",
            ),
        ] {
            let error = from(variables).expect_err("something is missing");
            assert!(error.contains(named), "{error}");
        }
    }
}
