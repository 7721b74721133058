//! `croupier token`: tokens of staff, and the keys that sign them.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use store::{Settings, Store};
use uuid::Uuid;

use crate::{
    accounts::{Accounts, Lifetimes, MAX_STAFF_LIFETIME, Role},
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
    /// Data folder of the node, with its private PostgreSQL and its keys.
    #[arg(
        long,
        global = true,
        env = "CROUPIER_DATA",
        default_value = "croupier-data",
        value_name = "FOLDER"
    )]
    data: PathBuf,
    /// Folder of the keys of the nodes. Defaults to DATA/keys.
    #[arg(long, global = true, env = "CROUPIER_KEYS", value_name = "FOLDER")]
    keys: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Task {
    /// Issue a token for a staff member and print it.
    Issue {
        /// Role of the staff member.
        #[arg(long)]
        role: Role,
        /// Name of the staff member.
        #[arg(long)]
        name: String,
        /// Lifetime of the token, in hours.
        #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=168))]
        hours: u64,
    },
    /// Revoke a token; every node rejects it within a second.
    Revoke {
        /// Id of the session, as printed by `issue`.
        session: Uuid,
    },
    /// Add a new signing key for new tokens; older tokens stay valid until they expire.
    RotateKey {
        /// Add a key that seals dice instead; older games still need the older keys.
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
    let to_text = |error: io::Error| error.to_string();
    match &options.task {
        Task::RotateKey { dice } => {
            let purpose = if *dice { Purpose::Dice } else { Purpose::Token };
            let id = keys::add(folder, purpose).map_err(to_text)?;
            writeln!(out, "{GOOD}✓{GOOD:#} key {id} will be used within a minute").map_err(to_text)
        }
        Task::Issue { role: Role::Player, .. } => {
            Err("players sign in themselves; tokens are for analyst, support and admin".to_owned())
        }
        Task::Issue { role, name, hours } => {
            let accounts = accounts(options, folder)?;
            let staff = accounts.staff(name, *role).await.map_err(|error| error.to_string())?;
            let lifetime = Duration::from_hours(*hours);
            let issued = accounts.begin_staff(&staff, lifetime).await;
            let (session, token) = issued.map_err(|error| error.to_string())?;
            writeln!(out, "{token}").map_err(to_text)?;
            writeln!(
                anstream::stderr(),
                "{FAINT}{} {}, for {hours} h; to revoke it: croupier token revoke {session}{FAINT:#}",
                role.name(),
                staff.name
            )
            .map_err(to_text)
        }
        Task::Revoke { session } => {
            let accounts = accounts(options, folder)?;
            if !accounts.revoke(*session).await.map_err(|error| error.to_string())? {
                return Err(format!("there is no session {session}, or it was already revoked"));
            }
            writeln!(out, "{GOOD}✓{GOOD:#} session {session} is revoked").map_err(to_text)
        }
    }
}

fn accounts(options: &Options, folder: &Path) -> Result<Accounts, String> {
    let url = database_url(options.database_url.as_deref(), &options.data)?;
    let settings = Settings { connections: 2, lanes: 1, ..Settings::default() };
    let store = Store::open(&url, &settings).map_err(|error| error.to_string())?;
    let keys = KeyRing::open(folder, Purpose::Token)
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let lifetimes = Lifetimes { access: MAX_STAFF_LIFETIME, refresh: MAX_STAFF_LIFETIME };
    Ok(Accounts::new(store.pool().clone(), keys, lifetimes, 0))
}
