//! Where desktops look for files of one user.

use crate::exit::Usage;
use anyhow::{Result, bail};
use std::ffi::OsString;
use std::path::PathBuf;

/// The folders of a user by the XDG conventions.
#[derive(Debug)]
pub(super) struct Places {
    data: PathBuf,
    config: PathBuf,
}

impl Places {
    /// # Errors
    /// If the user has no home.
    pub(super) fn of_user() -> Result<Self> {
        Self::from_environment(|name| std::env::var_os(name))
    }

    fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let folder = |name: &str| {
            let path = variable(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let place =
            |name, below: &str| folder(name).or_else(|| home.as_ref().map(|home| home.join(below)));
        let data = place("XDG_DATA_HOME", ".local/share");
        let config = place("XDG_CONFIG_HOME", ".config");
        let Some((data, config)) = data.zip(config) else {
            let message = "HOME does not name a folder; set it to the user's home";
            bail!(Usage(message.into()));
        };
        Ok(Self { data, config })
    }

    /// MIME types.
    pub(super) fn mime(&self) -> PathBuf {
        self.data.join("mime")
    }

    /// What opens files.
    pub(super) fn applications(&self) -> PathBuf {
        self.data.join("applications")
    }

    pub(super) fn thumbnailers(&self) -> PathBuf {
        self.data.join("thumbnailers")
    }

    /// ImageMagick's list of other programs.
    pub(super) fn delegates(&self) -> PathBuf {
        self.config.join("ImageMagick/delegates.xml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_come_before_home() {
        let variables = |name: &str| match name {
            "HOME" => Some("/home/me".into()),
            "XDG_DATA_HOME" => Some("/data".into()),
            // Relative paths are to be ignored.
            "XDG_CONFIG_HOME" => Some("config".into()),
            _ => None,
        };
        let places = Places::from_environment(variables).unwrap();
        assert_eq!(places.mime(), PathBuf::from("/data/mime"));
        let delegates = PathBuf::from("/home/me/.config/ImageMagick/delegates.xml");
        assert_eq!(places.delegates(), delegates);
        assert!(Places::from_environment(|_| None).is_err());
    }
}
