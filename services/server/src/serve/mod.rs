//! `croupier serve`: a node.

mod settings;

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use async_graphql::ValidationMode;
use store::{Store, processor::Consumer};
use tokio::sync::watch;
use uuid::Uuid;

pub(crate) use settings::{Settings, keys_folder};

use crate::{
    accounts::{Accounts, Lifetimes},
    api,
    app::{App, Database},
    disputes::Disputes,
    documents::Documents,
    http::{self, Door, Rates},
    keys::{KeyRing, Purpose},
    observe,
    play::Tables,
    terminal::{BROKEN, FAINT, GOOD, block_on},
};

/// The database of a private PostgreSQL.
#[cfg(feature = "cluster")]
pub(crate) const DATABASE: &str = "postgres";
/// How long what is under way may take when the node stops.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
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
    let figures = observe::count()?;
    let mut stop_asked = StopAsked::listen().map_err(|error| error.to_string())?;
    let settings = Arc::new(settings);
    let said = |error: io::Error| error.to_string();
    let database = Postgres::find(&settings, out)?;
    store::migrate(database.url()).await.map_err(|error| error.to_string())?;

    let app = node(&settings, database.url())?;
    // A session that was ended stays ended, from the first request on.
    app.accounts.learn_all_revoked().await.map_err(|error| error.to_string())?;
    let listener = http::listen(settings.listen).map_err(|error| {
        format!("{} cannot be listened on: {error}; choose another with --listen", settings.listen)
    })?;
    let address = listener.local_addr().map_err(said)?;
    let door = Arc::new(Door {
        api: api::connected(&app, ValidationMode::Strict),
        unchecked: api::connected(&app, ValidationMode::Fast),
        documents: Documents::new(settings.documents),
        rates: Rates::new(&settings.rates),
        settings: Arc::clone(&settings),
        figures,
        app: Arc::clone(&app),
    });
    let duties = duties(&app, &door, database.url());
    let processors = tokio::spawn(run_processors(Arc::clone(&app)));
    let (stop, stopping) = watch::channel(false);
    let crowd = http::Crowd {
        most: settings.max_clients,
        head: settings.head_time(),
        patience: LAST_REQUESTS,
    };
    let serving = tokio::spawn(http::accept(listener, http::router(&door), crowd, stopping));
    // Whoever started us may not listen any more; the doors are open all the same.
    welcome(out, address, &database, &settings).ok();

    stop_asked.wait().await;
    writeln!(out, "{FAINT}stopping: what is under way is finished{FAINT:#}").ok();
    // Listeners are told first: their connections never end by themselves.
    app.tables.live.stop();
    stop.send_replace(true);
    serving.await.map_err(|error| error.to_string())?;
    processors.await.ok();
    app.tables.evidence.write().await.ok();
    app.tables.store.close().await;
    for duty in duties {
        duty.abort();
    }
    database.stop();
    traces.stop();
    writeln!(out, "{GOOD}✓{GOOD:#} goodbye").ok();
    Ok(())
}

/// Everything a request may need.
fn node(settings: &Settings, url: &str) -> Result<Arc<App>, String> {
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
    let accounts = Accounts::new(store.pool().clone(), ring(Purpose::Token)?, lifetimes);
    let disputes = Disputes::new(store.clone(), settings.remedy_limit);
    let tables = Arc::new(Tables::new(store, ring(Purpose::Dice)?, settings.first_money));
    Ok(Arc::new(App { tables, accounts, disputes, database: Database::default() }))
}

/// Runs the processors until the node stops, and leaves them to other nodes then.
async fn run_processors(app: Arc<App>) {
    let processors = crate::processors::of_node(&app);
    let consumer = Consumer::new(app.tables.store.clone(), processors, Uuid::now_v7());
    consumer.run_until(app.tables.live.stopped()).await;
}

/// What goes on beside requests.
fn duties(app: &Arc<App>, door: &Arc<Door>, url: &str) -> Vec<tokio::task::JoinHandle<()>> {
    let (noted, days) = (Arc::clone(&app.tables), door.settings.evidence_days);
    let sessions = Arc::clone(app);
    let probed = Arc::clone(app);
    let (door, url) = (Arc::clone(door), url.to_owned());
    vec![
        tokio::spawn(Arc::clone(&app.tables).hand_on()),
        tokio::spawn(async move { sessions.accounts.keep_learning_revoked().await }),
        tokio::spawn(async move { probed.watch_database(&url).await }),
        tokio::spawn(async move { noted.evidence.keep(days).await }),
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(5)).await;
                door.figures.0.run_upkeep();
                door.app.tables.look_after();
                door.app.accounts.tokens.look_after();
            }
        }),
    ]
}

/// Whose PostgreSQL it is.
enum Postgres {
    #[cfg(feature = "cluster")]
    Ours {
        cluster: cluster::Cluster,
        url: String,
    },
    Theirs(String),
}

impl Postgres {
    fn find(settings: &Settings, out: &mut impl Write) -> Result<Self, String> {
        match &settings.database_url {
            Some(url) => Ok(Self::Theirs(url.clone())),
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
        Ok(Self::Ours { cluster, url })
    }

    #[cfg(not(feature = "cluster"))]
    fn start(_: &Settings, _: &mut impl Write) -> Result<Self, String> {
        Err("This build has no private PostgreSQL: set DATABASE_URL or --database-url.".to_owned())
    }

    fn url(&self) -> &str {
        match self {
            #[cfg(feature = "cluster")]
            Self::Ours { url, .. } => url,
            Self::Theirs(url) => url,
        }
    }

    fn stop(self) {
        match self {
            #[cfg(feature = "cluster")]
            Self::Ours { cluster, .. } => cluster.stop(),
            Self::Theirs(_) => {}
        }
    }
}

fn welcome(
    out: &mut impl Write,
    address: std::net::SocketAddr,
    database: &Postgres,
    settings: &Settings,
) -> io::Result<()> {
    writeln!(out, "{GOOD}✓{GOOD:#} croupier is open")?;
    writeln!(out, "  GraphQL   http://{address}/graphql  (sockets: ws://{address}/graphql)")?;
    if http::graphiql_is_there(&settings.graphiql) {
        writeln!(out, "  GraphiQL  http://{address}/graphiql")?;
    }
    writeln!(
        out,
        "  health    http://{address}/readyz  http://{address}/livez  http://{address}/metrics"
    )?;
    match database {
        #[cfg(feature = "cluster")]
        Postgres::Ours { url, .. } => writeln!(out, "  database  psql '{url}'")?,
        Postgres::Theirs(_) => writeln!(out, "  database  as DATABASE_URL says")?,
    }
    writeln!(out, "  keys      {}", settings.keys().display())?;
    writeln!(out, "Sign in, and play:")?;
    writeln!(
        out,
        "  curl -s http://{address}/graphql -H 'content-type: application/json' \\\n    \
         -d '{{\"query\":\"mutation {{ signInAsGuest(name: \\\"Ann\\\") {{ accessToken player {{ id name }} }} }}\"}}'"
    )?;
    writeln!(out, "{FAINT}Ctrl-C stops it.{FAINT:#}")?;
    out.flush()
}

/// Ctrl-C, or a polite request to end.
struct StopAsked {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
}

impl StopAsked {
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
