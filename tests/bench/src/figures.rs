//! Throughput and latency of a run.

use std::time::Duration;

/// Throughput and latency percentiles of an action.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

impl Figures {
    /// From the latencies of all actions of a run, in microseconds.
    pub(crate) fn new(mut micros: Vec<u32>, elapsed: Duration) -> Self {
        micros.sort_unstable();
        let at = |part: usize| {
            let index = (micros.len() * part / 100).min(micros.len().saturating_sub(1));
            micros.get(index).map_or(0.0, |&micros| f64::from(micros) / 1000.0)
        };
        let actions = u32::try_from(micros.len()).unwrap_or(u32::MAX);
        Self {
            per_second: f64::from(actions) / elapsed.as_secs_f64(),
            p50_ms: at(50),
            p99_ms: at(99),
        }
    }
}
