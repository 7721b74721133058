//! What a worker writes down: each line is complete once it is written, whatever is killed then.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use domain::{Command, Event};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// A line of the journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Note {
    /// About to ask.
    Asked { stream: Uuid, id: Uuid, command: Command },
    /// The answer: where its events stand, and what they are.
    Answered { id: Uuid, first_version: i64, count: usize, digest: String },
    /// The rules refused.
    Refused { id: Uuid },
    /// An answered command was asked again.
    Repeated { id: Uuid, first_version: i64, digest: String },
}

pub(super) struct Journal {
    file: File,
}

impl Journal {
    pub(super) fn path(folder: &Path, number: u32) -> PathBuf {
        folder.join(format!("worker-{number}.ndjson"))
    }

    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: OpenOptions::new().create(true).append(true).open(path)? })
    }

    /// One write of a whole line: it is there or it is not.
    pub(super) fn note(&mut self, note: &Note) -> io::Result<()> {
        let mut line = serde_json::to_vec(note)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

/// All notes so far.
pub(super) fn read(path: &Path) -> io::Result<Vec<Note>> {
    match std::fs::read_to_string(path) {
        Ok(text) => text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// A command, where and under which id it was asked.
pub(super) type Asked = (Uuid, Uuid, Command);

/// The commands that were asked in earlier lives and have no answer in the journal.
pub(super) fn unanswered(notes: &[Note]) -> Vec<Asked> {
    let done: BTreeSet<Uuid> = notes
        .iter()
        .filter_map(|note| match note {
            Note::Answered { id, .. } | Note::Refused { id } => Some(*id),
            Note::Asked { .. } | Note::Repeated { .. } => None,
        })
        .collect();
    asked(notes).into_iter().filter(|(_, id, _)| !done.contains(id)).collect()
}

/// The commands that were answered in earlier lives.
pub(super) fn answered(notes: &[Note]) -> Vec<Asked> {
    let answered: BTreeSet<Uuid> = notes
        .iter()
        .filter_map(|note| if let Note::Answered { id, .. } = note { Some(*id) } else { None })
        .collect();
    asked(notes).into_iter().filter(|(_, id, _)| answered.contains(id)).collect()
}

fn asked(notes: &[Note]) -> Vec<Asked> {
    let asked = notes.iter().filter_map(|note| match note {
        Note::Asked { stream, id, command } => Some((*stream, *id, command.clone())),
        Note::Answered { .. } | Note::Refused { .. } | Note::Repeated { .. } => None,
    });
    asked.collect()
}

/// The same events have the same digest.
pub(super) fn digest(events: &[Event]) -> io::Result<String> {
    let hash = Sha256::digest(serde_json::to_vec(events)?);
    Ok(hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
}
