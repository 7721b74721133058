//! `croupier verify`: plays a finished game again from its events.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use domain::{Event, Proven};
use store::Hash;

use crate::{
    export::Line,
    terminal::{BAD, BROKEN, GOOD},
};

pub(crate) fn run(files: &[PathBuf], out: &mut impl Write) -> io::Result<ExitCode> {
    let mut code = 0;
    for path in files {
        let file = path.display();
        match read(path) {
            Err(Problem::Unreadable(problem)) => {
                code = 2;
                writeln!(out, "{BROKEN}!{BROKEN:#} {file}: {problem}")?;
            }
            Err(Problem::Broken(problem)) => {
                code = code.max(1);
                writeln!(out, "{BAD}✗{BAD:#} {file}: {problem}")?;
            }
            Ok(Log { events, chained }) => match domain::verify(&events) {
                Ok(Proven { rolls, events }) => {
                    let chain = if chained { "chain, " } else { "" };
                    let found = format!("{chain}commitment, seeds, {rolls} rolls drawn again");
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

/// The events of a file, and whether their chain was checked.
struct Log {
    events: Vec<Event>,
    chained: bool,
}

enum Problem {
    /// The file cannot be judged.
    Unreadable(String),
    /// The file shows that something was changed.
    Broken(String),
}

/// A file has events alone, or as `croupier export` writes them, with their hashes.
fn read(path: &Path) -> Result<Log, Problem> {
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| Problem::Unreadable(error.to_string()))?;
    let lines = (1..).zip(text.lines().filter(|line| !line.trim().is_empty()));
    let (mut log, mut previous) = (Log { events: Vec::new(), chained: false }, Hash::ZERO);
    for (number, line) in lines {
        let unreadable = |why: String| Problem::Unreadable(format!("line {number}: {why}"));
        let broken = |why: &str| Problem::Broken(format!("line {number}: {why}"));
        let Ok(exported) = serde_json::from_str::<Line>(line) else {
            let event =
                serde_json::from_str(line).map_err(|error| unreadable(error.to_string()))?;
            if log.chained {
                return Err(broken("this event has no hash"));
            }
            log.events.push(event);
            continue;
        };
        if !log.chained && !log.events.is_empty() {
            return Err(broken("the events before have no hashes"));
        }
        log.chained = true;
        let envelope =
            exported.envelope().ok_or_else(|| unreadable("this is no hash".to_owned()))?;
        if envelope.version != number || envelope.hash != envelope.expected_hash(&previous) {
            return Err(broken("the chain is broken: this event, or one before it, was changed"));
        }
        previous = envelope.hash;
        let recorded = envelope.decode().map_err(|error| unreadable(error.to_string()))?;
        log.events.push(recorded.event);
    }
    Ok(log)
}
