//! PostgreSQL's own benchmark: one prepared insert of three rows per transaction, into a plain
//! table.

use std::{error::Error, path::Path, process::Command, time::Duration};

use crate::{figures::Figures, growth::psql};

const SET_UP: &str = "
DROP TABLE IF EXISTS plain_event;
CREATE TABLE plain_event (
    stream uuid NOT NULL, version bigint NOT NULL, recorded_at timestamptz NOT NULL,
    type text NOT NULL, payload json NOT NULL, PRIMARY KEY (stream, version))";

/// Three events of the size that a bank appends.
const SCRIPT: &str = r#"
WITH s AS (SELECT gen_random_uuid() AS id)
INSERT INTO plain_event (stream, version, recorded_at, type, payload) VALUES
((SELECT id FROM s), 1, now(), 'Banked', '{"seat":0,"round":12,"round_score":0,"turn_score":1000,"points":1000,"game_score":4350}'),
((SELECT id FROM s), 2, now(), 'TurnEnded', '{"seat":0,"round":12,"how":"banked","points":1000,"forfeited":0}'),
((SELECT id FROM s), 3, now(), 'TurnStarted', '{"seat":1,"round":12,"deadline":1800000240000}');
"#;

/// Runs pgbench with a number of clients.
pub(crate) fn run(url: &str, clients: usize, time: Duration) -> Result<Figures, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("script.sql"), SCRIPT)?;
    psql(url, SET_UP)?;
    let output = Command::new("pgbench")
        .args(["-n", "-M", "prepared", "-f", "script.sql", "-l", "-j", "2"])
        .args(["-c", &clients.to_string(), "-T", &time.as_secs().to_string(), "-d", url])
        .current_dir(folder.path())
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(Figures::new(latencies(folder.path())?, time))
}

/// The third column of its logs is the latency of a transaction in microseconds.
fn latencies(folder: &Path) -> Result<Vec<u32>, Box<dyn Error>> {
    let mut micros = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("pgbench_log")) {
            let log = std::fs::read_to_string(path)?;
            let column = |line: &str| -> Option<u32> { line.split(' ').nth(2)?.parse().ok() };
            micros.extend(log.lines().filter_map(column));
        }
    }
    Ok(micros)
}
