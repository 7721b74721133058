//! What all tasks of the command line share: colours, which vanish where output is no terminal, and
//! waiting for what takes time.

use anstyle::{AnsiColor, Style};

/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What could not be judged.
pub(crate) const BROKEN: Style = AnsiColor::Yellow.on_default().bold();
/// What only helps to find the way.
pub(crate) const FAINT: Style = Style::new().dimmed();

/// Runs something that waits, to its end.
pub(crate) fn block_on<F: Future>(task: F) -> std::io::Result<F::Output> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    Ok(runtime.block_on(task))
}
