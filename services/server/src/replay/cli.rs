//! `croupier replay`: shows a game step by step, interactively in a terminal, or as text or JSON.

use std::{
    io::{self, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use console::{Key, Term};
use domain::{Difference, Moment, differences, draws_of, explain, narrate, snapshot};
use serde_json::{Value, json};
use store::Recorded;

use super::{
    Entry, EntryKind, Mark,
    board::{Size, draw},
    source::{Source, open},
};
use crate::{
    clock,
    play::evidence::{Kind, masked},
    terminal::{BAD, BROKEN, FAINT},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Id of a game, or a file: a proof bundle, events, or a record.
    #[arg(value_name = "GAME|FILE")]
    what: String,
    /// Print one JSON object per line, for scripts.
    #[arg(long)]
    json: bool,
    /// Print text, even in a terminal.
    #[arg(long, conflicts_with = "json")]
    text: bool,
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Data folder of a node with a private PostgreSQL.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    data: PathBuf,
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let source = match open(&options.what, options.database_url.as_deref(), &options.data) {
        Ok(source) => source,
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    let terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    if options.json {
        as_json(&source, out)?;
    } else if terminal && !options.text {
        interact(&source, out)?;
    } else {
        as_text(&source, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One line: who did what.
pub(super) fn headline(source: &Source, entry: &Entry) -> String {
    match &entry.kind {
        EntryKind::Action { events, words } => {
            let actor = source.replay.log.get(events.start).map(|recorded| recorded.actor);
            let who = actor.filter(|actor| !actor.is_nil()).map(|actor| source.name(actor));
            who.map_or_else(|| words.clone(), |who| format!("{who}: {words}"))
        }
        EntryKind::Noted(note) => {
            let who = source.name(note.actor);
            match note.kind {
                Kind::Refused | Kind::Seen => format!(
                    "{who}: {} was refused: {} ({})",
                    note.asked.as_deref().unwrap_or_default(),
                    note.message.as_deref().unwrap_or_default(),
                    note.code.as_deref().unwrap_or_default()
                ),
                Kind::Connected => format!("{who} starts following the game"),
                Kind::Disconnected => format!("{who} stops following the game"),
            }
        }
    }
}

/// The events of a step in words, each with the explanation of its score.
pub(super) fn story(source: &Source, entry: &Entry) -> Vec<(String, Vec<String>)> {
    let events = source.replay.events_of(entry);
    let state = source.replay.states([entry.before + events.len()]).pop().flatten();
    let Some(game) = state else { return Vec::new() };
    let table = source.named(&game.table);
    let rules = &table.ruleset.rules;
    let narrated = events.iter().filter_map(|Recorded { event, .. }| {
        Some((narrate(event, &table)?, explain(event, rules)))
    });
    narrated.collect()
}

fn as_text(source: &Source, out: &mut impl Write) -> io::Result<()> {
    for (number, entry) in (1..).zip(&source.replay.entries) {
        let at = if entry.at.0 == 0 { String::new() } else { clock::rfc3339(entry.at) };
        let style = if matches!(entry.kind, EntryKind::Noted(_)) { BAD } else { FAINT };
        writeln!(out, "{style}{number:>5}  {at}  {}{style:#}", headline(source, entry))?;
        for (line, _) in story(source, entry) {
            writeln!(out, "         {line}")?;
        }
    }
    Ok(())
}

fn as_json(source: &Source, out: &mut impl Write) -> io::Result<()> {
    let mut before = Value::Null;
    for (number, entry) in (1..).zip(&source.replay.entries) {
        let events = source.replay.events_of(entry);
        let version_after = entry.before + events.len();
        let game = source.replay.states([version_after]).pop().flatten();
        let after = game.as_ref().map(snapshot).unwrap_or_default();
        let changed = differences(&before, &after).into_iter().map(|difference| {
            let Difference { path, before, after } = difference;
            json!({ "path": path, "before": before, "after": after })
        });
        let narrated: Vec<Value> = events
            .iter()
            .map(|recorded| {
                let table = game.as_ref().map(|game| source.named(&game.table));
                let lines =
                    table.as_ref().map(|table| explain(&recorded.event, &table.ruleset.rules));
                let text = table.and_then(|table| narrate(&recorded.event, &table));
                json!({
                    "version": recorded.version, "event": recorded.event, "text": text,
                    "lines": lines.unwrap_or_default(),
                })
            })
            .collect();
        let (kind, actor, command, refusal) = match &entry.kind {
            EntryKind::Action { events, .. } => {
                let first = source.replay.log.get(events.start);
                ("action", first.map(|first| first.actor), first.map(|first| first.command), None)
            }
            EntryKind::Noted(note) => {
                let refusal =
                    json!({ "asked": note.asked, "code": note.code, "message": note.message });
                let refused = note.kind == Kind::Refused;
                let kind = match note.kind {
                    Kind::Refused | Kind::Seen => "refused",
                    Kind::Connected => "connected",
                    Kind::Disconnected => "disconnected",
                };
                (kind, Some(note.actor), note.command, refused.then_some(refusal))
            }
        };
        let words =
            if let EntryKind::Action { words, .. } = &entry.kind { words.as_str() } else { "" };
        let draws: Vec<Value> = events
            .iter()
            .flat_map(|recorded| draws_of(&recorded.event))
            .map(|(draw, raw)| json!({ "draw": draw, "raw": raw }))
            .collect();
        let earlier = source.replay.states([entry.before]).pop().flatten();
        let deadline = earlier.filter(|game| game.to_move().is_some());
        let deadline = deadline.and_then(|game| game.table.turn.deadline);
        let time_left = deadline.map(|Moment(until)| i128::from(until) - i128::from(entry.at.0));
        let from = entry.origin.as_ref().map(|origin| {
            json!({ "session": origin.session, "address": masked(&origin.address), "client": origin.client })
        });
        let line = json!({
            "number": number, "kind": kind, "at": clock::rfc3339(entry.at), "versionBefore": entry.before, "versionAfter": version_after,
            "actor": actor, "commandId": command, "command": words, "events": narrated, "refusal": refusal, "draws": draws,
            "clockLeft": time_left.and_then(|time_left| i64::try_from(time_left).ok()), "source": from,
            "differences": changed.collect::<Vec<_>>(), "state": after,
        });
        writeln!(out, "{line}")?;
        before = after;
    }
    Ok(())
}

/// Shows the game step by step until the user quits.
fn interact(source: &Source, out: &mut impl Write) -> io::Result<()> {
    let term = Term::stdout();
    let last = source.replay.entries.len().saturating_sub(1);
    let mut index = 0;
    term.hide_cursor()?;
    loop {
        let (height, width) = term.size();
        let size = Size { width: usize::from(width), height: usize::from(height) };
        term.clear_screen()?;
        for line in draw(source, index, size) {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        let jump = |mark| source.replay.next(Some(index), mark).unwrap_or(index);
        index = match term.read_key() {
            Ok(Key::ArrowRight | Key::ArrowDown | Key::Char(' ' | 'l' | 'j')) => {
                (index + 1).min(last)
            }
            Ok(Key::ArrowLeft | Key::ArrowUp | Key::Char('h' | 'k')) => index.saturating_sub(1),
            Ok(Key::PageDown) => (index + 10).min(last),
            Ok(Key::PageUp) => index.saturating_sub(10),
            Ok(Key::Home | Key::Char('g')) => 0,
            Ok(Key::End | Key::Char('G')) => last,
            Ok(Key::Char('f')) => jump(Mark::Farkle),
            Ok(Key::Char('b')) => jump(Mark::Bank),
            Ok(Key::Char('e')) => jump(Mark::Effect),
            Ok(Key::Char('t')) => jump(Mark::TimeOut),
            Ok(Key::Char('r')) => jump(Mark::Refused),
            Ok(Key::Char('q') | Key::Escape | Key::CtrlC) | Err(_) => break,
            Ok(_) => index,
        };
    }
    term.show_cursor()
}
