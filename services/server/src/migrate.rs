//! `croupier migrate`: migrates the database.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use crate::terminal::{BROKEN, GOOD, block_on};

pub(crate) fn run(url: &str, out: &mut impl Write) -> io::Result<ExitCode> {
    match block_on(store::migrate(url))? {
        Ok(()) => {
            writeln!(out, "{GOOD}✓{GOOD:#} the database has the current schema")?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
    }
}
