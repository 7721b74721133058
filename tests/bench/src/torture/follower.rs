//! A process that follows the log, writes every event to a file, and is killed.

use std::{error::Error, fs::OpenOptions, io::Write, path::Path};

use store::{Positions, Settings, Shard, Store};

use super::Part;

/// One line per event: shard, position, stream, version. The last line is also the checkpoint.
pub(crate) async fn follow(part: &Part) -> Result<(), Box<dyn Error>> {
    let path = part.folder.join("follower.txt");
    let (after, mut count) = checkpoint(&path)?;
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let store = Store::open(&part.url, &Settings { connections: 4, ..Settings::default() })?;
    let mut tail = store.tail(after);
    loop {
        let next = tokio::time::timeout(std::time::Duration::from_millis(200), tail.next()).await;
        if let Ok(event) = next {
            let event = event?;
            let line =
                format!("{} {} {} {}\n", event.shard, event.position, event.stream, event.version);
            file.write_all(line.as_bytes())?;
            count += 1;
        }
        let end = std::fs::read_to_string(part.folder.join("end")).unwrap_or_default();
        if end.parse().is_ok_and(|end: u64| count >= end) {
            return Ok(());
        }
    }
}

fn checkpoint(path: &Path) -> Result<(Positions, u64), Box<dyn Error>> {
    let (mut positions, mut count) = (Positions::default(), 0);
    for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
        let mut words = line.split(' ');
        let (Some(shard), Some(position)) = (words.next(), words.next()) else { continue };
        let shard = Shard::numbered(shard.parse()?).ok_or("no such shard")?;
        positions.set(shard, position.parse()?);
        count += 1;
    }
    Ok((positions, count))
}
