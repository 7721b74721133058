//! `croupier verify`: draws every roll of a finished game again.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{Event, fair};

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
            Ok(events) => match fair::verify(&events) {
                Ok(rolls) => {
                    writeln!(out, "{GOOD}✓{GOOD:#} {file}: commitment, seeds and {rolls} rolls")?;
                }
                Err(unfair) => {
                    code = code.max(1);
                    writeln!(out, "{BAD}✗{BAD:#} {file}: {unfair}")?;
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
