//! Scenarios: whole games as text, run against the rules without a database.
//!
//! A file has a set-up, actions with scripted dice, and expectations. Designers write them, tests
//! run them, support attaches them to disputes. `docs/scenarios.md` describes the format.

mod expect;
mod file;
mod play;
mod report;
mod verb;
mod yaml;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use report::Report;

/// An error in a scenario file, and its line.
#[derive(Debug)]
pub(crate) struct Broken {
    line: usize,
    problem: String,
}

impl Broken {
    fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { line, problem: problem.into() }
    }
}

/// Runs all scenarios of files and folders; the exit code is 0, 1 (failed) or 2 (invalid).
pub(crate) fn run(paths: &[PathBuf], steps: bool, out: &mut impl Write) -> io::Result<ExitCode> {
    let mut report = Report::new(out, steps);
    for path in paths {
        match files(path) {
            Ok(files) if files.is_empty() => {
                report.unreadable(path, "there is no .yaml file in this folder")?;
            }
            Ok(files) => files.iter().try_for_each(|file| run_file(file, &mut report))?,
            Err(error) => report.unreadable(path, &error.to_string())?,
        }
    }
    report.finish()
}

fn run_file(path: &Path, report: &mut Report<'_, impl Write>) -> io::Result<()> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return report.unreadable(path, &error.to_string()),
    };
    report.file(path)?;
    match file::scenarios(&text) {
        Err(broken) => report.broken(&broken),
        Ok(scenarios) => scenarios.iter().try_for_each(|scenario| match scenario {
            Ok(scenario) => report.played(scenario, play::play(scenario)),
            Err(broken) => report.broken(broken),
        }),
    }
}

/// A file itself, or all scenario files below a folder, sorted.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        let is_yaml = entry.extension().is_some_and(|end| end == "yaml" || end == "yml");
        // Symbolic links to folders may form a cycle.
        if (entry.is_dir() && !entry.is_symlink()) || is_yaml {
            found.extend(files(&entry)?);
        }
    }
    Ok(found)
}
