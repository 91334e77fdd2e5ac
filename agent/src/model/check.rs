use super::{ModelError, ModelErrorKind, Request, ToolChoice};

impl Request<'_> {
    /// Checks that the request can be met at all. Runs and protocols do it before anything is sent; a model of your own
    /// may do it, too.
    ///
    /// # Errors
    ///
    /// When it chooses a tool where none is offered or one that is not offered (which may have become so since the
    /// choice was made: tools come and go), or one without a name; when the answer's format has no name that a provider
    /// takes; when a stop sequence is empty; when the temperature is no number.
    pub fn check(&self) -> Result<(), ModelError> {
        let options = self.options;
        if let Some(choice) = &options.tool_choice {
            self.check_choice(choice)?;
        }
        if let Some(format) = &options.response_format {
            let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if !(1..=64).contains(&format.name.len()) || !format.name.bytes().all(letter) {
                return Err(refused(format!(
                    "the answer's format is called `{}`; providers take 1 to 64 letters, digits, `_` and `-`",
                    format.name
                )));
            }
        }
        if options.stop.iter().any(String::is_empty) {
            return Err(refused(
                "a stop sequence is empty, which every answer has in it; leave it out".into(),
            ));
        }
        match options.temperature {
            Some(temperature) if !temperature.is_finite() => Err(refused(format!(
                "the temperature is {temperature}, which is no number"
            ))),
            _ => Ok(()),
        }
    }

    fn check_choice(&self, choice: &ToolChoice) -> Result<(), ModelError> {
        if self.tools.is_empty() {
            return Err(refused(
                "a choice of tools needs a tool, and the request offers none".into(),
            ));
        }
        let ToolChoice::OneOf(names) = choice else {
            return Ok(());
        };
        if names.is_empty() {
            return Err(refused(
                "the choice of tools names no tool; name one, or leave it out".into(),
            ));
        }
        for name in names {
            if name.is_empty() {
                return Err(refused(
                    "the choice of tools names a tool with an empty name".into(),
                ));
            }
            if self.tools.get(name).is_none() {
                let offered: Vec<&str> = self.tools.iter().map(|tool| &*tool.name).collect();
                return Err(refused(format!(
                    "the choice of tools names `{name}`, which the request does not offer; it offers {}",
                    offered.join(", ")
                )));
            }
        }
        Ok(())
    }
}

fn refused(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Request, message)
}
