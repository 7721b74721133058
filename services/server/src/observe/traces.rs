//! Exports spans of requests to a collector (OTLP over HTTP), if built with the feature `otlp`.

use tracing_subscriber::{Layer, Registry, layer::Layered};

/// A subscriber with the log layer.
type Over<L> = Layered<L, Registry>;

/// Flushes the remaining spans when the node stops.
#[cfg(feature = "otlp")]
#[derive(Debug)]
pub(crate) struct Traces(Option<opentelemetry_sdk::trace::SdkTracerProvider>);

/// Does nothing.
#[cfg(not(feature = "otlp"))]
#[derive(Debug)]
pub(crate) struct Traces;

#[cfg(feature = "otlp")]
impl Traces {
    /// Starts the export, if there is an endpoint.
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
        // Only spans of our own crate: the exporter must not trace itself.
        let spans = tracing_opentelemetry::layer()
            .with_tracer(tracer)
            .with_filter(tracing_subscriber::EnvFilter::new("croupier=info"));
        Ok((Self(Some(provider)), Some(spans)))
    }

    pub(crate) fn stop(self) {
        if let Some(Err(error)) = self.0.map(|provider| provider.shutdown()) {
            tracing::warn!(%error, "sending the last traces failed");
        }
    }
}

#[cfg(not(feature = "otlp"))]
impl Traces {
    /// Fails if there is an endpoint.
    pub(super) fn start<L>(
        endpoint: Option<&str>,
    ) -> Result<(Self, Option<impl Layer<Over<L>> + use<L>>), String>
    where
        L: Layer<Registry>,
    {
        match endpoint {
            None => Ok((Self, None::<tracing_subscriber::layer::Identity>)),
            Some(_) => Err("this build cannot send traces: build with --features otlp".to_owned()),
        }
    }

    #[expect(clippy::unused_self, reason = "same signature as with the feature otlp")]
    pub(crate) fn stop(self) {}
}
