//! Metrics of requests, by operation. Their handles are kept: looking one up by its labels for
//! every request takes as long as a whole field of the schema.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use metrics::{Counter, Histogram};

/// The metrics of all operations.
#[derive(Debug, Default)]
pub(crate) struct RequestMetrics(RwLock<HashMap<String, OperationMetrics>>);

#[derive(Clone)]
struct OperationMetrics {
    ok: Counter,
    failed: Counter,
    seconds: Histogram,
}

impl std::fmt::Debug for OperationMetrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OperationMetrics")
    }
}

impl RequestMetrics {
    /// Counts a request. The operation must be a name of the schema, so that clients cannot create
    /// metrics without limit.
    pub(super) fn count(&self, operation: &str, ok: bool, took: Duration) {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(operation).cloned();
        let metrics = known.unwrap_or_else(|| self.add(operation));
        if ok { &metrics.ok } else { &metrics.failed }.increment(1);
        metrics.seconds.record(took);
    }

    fn add(&self, operation: &str) -> OperationMetrics {
        let name = || operation.to_owned();
        let count = |outcome: &'static str| metrics::counter!("croupier_requests", "operation" => name(), "outcome" => outcome);
        let seconds = metrics::histogram!("croupier_request_seconds", "operation" => name());
        let new = OperationMetrics { ok: count("ok"), failed: count("error"), seconds };
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name(), new.clone());
        new
    }
}
