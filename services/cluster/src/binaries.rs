//! Finds PostgreSQL's server programs.

use std::path::{Path, PathBuf};

use crate::ClusterError;

/// The environment variable that overrides where they are searched for.
pub const BIN_VARIABLE: &str = "CROUPIER_POSTGRES_BIN";

/// The folder of `initdb` and `postgres`, the newest if there are several.
pub(crate) fn find() -> Result<PathBuf, ClusterError> {
    if let Some(folder) = std::env::var_os(BIN_VARIABLE).filter(|value| !value.is_empty()) {
        let folder = PathBuf::from(folder);
        return if has_server(&folder) {
            Ok(folder)
        } else {
            Err(ClusterError::BadOverride { variable: BIN_VARIABLE, folder })
        };
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = versions("/usr/lib/postgresql", "", "bin")
        .chain(versions("/opt/homebrew/opt", "postgresql@", "bin"))
        .chain(versions("/usr/local/opt", "postgresql@", "bin"));
    first(usual.chain(std::env::split_paths(&path)))
}

fn first(mut folders: impl Iterator<Item = PathBuf>) -> Result<PathBuf, ClusterError> {
    folders
        .find(|folder| has_server(folder))
        .ok_or(ClusterError::NoBinaries { install: install_command() })
}

fn has_server(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

/// `base/<prefix><number>/<inner>`, the highest number first.
fn versions(base: &str, prefix: &str, inner: &str) -> impl Iterator<Item = PathBuf> {
    let entries = std::fs::read_dir(base).into_iter().flatten().flatten();
    let mut found: Vec<(u32, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.split('.').next()?.parse().ok()?;
            Some((version, entry.path().join(inner)))
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, path)| path)
}

fn install_command() -> &'static str {
    if cfg!(target_os = "macos") {
        "brew install postgresql@17"
    } else {
        "sudo apt-get install -y postgresql"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_reported_with_an_install_command() {
        let error = first([PathBuf::from("/nowhere")].into_iter()).unwrap_err().to_string();
        assert!(error.starts_with("PostgreSQL's server programs were not found. Run: "), "{error}");
        assert!(error.ends_with(install_command()));
    }

    #[test]
    fn the_newest_version_comes_first() {
        let base = tempfile::tempdir().unwrap();
        for name in ["9", "17", "15", "common"] {
            std::fs::create_dir(base.path().join(name)).unwrap();
        }
        let found: Vec<_> = versions(base.path().to_str().unwrap(), "", "bin").collect();
        let expected = ["17", "15", "9"].map(|version| base.path().join(version).join("bin"));
        assert_eq!(found, expected);
    }
}
