//! Spans of requests, sent to a collector (OTLP over HTTP). A build without the feature `otlp` sends none.

use tracing_subscriber::{Layer, Registry, layer::Layered};

/// A layer over the lines of the log.
type Over<L> = Layered<L, Registry>;

/// Sends what is left when the node stops.
#[cfg(feature = "otlp")]
#[derive(Debug)]
pub(crate) struct Traces(Option<opentelemetry_sdk::trace::SdkTracerProvider>);

/// Nothing is sent.
#[cfg(not(feature = "otlp"))]
#[derive(Debug)]
pub(crate) struct Traces;

#[cfg(feature = "otlp")]
impl Traces {
    /// Begins to send to an endpoint, if there is one.
    pub(super) fn start<L>(
        endpoint: Option<&str>,
    ) -> Result<(Self, Option<impl Layer<Over<L>> + use<L>>), String>
    where
        L: Layer<Registry>,
    {
        use opentelemetry::trace::TracerProvider;
        use opentelemetry_otlp::WithExportConfig;
        use opentelemetry_sdk::{Resource, trace::SdkTracerProvider};

        let Some(endpoint) = endpoint else { return Ok((Self(None), None)) };
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_endpoint(endpoint)
            .build()
            .map_err(|error| format!("--otlp-endpoint '{endpoint}': {error}"))?;
        let resource = Resource::builder().with_service_name("croupier").build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("croupier");
        // Spans of requests only: what the exporter itself does is not traced.
        let spans = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_filter(tracing_subscriber::EnvFilter::new("croupier=info"));
        Ok((Self(Some(provider)), Some(spans)))
    }

    pub(crate) fn stop(self) {
        if let Some(Err(error)) = self.0.map(|provider| provider.shutdown()) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

#[cfg(not(feature = "otlp"))]
impl Traces {
    /// Refuses an endpoint: this build sends nothing.
    pub(super) fn start<L>(
        endpoint: Option<&str>,
    ) -> Result<(Self, Option<impl Layer<Over<L>> + use<L>>), String>
    where
        L: Layer<Registry>,
    {
        match endpoint {
            None => Ok((Self, None::<tracing_subscriber::layer::Identity>)),
            Some(_) => Err("This build sends no traces: build with --features otlp.".to_owned()),
        }
    }

    #[expect(clippy::unused_self, reason = "the same as where there is something to stop")]
    pub(crate) fn stop(self) {}
}
