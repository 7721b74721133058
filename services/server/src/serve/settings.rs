//! Every setting of a node: an option of the command line, or a variable of the environment.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use axum::http::HeaderValue;

use crate::{documents::Limits, http::RateLimits};

/// Every setting of a node.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    /// Where to listen.
    #[arg(
        long,
        env = "CROUPIER_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS:PORT"
    )]
    pub(crate) listen: SocketAddr,
    /// The database: `postgres://user@host/name`. Without it, a private PostgreSQL is started.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Where a private PostgreSQL and the keys are kept.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    /// The keys that sign tokens and seal dice; nodes of one database share them. DATA/keys if you do not say.
    #[arg(long, env = "CROUPIER_KEYS", value_name = "FOLDER")]
    pub(crate) keys: Option<PathBuf>,
    /// Where npm has put GraphiQL.
    #[arg(
        long,
        env = "CROUPIER_GRAPHIQL",
        default_value = "deploy/graphiql/node_modules",
        value_name = "FOLDER"
    )]
    pub(crate) graphiql: PathBuf,

    /// The most connections to the database.
    #[arg(long, env = "CROUPIER_CONNECTIONS", default_value_t = 16, value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) connections: u32,
    /// How many batches of commands can be on their way to the database at once. One makes the largest batches.
    #[arg(long, env = "CROUPIER_LANES", default_value_t = 1, value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) lanes: u16,
    /// How many games are kept in memory, at most.
    #[arg(long, env = "CROUPIER_GAMES", default_value_t = 20_000, value_name = "COUNT")]
    pub(crate) games: usize,

    /// What a new wallet has in it, in dollars.
    #[arg(long, env = "CROUPIER_FIRST_MONEY", default_value_t = 10, value_name = "DOLLARS",
        value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) first_money: u32,

    /// How long an access token is good, in minutes.
    #[arg(long, env = "CROUPIER_ACCESS_MINUTES", default_value_t = 15, value_name = "MINUTES",
        value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(crate) access_minutes: u32,
    /// How long a session that nobody uses can be renewed, in days.
    #[arg(long, env = "CROUPIER_REFRESH_DAYS", default_value_t = 30, value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) refresh_days: u32,

    /// What staff may give, take or take back by one person's decision, in dollars; above it a second one must agree.
    #[arg(long, env = "CROUPIER_REMEDY_LIMIT", default_value_t = 100, value_name = "DOLLARS")]
    pub(crate) remedy_limit: u32,
    /// How long refused commands and addresses are kept for disputes, in days.
    #[arg(long, env = "CROUPIER_EVIDENCE_DAYS", default_value_t = 90, value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) evidence_days: u32,

    #[command(flatten)]
    pub(crate) documents: Limits,
    #[command(flatten)]
    pub(crate) rates: RateLimits,
    /// The largest request and the largest message on a socket, in KiB.
    #[arg(long, env = "CROUPIER_MAX_BODY", default_value_t = 64, value_name = "KIB",
        value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) max_body: u32,
    /// How long a request may take, in seconds.
    #[arg(long, env = "CROUPIER_REQUEST_SECONDS", default_value_t = 10, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) request_seconds: u32,
    /// How long the head of a request may take, and how long a connection may be idle, in seconds.
    #[arg(long, env = "CROUPIER_HEAD_SECONDS", default_value_t = 30, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) head_seconds: u32,
    /// How long a client may not read before it is cut off, in seconds.
    #[arg(long, env = "CROUPIER_SLOW_CLIENT_SECONDS", default_value_t = 10, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) slow_client_seconds: u32,
    /// The most connections of clients.
    #[arg(long, env = "CROUPIER_MAX_CLIENTS", default_value_t = 20_000, value_name = "COUNT")]
    pub(crate) max_clients: usize,
    /// The most operations at once on one socket.
    #[arg(long, env = "CROUPIER_MAX_OPERATIONS", default_value_t = 50, value_name = "COUNT")]
    pub(crate) max_operations: usize,
    /// Which pages of browsers may ask; * is all.
    #[arg(
        long,
        env = "CROUPIER_CORS_ORIGIN",
        default_value = "*",
        value_delimiter = ',',
        value_name = "ORIGIN"
    )]
    pub(crate) cors_origin: Vec<HeaderValue>,
    /// How many proxies stand in front of us: each has added an address to x-forwarded-for.
    #[arg(long, env = "CROUPIER_TRUSTED_PROXIES", default_value_t = 0, value_name = "COUNT")]
    pub(crate) trusted_proxies: u32,

    #[command(flatten)]
    pub(crate) observe: crate::observe::Options,
}

impl Settings {
    pub(crate) fn keys(&self) -> PathBuf {
        keys_folder(self.keys.as_deref(), &self.data)
    }

    pub(crate) fn request_time(&self) -> Duration {
        Duration::from_secs(self.request_seconds.into())
    }

    pub(crate) fn head_time(&self) -> Duration {
        Duration::from_secs(self.head_seconds.into())
    }

    pub(crate) fn slow_client(&self) -> Duration {
        Duration::from_secs(self.slow_client_seconds.into())
    }

    pub(crate) fn most_body(&self) -> usize {
        usize::try_from(self.max_body).unwrap_or(64) * 1024
    }
}

/// Where keys are, if nobody said.
pub(crate) fn keys_folder(keys: Option<&Path>, data: &Path) -> PathBuf {
    keys.map_or_else(|| data.join("keys"), Path::to_owned)
}
