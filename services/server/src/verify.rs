//! `croupier verify`: plays a finished game again from its events.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{Event, Proven};

use crate::terminal::{BAD, BROKEN, GOOD};

pub(crate) fn run(files: &[PathBuf], out: &mut impl Write) -> io::Result<ExitCode> {
    let mut code = 0;
    for path in files {
        let file = path.display();
        match read(path) {
            Err(problem) => {
                code = 2;
                writeln!(out, "{BROKEN}!{BROKEN:#} {file}: {problem}")?;
            }
            Ok(log) => match domain::verify(&log) {
                Ok(Proven { rolls, events }) => {
                    let found = format!("commitment, seeds, {rolls} rolls drawn again");
                    writeln!(
                        out,
                        "{GOOD}✓{GOOD:#} {file}: {found}, {events} events decided again"
                    )?;
                }
                Err(unproven) => {
                    code = code.max(1);
                    writeln!(out, "{BAD}✗{BAD:#} {file}: {unproven}")?;
                }
            },
        }
    }
    Ok(code.into())
}

fn read(path: &Path) -> Result<Vec<Event>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {number}: {error}"))
        })
        .collect()
}
