//! What the node says about itself: log lines, figures, traces.

use std::io::IsTerminal;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

mod traces;

pub(crate) use traces::Traces;

use crate::http::Figures;

/// What is said, and how.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// What is logged: error, warn, info, debug or trace, or a level for each module.
    #[arg(long, env = "CROUPIER_LOG", default_value = "info", value_name = "LEVEL")]
    pub(crate) log: String,
    /// How it is logged: for people or for programs. For people if somebody watches, unless you say.
    #[arg(long, env = "CROUPIER_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// Where traces are sent (OTLP over HTTP): `http://localhost:4318/v1/traces`. Nowhere if you do not say.
    #[arg(long, env = "CROUPIER_OTLP_ENDPOINT", value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
}

/// How log lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// For people.
    Pretty,
    /// One JSON object a line.
    Json,
}

/// Begins to log and to trace.
pub(crate) fn start(options: &Options) -> Result<Traces, String> {
    let filter = EnvFilter::try_new(&options.log)
        .map_err(|error| format!("--log '{}': {error}", options.log))?;
    let watched = std::io::stderr().is_terminal();
    let json = options.log_format.map_or(!watched, |format| format == LogFormat::Json);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_target(false);
    let lines = if json {
        lines.json().flatten_event(true).with_span_list(false).boxed()
    } else {
        lines.with_ansi(watched).boxed()
    };
    let (traces, spans) = Traces::start(options.otlp_endpoint.as_deref())?;
    let registry = tracing_subscriber::registry().with(lines.with_filter(filter)).with(spans);
    registry.try_init().map_err(|error| error.to_string())?;
    Ok(traces)
}

/// Begins to count.
pub(crate) fn count() -> Result<Figures, String> {
    let seconds =
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Suffix("_commands".to_owned()), &sizes)
        })
        .and_then(PrometheusBuilder::install_recorder)
        .map(|figures| {
            // What has not happened yet is shown as such.
            for counter in ["croupier_conflicts", "croupier_time_outs", "croupier_abandoned"] {
                metrics::counter!(counter).increment(0);
            }
            Figures(figures)
        })
        .map_err(|error| error.to_string())
}
