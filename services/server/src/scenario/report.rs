//! Prints the results of scenarios.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use super::{
    Broken,
    expect::Difference,
    file::Scenario,
    play::{Played, Verdict},
};
use crate::terminal::{BAD, BROKEN, FAINT, GOOD};

/// Prints and counts results.
#[derive(Debug)]
pub(super) struct Report<'a, W> {
    out: &'a mut W,
    steps: bool,
    passed: usize,
    failed: usize,
    broken: usize,
}

impl<'a, W: Write> Report<'a, W> {
    pub(super) fn new(out: &'a mut W, steps: bool) -> Self {
        Self { out, steps, passed: 0, failed: 0, broken: 0 }
    }

    pub(super) fn file(&mut self, path: &Path) -> io::Result<()> {
        writeln!(self.out, "{FAINT}{}{FAINT:#}", path.display())
    }

    pub(super) fn unreadable(&mut self, path: &Path, problem: &str) -> io::Result<()> {
        self.broken += 1;
        writeln!(self.out, "{BROKEN}! {}{BROKEN:#}: {problem}", path.display())
    }

    pub(super) fn broken(&mut self, broken: &Broken) -> io::Result<()> {
        self.broken += 1;
        let Broken { line, problem } = broken;
        writeln!(self.out, "  {BROKEN}! line {line}{BROKEN:#}: {problem}")
    }

    pub(super) fn played(&mut self, scenario: &Scenario, played: Played) -> io::Result<()> {
        let name = &scenario.name;
        match &played.verdict {
            Verdict::Passed => {
                self.passed += 1;
                writeln!(self.out, "  {GOOD}✓{GOOD:#} {name}")?;
                if self.steps { self.story(&played) } else { Ok(()) }
            }
            Verdict::Differs { line, differences } => {
                self.failed += 1;
                writeln!(self.out, "  {BAD}✗ {name}{BAD:#}")?;
                self.story(&played)?;
                writeln!(self.out, "      line {line}: not as expected")?;
                differences.iter().try_for_each(|difference| self.difference(difference))
            }
            Verdict::Failed { line, problem } => {
                self.failed += 1;
                writeln!(self.out, "  {BAD}✗ {name}{BAD:#}")?;
                self.story(&played)?;
                writeln!(self.out, "      line {line}: {problem}")
            }
            Verdict::Broken(broken) => {
                writeln!(self.out, "  {BROKEN}! {name}{BROKEN:#}")?;
                self.broken(broken)
            }
        }
    }

    /// Prints the events that led to a result.
    fn story(&mut self, played: &Played) -> io::Result<()> {
        for (line, text) in &played.story {
            writeln!(self.out, "      {FAINT}{line:>4}{FAINT:#}  {text}")?;
        }
        Ok(())
    }

    fn difference(&mut self, difference: &Difference) -> io::Result<()> {
        let Difference { subject, expected, found } = difference;
        writeln!(self.out, "        {subject}")?;
        writeln!(self.out, "          {GOOD}- expected {expected}{GOOD:#}")?;
        writeln!(self.out, "          {BAD}+ found    {found}{BAD:#}")
    }

    /// Prints the counts; returns the exit code.
    pub(super) fn finish(self) -> io::Result<ExitCode> {
        let Self { passed, failed, broken, .. } = self;
        let and_broken = if broken > 0 { format!(", {broken} broken") } else { String::new() };
        writeln!(self.out, "{passed} passed, {failed} failed{and_broken}")?;
        Ok(match (failed, broken) {
            (0, 0) => ExitCode::SUCCESS,
            (_, 0) => ExitCode::from(1),
            (_, _) => ExitCode::from(2),
        })
    }
}
