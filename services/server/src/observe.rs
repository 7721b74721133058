//! Observability: logs, metrics and traces.

use std::io::IsTerminal;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use tracing_subscriber::{EnvFilter, Layer, layer::SubscriberExt, util::SubscriberInitExt};

mod traces;

pub(crate) use traces::Traces;

use crate::http::MetricsHandle;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Log level: error, warn, info, debug or trace, or a filter with a level per module.
    #[arg(long, env = "CROUPIER_LOG", default_value = "info", value_name = "LEVEL")]
    pub(crate) log: String,
    /// Log format. Defaults to pretty in a terminal and json otherwise.
    #[arg(long, env = "CROUPIER_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,
    /// OTLP/HTTP endpoint for traces, such as `http://localhost:4318/v1/traces`. Without it, no
    /// traces are sent.
    #[arg(long, env = "CROUPIER_OTLP_ENDPOINT", value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for people.
    Pretty,
    /// One JSON object per line.
    Json,
}

/// Installs logging and tracing.
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

/// Installs the metrics recorder.
pub(crate) fn install_metrics() -> Result<MetricsHandle, String> {
    let seconds =
        [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
    let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)
        .and_then(|builder| {
            builder.set_buckets_for_metric(Matcher::Suffix("_commands".to_owned()), &sizes)
        })
        .and_then(PrometheusBuilder::install_recorder)
        .map(|metrics| {
            // Exported as 0 before the first increment.
            for counter in ["croupier_conflicts", "croupier_time_outs", "croupier_abandoned"] {
                metrics::counter!(counter).increment(0);
            }
            MetricsHandle(metrics)
        })
        .map_err(|error| error.to_string())
}
