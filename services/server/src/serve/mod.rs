//! `croupier serve`: runs a node.

mod keys_in_use;
mod settings;

use std::{
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use async_graphql::ValidationMode;
use store::{Store, processor::Consumer};
use tokio::{net::TcpListener, sync::watch};
use uuid::Uuid;

pub(crate) use settings::{Settings, keys_folder};

use crate::{
    accounts::{Accounts, Lifetimes},
    api,
    app::{App, Database},
    disputes::Disputes,
    documents::{Documents, TrustedDocuments},
    http::{self, Gateway, Rates},
    keys::{KeyRing, Purpose},
    observe,
    play::GameService,
    replay::Recordings,
    terminal::{BROKEN, FAINT, GOOD, block_on},
};

/// The name of the database in the private PostgreSQL.
#[cfg(feature = "cluster")]
pub(crate) const DATABASE: &str = "postgres";
/// How long open requests may take after shutdown begins.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections for health checks and metrics.
const ADMIN_CONNECTIONS: usize = 64;

pub(crate) fn run(settings: Settings, out: &mut impl Write) -> io::Result<ExitCode> {
    match block_on(serve(settings, out))? {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(problem) => {
            writeln!(anstream::stderr(), "{BROKEN}!{BROKEN:#} {problem}")?;
            Ok(ExitCode::from(2))
        }
    }
}

async fn serve(settings: Settings, out: &mut impl Write) -> Result<(), String> {
    let traces = observe::start(&settings.observe)?;
    let metrics = observe::install_metrics()?;
    let mut signals = StopSignals::listen().map_err(|error| error.to_string())?;
    let settings = Arc::new(settings);
    let trusted = TrustedDocuments::read(
        settings.trusted_documents.as_deref(),
        settings.only_trusted_documents,
    )?;
    let to_text = |error: io::Error| error.to_string();
    let database = Postgres::find(&settings, out)?;
    store::migrate(database.url()).await.map_err(|error| error.to_string())?;

    if !settings.accept_lost_keys {
        keys_in_use::check(database.url(), &settings.keys()).await?;
    }
    raise_open_files();
    let app = build_app(&settings, database.url())?;
    // Before the first request, so that revoked sessions are rejected.
    app.accounts.load_revoked().await.map_err(|error| error.to_string())?;
    let listener = listen(settings.listen, "--listen")?;
    let admin = settings.admin_listen.map(|address| listen(address, "--admin-listen"));
    let admin = admin.transpose()?;
    let address = listener.local_addr().map_err(to_text)?;
    let gateway = Arc::new(Gateway {
        api: api::connected(&app, ValidationMode::Strict, !settings.no_introspection),
        unchecked: api::connected(&app, ValidationMode::Fast, !settings.no_introspection),
        documents: Documents::new(settings.documents, &crate::schema::sdl()),
        trusted,
        rates: Rates::new(&settings.rates),
        settings: Arc::clone(&settings),
        metrics,
        requests: http::RequestMetrics::default(),
        app: Arc::clone(&app),
    });
    let background_tasks = background_tasks(&app, &gateway, database.url());
    let processors = tokio::spawn(run_processors(Arc::clone(&app)));
    let (stop, stopping) = watch::channel(false);
    let limits = http::ConnectionLimits {
        max_connections: settings.max_clients,
        max_per_address: (settings.trusted_proxies == 0).then_some(settings.max_address_clients),
        header_timeout: settings.header_timeout(),
        drain_timeout: DRAIN_TIMEOUT,
    };
    if let Some(admin) = admin {
        let limits = http::ConnectionLimits { max_connections: ADMIN_CONNECTIONS, ..limits };
        let routes = http::admin_routes(&gateway);
        // Health checks are answered until the process ends.
        tokio::spawn(http::accept(admin, routes, limits, stopping.clone()));
    }
    let serving = tokio::spawn(http::accept(listener, http::routes(&gateway), limits, stopping));
    // The reader of our output may be gone; the node runs anyway.
    print_welcome(out, address, &database, &settings).ok();

    signals.wait().await;
    writeln!(out, "{FAINT}stopping: finishing open requests{FAINT:#}").ok();
    // Subscriptions first: their connections never end by themselves.
    app.games.live.stop();
    stop.send_replace(true);
    serving.await.map_err(|error| error.to_string())?;
    processors.await.ok();
    app.games.evidence.write().await.ok();
    app.games.store.close().await;
    for task in background_tasks {
        task.abort();
    }
    database.stop();
    traces.stop();
    writeln!(out, "{GOOD}✓{GOOD:#} stopped").ok();
    Ok(())
}

fn listen(address: SocketAddr, option: &str) -> Result<TcpListener, String> {
    http::listen(address).map_err(|error| {
        format!("cannot listen on {address}: {error}; choose another address with {option}")
    })
}

/// Every connection is an open file: raises the limit to what the system allows.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }) {
        tracing::warn!(%error, "the limit of open files was not raised");
    }
}

