//! Each group of tools is an extension, too, so that one way brings in all of them.

#[cfg(all(feature = "toolkit-browser", unix))]
use super::Browser;
#[cfg(all(feature = "toolkit-code", unix))]
use super::CodeRunner;
use super::Toolkit;
#[cfg(all(feature = "toolkit-shell", unix))]
use super::{Processes, Shell};
#[cfg(feature = "toolkit-web")]
use super::{SearchBackend, Web, WebSearch};
use crate::run::{Brought, Extension};
use crate::tool::BoxError;
use async_trait::async_trait;

/// A group is brought as it is, by its name, and, where it holds something, lets go of it when the agent stops.
macro_rules! extension {
    ($name:literal, $group:ty $(where [$($bound:tt)*])? $(, $end:ident)?) => {
        #[async_trait]
        impl $(<$($bound)*>)? Extension for $group {
            fn name(&self) -> &str {
                $name
            }

            async fn start(&self, brought: &mut Brought) -> Result<(), BoxError> {
                Ok(brought.tools(self.clone())?)
            }

            $(async fn stop(&self) -> Result<(), BoxError> {
                self.$end().await;
                Ok(())
            })?
        }
    };
}

extension!("toolkit", Toolkit);
#[cfg(all(feature = "toolkit-shell", unix))]
extension!("shell", Shell);
#[cfg(all(feature = "toolkit-shell", unix))]
extension!("processes", Processes, end_all);
#[cfg(all(feature = "toolkit-code", unix))]
extension!("code", CodeRunner);
#[cfg(feature = "toolkit-web")]
extension!("web", Web);
#[cfg(feature = "toolkit-web")]
extension!("web search", WebSearch<B> where [B: SearchBackend]);
#[cfg(all(feature = "toolkit-browser", unix))]
extension!("browser", Browser, end);
