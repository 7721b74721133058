//! `croupier what-if`: replays a game with changes and prints it next to the original.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use domain::{Event, ForkedStep, SeatNo, in_words, narrate};
use serde_json::{Map, Value};

use crate::{
    replay::source::{Source, open},
    terminal::{BAD, BROKEN, FAINT, GOOD},
    what_if::{self, Changes},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Id of a game, or a file: a proof bundle, events, or a record.
    #[arg(value_name = "GAME|FILE")]
    what: String,
    /// Other moves, in the syntax of records: `0: roll; save [0,1] | 1: roll [6,6,6,2,3,4]; bank`.
    /// Defaults to the original moves, as far as they are still legal.
    #[arg(value_name = "MOVES")]
    moves: Option<String>,
    /// How many events of the original are kept. Defaults to all.
    #[arg(long, value_name = "VERSION")]
    at: Option<usize>,
    /// Another preset of the same game.
    #[arg(long)]
    preset: Option<String>,
    /// Parameters to change, as JSON: '{"target":5000}'.
    #[arg(long, value_name = "JSON", value_parser = object)]
    rules: Option<Map<String, Value>>,
    /// Other dice for a seat: 0=PHOENIX,LUCKY. Can be given several times.
    #[arg(long, value_name = "SEAT=CODES", value_parser = loadout)]
    dice: Vec<(SeatNo, Vec<String>)>,
    /// Seed for other dice. Defaults to the dice of the original, if it has ended.
    #[arg(long, value_name = "TEXT")]
    seed: Option<String>,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Data folder of a node with a private PostgreSQL.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    data: PathBuf,
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_str(text).map_err(|error| format!("it must be a JSON object: {error}"))
}

fn loadout(text: &str) -> Result<(SeatNo, Vec<String>), String> {
    let parts = text.split_once('=').and_then(|(seat, codes)| Some((seat.parse().ok()?, codes)));
    parts
        .map(|(seat, codes): (SeatNo, &str)| (seat, codes.split(',').map(str::to_owned).collect()))
        .ok_or_else(|| "expected SEAT=CODES, such as 0=PHOENIX,LUCKY".to_owned())
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let changes = Changes {
        version: options.at,
        preset: options.preset.clone(),
        rules: options.rules.clone().unwrap_or_default(),
        loadouts: options.dice.iter().cloned().collect::<BTreeMap<_, _>>(),
        moves: options.moves.clone(),
        seed: options.seed.clone(),
    };
    let source = open(&options.what, options.database_url.as_deref(), &options.data);
    let found = source.and_then(|source| {
        let fork =
            what_if::run(&source.replay.events(), &changes).map_err(|why| why.to_string())?;
        Ok((source, fork))
    });
    let (source, fork) = match found {
        Ok(found) => found,
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    writeln!(out, "{FAINT}{:<60}   what if{FAINT:#}", "the original")?;
    let mut refused = 0;
    for step in &fork.steps {
        refused += usize::from(step.refused.is_some());
        print_step(&source, step, out)?;
    }
    let scores =
        |scores: Vec<i64>| scores.iter().map(ToString::to_string).collect::<Vec<_>>().join(" : ");
    let original = source.replay.states([source.replay.log.len()]).pop().flatten();
    let original = original.map_or_else(String::new, |game| scores(game.board.scores()));
    writeln!(out, "{GOOD}✓{GOOD:#} {original:<58}   {}", scores(fork.game.board.scores()))?;
    if refused > 0 {
        writeln!(
            out,
            "{BAD}✗{BAD:#} {refused} commands of the original are not legal here and were skipped"
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints a command of both games, one line per event.
fn print_step(source: &Source, step: &ForkedStep, out: &mut impl Write) -> io::Result<()> {
    let table = source.named(&step.game.table);
    let log = &source.replay.log;
    let original = step.original.clone().and_then(|range| log.get(range)).unwrap_or_default();
    let words = |event: &Event| narrate(event, &table);
    let before: Vec<String> =
        original.iter().filter_map(|recorded| words(&recorded.event)).collect();
    let after: Vec<String> = match &step.refused {
        Some(why) => vec![format!("✗ {}: {why}", in_words(&step.command, &[]))],
        None => step.events.iter().filter_map(words).collect(),
    };
    for row in 0..before.len().max(after.len()) {
        let at = |lines: &[String]| lines.get(row).cloned().unwrap_or_default();
        let (before, after) = (at(&before), at(&after));
        if before == after {
            writeln!(out, "{FAINT}{}{FAINT:#}", truncate(&before))?;
        } else {
            let style = if step.refused.is_some() { BAD } else { GOOD };
            writeln!(out, "{:<60} {style}│{style:#} {after}", truncate(&before))?;
        }
    }
    Ok(())
}

/// Truncates to the width of a column.
fn truncate(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.to_owned();
    }
    text.chars().take(59).chain(['…']).collect()
}
