//! Every codec that can be named on this machine.

use super::external::{External, ExternalSpec};
use super::installed::installed_tools;
use super::jpeg::Jpeg;
use super::tessera::Tessera;
use super::webp::Webp;
use super::{Codec, CodecError};
use std::sync::Arc;

/// AVIF by any encoder.
const AVIF: &str = "avif";
/// The installed tool that stands in for a built-in one.
const INSTALLED_AVIF: &str = "avifenc";

/// A name and where it comes from.
pub struct RegistryEntry {
    /// The codec.
    pub codec: Arc<dyn Codec>,
    /// Whether it is compiled in, an installed tool or the user's command.
    pub origin: &'static str,
}

/// The codecs a run can choose from.
pub struct Registry {
    entries: Vec<RegistryEntry>,
    missing: Vec<(&'static str, [&'static str; 2])>,
}

impl Registry {
    /// The built-in codecs and the tools found in `PATH`.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Self {
            entries: Vec::new(),
            missing: Vec::new(),
        };
        registry.push(Arc::new(Tessera::new()), "built in");
        registry.push(Arc::new(Tessera::for_psnr()), "built in");
        registry.push(Arc::new(Jpeg { subsampled: true }), "built in");
        registry.push(Arc::new(Jpeg { subsampled: false }), "built in");
        registry.push(Arc::new(Webp), "built in");
        #[cfg(feature = "avif")]
        registry.push(Arc::new(super::avif::Avif), "built in");
        for tool in installed_tools() {
            match tool.codec() {
                Some(codec) => registry.push(Arc::new(codec), "installed"),
                None => registry.missing.push((tool.name, tool.commands)),
            }
        }
        registry
    }

    fn push(&mut self, codec: Arc<dyn Codec>, origin: &'static str) {
        self.entries.push(RegistryEntry { codec, origin });
    }

    /// Adds a codec that the caller made.
    ///
    /// # Errors
    /// [`CodecError::Definition`] if the name is taken.
    pub fn add(&mut self, codec: Arc<dyn Codec>, origin: &'static str) -> Result<(), CodecError> {
        if self.entries.iter().any(|e| e.codec.name() == codec.name()) {
            return Err(CodecError::Definition {
                name: codec.name().to_owned(),
                reason: "the name is taken".into(),
            });
        }
        self.push(codec, origin);
        Ok(())
    }

    /// Adds a codec that the user describes.
    ///
    /// # Errors
    /// [`CodecError::Definition`] if the name is taken or the description malformed.
    pub fn add_external(&mut self, spec: ExternalSpec) -> Result<(), CodecError> {
        self.add(Arc::new(External::new(spec)?), "external command")
    }

    /// What there is.
    #[must_use]
    pub fn entries(&self) -> &[RegistryEntry] {
        &self.entries
    }

    /// Known tools that this machine lacks, with their commands.
    #[must_use]
    pub fn missing(&self) -> &[(&'static str, [&'static str; 2])] {
        &self.missing
    }

    /// The codec of a name; an installed `avifenc` serves as `avif` in a build that has none.
    ///
    /// # Errors
    /// [`CodecError::Unknown`] with the names there are, [`CodecError::NoAvif`] with how to get it.
    pub fn get(&self, name: &str) -> Result<Arc<dyn Codec>, CodecError> {
        let named = |name: &str| {
            let entry = self.entries.iter().find(|e| e.codec.name() == name);
            entry.map(|e| Arc::clone(&e.codec))
        };
        let found = named(name);
        if name == AVIF {
            return (found.or_else(|| named(INSTALLED_AVIF))).ok_or(CodecError::NoAvif);
        }
        found.ok_or_else(|| {
            let names: Vec<&str> = self.entries.iter().map(|e| e.codec.name()).collect();
            CodecError::Unknown {
                name: name.to_owned(),
                known: names.join(", "),
            }
        })
    }

    /// What is measured unless the user names codecs: our own, JPEG, WebP, and AVIF if there is one.
    #[must_use]
    pub fn usual(&self) -> Vec<String> {
        let names = ["tessera", "jpeg", "webp", AVIF].into_iter();
        let there = names.filter(|name| self.get(name).is_ok());
        there.map(str::to_owned).collect()
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_list_the_known_ones() {
        let error = Registry::new().get("bpg").err().unwrap().to_string();
        assert!(
            error.contains("bpg") && error.contains("tessera, tessera-psnr, jpeg, jpeg444, webp"),
            "{error}"
        );
    }

    #[test]
    fn avif_is_built_in_or_installed_or_explained() {
        let registry = Registry::new();
        let has = |name| registry.entries().iter().any(|e| e.codec.name() == name);
        match registry.get("avif") {
            Ok(codec) => assert_eq!(codec.name(), if has("avif") { "avif" } else { "avifenc" }),
            Err(error) => {
                assert!(!cfg!(feature = "avif") && !has("avifenc"));
                assert!(error.to_string().contains("--features avif"), "{error}");
            }
        }
        let there = registry.usual().contains(&"avif".to_owned());
        assert_eq!(there, registry.get("avif").is_ok());
    }

    #[test]
    fn an_installed_avif_encoder_stands_in() {
        let mut registry = Registry::new();
        registry.entries.retain(|entry| {
            let name = entry.codec.name();
            name != "avif" && name != "avifenc"
        });
        assert!(matches!(registry.get("avif"), Err(CodecError::NoAvif)));
        assert_eq!(registry.usual(), ["tessera", "jpeg", "webp"]);
        let spec = ExternalSpec::of_user("avifenc", "cp {in} {out}", "cp {in} {out}", "1");
        registry.add_external(spec).unwrap();
        assert_eq!(registry.get("avif").unwrap().name(), "avifenc");
    }

    #[test]
    fn a_taken_name_is_refused() {
        let spec = ExternalSpec::of_user("webp", "cp {in} {out}", "cp {in} {out}", "1");
        assert!(Registry::new().add_external(spec).is_err());
    }
}