/// Builds the services that handle requests.
fn build_app(settings: &Settings, url: &str) -> Result<Arc<App>, String> {
    let folder = settings.keys();
    let ring = |purpose| {
        KeyRing::open(&folder, purpose).map_err(|error| format!("{}: {error}", folder.display()))
    };
    let store_settings = store::Settings {
        connections: settings.connections,
        lanes: settings.lanes.into(),
        games: settings.games,
        ..store::Settings::default()
    };
    let store = Store::open(url, &store_settings).map_err(|error| error.to_string())?;
    let lifetimes = Lifetimes {
        access: Duration::from_mins(settings.access_minutes.into()),
        refresh: Duration::from_hours(24 * u64::from(settings.refresh_days)),
    };
    let accounts = {
        let (pool, attempts) = (store.pool().clone(), settings.rates.sign_in_rate);
        Accounts::new(pool, ring(Purpose::Token)?, lifetimes, attempts)
    };
    let disputes = Disputes::new(store.clone(), settings.remedy_limit);
    let games = Arc::new(GameService::new(store, ring(Purpose::Dice)?, settings.first_money));
    let (recordings, database) = (Recordings::default(), Database::default());
    Ok(Arc::new(App { games, accounts, disputes, recordings, database }))
}

/// Runs the processors until the node stops, then releases them for other nodes.
async fn run_processors(app: Arc<App>) {
    let processors = crate::processors::of_node(&app);
    let consumer = Consumer::new(app.games.store.clone(), processors, Uuid::now_v7());
    consumer.run_until(app.games.live.stopped()).await;
}

/// Starts the tasks that run beside requests.
fn background_tasks(
    app: &Arc<App>,
    gateway: &Arc<Gateway>,
    url: &str,
) -> Vec<tokio::task::JoinHandle<()>> {
    let (games, days) = (Arc::clone(&app.games), gateway.settings.evidence_days);
    let sessions = Arc::clone(app);
    let probed = Arc::clone(app);
    let (gateway, url) = (Arc::clone(gateway), url.to_owned());
    vec![
        tokio::spawn(Arc::clone(&app.games).publish()),
        tokio::spawn(Arc::clone(&app.games.presence).run()),
        tokio::spawn(async move { sessions.accounts.poll_revoked().await }),
        tokio::spawn(async move { probed.watch_database(&url).await }),
        tokio::spawn(async move { games.evidence.run(days).await }),
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                gateway.metrics.0.run_upkeep();
                gateway.app.games.maintain();
                gateway.app.accounts.tokens.maintain();
            }
        }),
    ]
}

/// The database server: started by this node, or external.
enum Postgres {
    #[cfg(feature = "cluster")]
    Private {
        cluster: cluster::Cluster,
        url: String,
    },
    External(String),
}

impl Postgres {
    fn find(settings: &Settings, out: &mut impl Write) -> Result<Self, String> {
        match &settings.database_url {
            Some(url) => Ok(Self::External(url.clone())),
            None => Self::start(settings, out),
        }
    }

    #[cfg(feature = "cluster")]
    fn start(settings: &Settings, out: &mut impl Write) -> Result<Self, String> {
        let folder = settings.data.join("postgres");
        writeln!(out, "{FAINT}starting a private PostgreSQL in {}{FAINT:#}", folder.display()).ok();
        let cluster = cluster::Cluster::start(&folder, cluster::Settings::Durable)
            .map_err(|error| error.to_string())?;
        let url = cluster.url(DATABASE);
        Ok(Self::Private { cluster, url })
    }

    #[cfg(not(feature = "cluster"))]
    fn start(_: &Settings, _: &mut impl Write) -> Result<Self, String> {
        Err("this build cannot start a private PostgreSQL: set DATABASE_URL or --database-url"
            .to_owned())
    }

    fn url(&self) -> &str {
        match self {
            #[cfg(feature = "cluster")]
            Self::Private { url, .. } => url,
            Self::External(url) => url,
        }
    }

    fn stop(self) {
        match self {
            #[cfg(feature = "cluster")]
            Self::Private { cluster, .. } => cluster.stop(),
            Self::External(_) => {}
        }
    }
}

fn print_welcome(
    out: &mut impl Write,
    address: std::net::SocketAddr,
    database: &Postgres,
    settings: &Settings,
) -> io::Result<()> {
    writeln!(out, "{GOOD}✓{GOOD:#} croupier is running")?;
    writeln!(out, "  GraphQL   http://{address}/graphql  (WebSocket: ws://{address}/graphql)")?;
    if http::graphiql_is_installed(&settings.graphiql) {
        writeln!(out, "  GraphiQL  http://{address}/graphiql")?;
    }
    let health = settings.admin_listen.unwrap_or(address);
    writeln!(
        out,
        "  health    http://{health}/readyz  http://{health}/livez  http://{health}/metrics"
    )?;
    match database {
        #[cfg(feature = "cluster")]
        Postgres::Private { url, .. } => writeln!(out, "  database  psql '{url}'")?,
        Postgres::External(_) => writeln!(out, "  database  from DATABASE_URL")?,
    }
    writeln!(out, "  keys      {}", settings.keys().display())?;
    writeln!(out, "Sign in:")?;
    writeln!(
        out,
        "  curl -s http://{address}/graphql -H 'content-type: application/json' \\\n    \
         -d '{{\"query\":\"mutation {{ signInAsGuest(input: {{ name: \\\"Ann\\\" }}) {{ accessToken player {{ id name }} }} }}\"}}'"
    )?;
    writeln!(out, "{FAINT}Ctrl-C stops the node.{FAINT:#}")?;
    out.flush()
}

/// SIGINT and SIGTERM.
struct StopSignals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignals {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let (terminate, interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt })
    }

    async fn wait(&mut self) {
        tokio::select! { _ = self.terminate.recv() => {}, _ = self.interrupt.recv() => {} }
    }
}
