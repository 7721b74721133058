//! Colours, the same everywhere. They vanish where output is no terminal.

use anstyle::{AnsiColor, Style};

/// What is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// What is not.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();
/// What could not be judged.
pub(crate) const BROKEN: Style = AnsiColor::Yellow.on_default().bold();
/// What only helps to find the way.
pub(crate) const FAINT: Style = Style::new().dimmed();
