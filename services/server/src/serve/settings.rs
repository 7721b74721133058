//! The settings of a node: command line options, each also an environment variable.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use axum::http::HeaderValue;

use crate::{documents::Limits, http::RateLimits};

/// Settings of a node.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Settings {
    /// Address and port to listen on.
    #[arg(
        long,
        env = "CROUPIER_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS:PORT"
    )]
    pub(crate) listen: SocketAddr,
    /// Address and port for health checks and metrics, which are then not on the public address.
    #[arg(long, env = "CROUPIER_ADMIN_LISTEN", value_name = "ADDRESS:PORT")]
    pub(crate) admin_listen: Option<SocketAddr>,
    /// Database to use: `postgres://user@host/name`. Without it, a private PostgreSQL is started.
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    pub(crate) database_url: Option<String>,
    /// Folder of the private PostgreSQL and of the keys.
    #[arg(long, env = "CROUPIER_DATA", default_value = "croupier-data", value_name = "FOLDER")]
    pub(crate) data: PathBuf,
    /// Folder of the keys that sign tokens and seal dice; all nodes of a database need the same
    /// keys. Defaults to DATA/keys.
    #[arg(long, env = "CROUPIER_KEYS", value_name = "FOLDER")]
    pub(crate) keys: Option<PathBuf>,
    /// Start although keys in use are missing: unfinished games cannot continue, and guests lose
    /// their accounts.
    #[arg(long, env = "CROUPIER_ACCEPT_LOST_KEYS")]
    pub(crate) accept_lost_keys: bool,
    /// Folder where npm has installed GraphiQL.
    #[arg(
        long,
        env = "CROUPIER_GRAPHIQL",
        default_value = "deploy/graphiql/node_modules",
        value_name = "FOLDER"
    )]
    pub(crate) graphiql: PathBuf,

    /// Size of the database connection pool.
    #[arg(long, env = "CROUPIER_CONNECTIONS", default_value_t = 16, value_name = "COUNT",
        value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub(crate) connections: u32,
    /// How many batches of commands are written to the database concurrently; 1 gives the largest
    /// batches.
    #[arg(long, env = "CROUPIER_LANES", default_value_t = 1, value_name = "COUNT",
        value_parser = clap::value_parser!(u16).range(1..=64))]
    pub(crate) lanes: u16,
    /// How many games are cached in memory.
    #[arg(long, env = "CROUPIER_GAMES", default_value_t = 20_000, value_name = "COUNT")]
    pub(crate) games: usize,

    /// Initial balance of a new wallet, in dollars.
    #[arg(long, env = "CROUPIER_FIRST_MONEY", default_value_t = 10, value_name = "DOLLARS",
        value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    pub(crate) first_money: u32,

    /// Lifetime of an access token, in minutes.
    #[arg(long, env = "CROUPIER_ACCESS_MINUTES", default_value_t = 15, value_name = "MINUTES",
        value_parser = clap::value_parser!(u32).range(1..=1440))]
    pub(crate) access_minutes: u32,
    /// Lifetime of a refresh token, in days: how long an unused session can be renewed.
    #[arg(long, env = "CROUPIER_REFRESH_DAYS", default_value_t = 30, value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) refresh_days: u32,

    /// Largest remedy that one staff member may decide alone, in dollars; above it a second one
    /// must approve.
    #[arg(long, env = "CROUPIER_REMEDY_LIMIT", default_value_t = 100, value_name = "DOLLARS")]
    pub(crate) remedy_limit: u32,
    /// How long evidence for disputes (refused commands, addresses) is kept, in days.
    #[arg(long, env = "CROUPIER_EVIDENCE_DAYS", default_value_t = 90, value_name = "DAYS",
        value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) evidence_days: u32,

    /// Disable introspection queries; tools that read the schema from the server stop working.
    #[arg(long, env = "CROUPIER_NO_INTROSPECTION")]
    pub(crate) no_introspection: bool,
    /// File of trusted documents, which clients send by hash: a JSON object of texts by SHA-256.
    #[arg(long, env = "CROUPIER_TRUSTED_DOCUMENTS", value_name = "FILE")]
    pub(crate) trusted_documents: Option<PathBuf>,
    /// Refuse all documents that are not in the file of trusted documents.
    #[arg(long, env = "CROUPIER_ONLY_TRUSTED_DOCUMENTS")]
    pub(crate) only_trusted_documents: bool,
    #[command(flatten)]
    pub(crate) documents: Limits,
    #[command(flatten)]
    pub(crate) rates: RateLimits,
    /// Largest request body and WebSocket message, in KiB.
    #[arg(long, env = "CROUPIER_MAX_BODY", default_value_t = 64, value_name = "KIB",
        value_parser = clap::value_parser!(u32).range(1..=16_384))]
    pub(crate) max_body: u32,
    /// Largest response, in KiB.
    #[arg(long, env = "CROUPIER_MAX_RESPONSE", default_value_t = 8_192, value_name = "KIB",
        value_parser = clap::value_parser!(u32).range(64..=1_048_576))]
    pub(crate) max_response: u32,
    /// Timeout of a request, in seconds.
    #[arg(long, env = "CROUPIER_REQUEST_SECONDS", default_value_t = 10, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) request_seconds: u32,
    /// Timeout for request headers and for idle connections, in seconds.
    #[arg(long, env = "CROUPIER_HEAD_SECONDS", default_value_t = 30, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) head_seconds: u32,
    /// How long a write to a slow client may block before it is disconnected, in seconds.
    #[arg(long, env = "CROUPIER_SLOW_CLIENT_SECONDS", default_value_t = 10, value_name = "SECONDS",
        value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) slow_client_seconds: u32,
    /// Largest number of client connections.
    #[arg(long, env = "CROUPIER_MAX_CLIENTS", default_value_t = 20_000, value_name = "COUNT")]
    pub(crate) max_clients: usize,
    /// Largest number of connections per IP address; not limited behind trusted proxies.
    #[arg(
        long,
        env = "CROUPIER_MAX_ADDRESS_CLIENTS",
        default_value_t = 2_000,
        value_name = "COUNT"
    )]
    pub(crate) max_address_clients: usize,
    /// Largest number of concurrent operations per WebSocket.
    #[arg(long, env = "CROUPIER_MAX_OPERATIONS", default_value_t = 50, value_name = "COUNT")]
    pub(crate) max_operations: usize,
    /// Origins that browsers may send requests from, separated by commas; * allows all.
    #[arg(
        long,
        env = "CROUPIER_CORS_ORIGIN",
        default_value = "*",
        value_delimiter = ',',
        value_name = "ORIGIN"
    )]
    pub(crate) cors_origin: Vec<HeaderValue>,
    /// Number of trusted proxies in front of the node; each appends an address to x-forwarded-for.
    #[arg(long, env = "CROUPIER_TRUSTED_PROXIES", default_value_t = 0, value_name = "COUNT")]
    pub(crate) trusted_proxies: u32,

    #[command(flatten)]
    pub(crate) observe: crate::observe::Options,
}

impl Settings {
    pub(crate) fn keys(&self) -> PathBuf {
        keys_folder(self.keys.as_deref(), &self.data)
    }

    pub(crate) fn max_response_bytes(&self) -> u64 {
        u64::from(self.max_response) * 1024
    }

    pub(crate) fn request_timeout(&self) -> Duration {
        Duration::from_secs(self.request_seconds.into())
    }

    pub(crate) fn header_timeout(&self) -> Duration {
        Duration::from_secs(self.head_seconds.into())
    }

    pub(crate) fn write_timeout(&self) -> Duration {
        Duration::from_secs(self.slow_client_seconds.into())
    }

    pub(crate) fn max_body_bytes(&self) -> usize {
        usize::try_from(self.max_body).unwrap_or(64) * 1024
    }
}

/// The folder of the keys; `keys` in the data folder by default.
pub(crate) fn keys_folder(keys: Option<&Path>, data: &Path) -> PathBuf {
    keys.map_or_else(|| data.join("keys"), Path::to_owned)
}
