//! What all tasks of the command line share: colours, which vanish where output is no terminal, and
//! waiting for what takes time.

use std::path::Path;

use anstyle::{AnsiColor, Style};

/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What could not be judged.
pub(crate) const BROKEN: Style = AnsiColor::Yellow.on_default().bold();
/// What only helps to find the way.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// The database: the one named, or the private one of a node that runs with this folder.
pub(crate) fn database_url(named: Option<&str>, data: &Path) -> Result<String, String> {
    named.map(str::to_owned).or_else(|| private_url(data)).ok_or_else(|| {
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

/// Runs something that waits, to its end.
pub(crate) fn block_on<F: Future>(task: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(task))
}
