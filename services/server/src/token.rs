//! `croupier token`: tokens for staff, and the keys that sign them.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use store::{Settings, Store};
use uuid::Uuid;

use crate::{
    accounts::{Accounts, LONGEST_LIFE, Lifetimes, Role},
    keys::{self, KeyRing, Purpose},
    serve::keys_folder,
    terminal::{BROKEN, FAINT, GOOD, block_on, database_url},
};

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    task: Task,
    #[arg(long, global = true, env = "DATABASE_URL", hide_env_values = true, help = crate::DATABASE_HELP)]
    database_url: Option<String>,
    /// Where the node keeps its private PostgreSQL and its keys.
    #[arg(
        long,
        global = true,
        env = "CROUPIER_DATA",
        default_value = "croupier-data",
        value_name = "FOLDER"
    )]
    data: PathBuf,
    /// The keys of the nodes; DATA/keys if you do not say.
    #[arg(long, global = true, env = "CROUPIER_KEYS", value_name = "FOLDER")]
    keys: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Makes a token for somebody who works here, and prints it.
    Issue {
        /// What they may do.
        #[arg(long)]
        role: Role,
        /// Who it is for: the name in the records.
        #[arg(long)]
        name: String,
        /// How long it is good, in hours.
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=168))]
        hours: u64,
    },
    /// Takes a token back: its session is ended on every node within a second.
    Revoke {
        /// The session, as issuing printed it.
        session: Uuid,
    },
    /// Adds a new signing key. New tokens are signed with it; older ones stay good until they expire.
    RotateKey {
        /// The key that seals dice, instead of the one that signs tokens. Older games still need the older keys.
        #[arg(long)]
        dice: bool,
    },
}

pub(crate) fn run(options: &Options, out: &mut impl Write) -> io::Result<ExitCode> {
    let folder = keys_folder(options.keys.as_deref(), &options.data);
    match block_on(work(options, &folder, out))? {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            Ok(ExitCode::from(2))
        }
    }
}

async fn work(options: &Options, folder: &Path, out: &mut impl Write) -> Result<(), String> {
    let said = |error: io::Error| error.to_string();
    match &options.task {
        Task::RotateKey { dice } => {
            let purpose = if *dice { Purpose::Dice } else { Purpose::Token };
            let id = keys::add(folder, purpose).map_err(said)?;
            writeln!(out, "{GOOD}✓{GOOD:#} key {id} is used within a minute").map_err(said)
        }
        Task::Issue { role: Role::Player, .. } => {
            Err("players sign in by themselves; a token is for analyst, support or admin"
                .to_owned())
        }
        Task::Issue { role, name, hours } => {
            let accounts = accounts(options, folder)?;
            let staff = accounts.staff(name, *role).await.map_err(|error| error.to_string())?;
            let life = Duration::from_hours(*hours);
            let issued = accounts.begin_staff(&staff, life).await;
            let (session, token) = issued.map_err(|error| error.to_string())?;
            writeln!(out, "{token}").map_err(said)?;
            writeln!(
                anstream::stderr(),
                "{FAINT}{} {}, for {hours} h; take it back: croupier token revoke {session}{FAINT:#}",
                role.name(),
                staff.name
            )
            .map_err(said)
        }
        Task::Revoke { session } => {
            let accounts = accounts(options, folder)?;
            if !accounts.end(*session).await.map_err(|error| error.to_string())? {
                return Err(format!("there is no session {session}, or it was ended before"));
            }
            writeln!(out, "{GOOD}✓{GOOD:#} session {session} is ended").map_err(said)
        }
    }
}

fn accounts(options: &Options, folder: &Path) -> Result<Accounts, String> {
    let url = database_url(options.database_url.as_deref(), &options.data)?;
    let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
    let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
    let keys = KeyRing::open(folder, Purpose::Token)
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let lifetimes = Lifetimes { access: LONGEST_LIFE, refresh: LONGEST_LIFE };
    Ok(Accounts::new(store.pool().clone(), keys, lifetimes))
}
