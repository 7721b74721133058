//! Shared by all command line programs: colours (removed if the output is not a terminal), the
//! address of the database, and running async code.

use std::path::Path;

use anstyle::{AnsiColor, Style};

/// Success.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Failure.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// An error, or a check that could not be made.
pub(crate) const BROKEN: Style = AnsiColor::Yellow.on_default().bold();
/// Secondary text.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// The URL of the database: the given one, or that of a running node with this data folder.
pub(crate) fn database_url(given: Option<&str>, data: &Path) -> Result<String, String> {
    given.map(str::to_owned).or_else(|| private_url(data)).ok_or_else(|| {
        if cfg!(feature = "cluster") {
            format!(
                "no database: set DATABASE_URL, or start a node that keeps its data in {}",
                data.display()
            )
        } else {
            "no database: set DATABASE_URL".to_owned()
        }
    })
}

#[cfg(feature = "cluster")]
fn private_url(data: &Path) -> Option<String> {
    cluster::running(&data.join("postgres"), crate::serve::DATABASE)
}

#[cfg(not(feature = "cluster"))]
fn private_url(_: &Path) -> Option<String> {
    None
}

/// Runs a future to completion.
pub(crate) fn block_on<F: Future>(task: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(task))
}
