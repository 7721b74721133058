//! `croupier verify --wallets`: verifies every balance and every award.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use store::{Settings, Store};

use crate::{
    terminal::{BAD, BROKEN, GOOD, block_on},
    verify_log::Options,
    wallets::audit::{Audit, AuditError, audit},
};

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let url = match options.url() {
        Ok(url) => url,
        Err(problem) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {problem}")?;
            return Ok(ExitCode::from(2));
        }
    };
    let checked = block_on(async {
        let store = Store::open(&url, &Settings { connections: 2, ..Settings::default() })?;
        let checked = audit(&store).await;
        store.close().await;
        checked
    })?;
    match checked {
        Ok(Audit { wallets, lines, awards, pending, parked, reversed }) => {
            writeln!(
                out,
                "{GOOD}✓{GOOD:#} {wallets} wallets: each balance is the sum of its ledger, {lines} entries in total"
            )?;
            writeln!(out, "{GOOD}✓{GOOD:#} {awards} awards of games, each credited once")?;
            if reversed > 0 {
                writeln!(
                    out,
                    "{GOOD}✓{GOOD:#} awards of {reversed} players in voided games are taken back"
                )?;
            }
            if pending > 0 {
                writeln!(out, "{BROKEN}!{BROKEN:#} {pending} awards or reversals are pending")?;
            }
            if parked > 0 {
                writeln!(
                    out,
                    "{BROKEN}!{BROKEN:#} {parked} awards are parked; for the reasons run: croupier processors status"
                )?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(AuditError::Store(error)) => {
            writeln!(out, "{BROKEN}!{BROKEN:#} {error}")?;
            Ok(ExitCode::from(2))
        }
        Err(error) => {
            writeln!(out, "{BAD}✗{BAD:#} {error}")?;
            Ok(ExitCode::from(1))
        }
    }
}
