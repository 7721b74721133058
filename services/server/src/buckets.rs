//! Token buckets: how often something may happen for each key.

use std::{
    hash::Hash,
    sync::Mutex,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;

/// How many buckets are kept in memory; an evicted bucket starts full again.
const BUCKETS: usize = 100_000;

/// A bucket is stored as the time at which it will be full; taking a token postpones it.
#[derive(Debug)]
pub(crate) struct Buckets<K> {
    full_at: Option<Cache<K, Instant>>,
    each: Duration,
    burst: u32,
    /// Makes read and update of a bucket atomic.
    lock: Mutex<()>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// `rate` tokens come back `per` time; a rate of 0 disables the limit.
    pub(crate) fn new(rate: u32, per: Duration, burst: u32) -> Self {
        let full_at = (rate > 0).then(|| Cache::new(BUCKETS));
        let each = per.checked_div(rate).unwrap_or_default();
        Self { full_at, each, burst: burst.max(1), lock: Mutex::new(()) }
    }

    /// Takes tokens, or returns how long to wait for them.
    pub(crate) fn take(&self, key: K, tokens: u32) -> Result<(), Duration> {
        let Some(full_at) = &self.full_at else { return Ok(()) };
        let _guard = self.lock.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        let full = full_at.get(&key).map_or(now, |full| full.max(now));
        let full_after = full + self.each * tokens;
        let over = (full_after - now).saturating_sub(self.each * self.burst.max(tokens));
        if !over.is_zero() {
            return Err(over);
        }
        full_at.insert(key, full_after);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_bucket_returns_the_time_to_wait() {
        let buckets = Buckets::new(1, Duration::from_mins(1), 3);
        let took = [(); 4].map(|()| buckets.take("ann", 1).is_ok());
        assert_eq!(took, [true, true, true, false]);
        let wait = buckets.take("ann", 1).err().unwrap_or_default();
        assert!(wait > Duration::from_secs(50) && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(buckets.take("bob", 1).is_ok());
        assert!(Buckets::new(0, Duration::from_secs(1), 1).take("ann", 1000).is_ok());
    }
}
