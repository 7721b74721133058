//! How often somebody may ask: a bucket of tokens for each account and each address, filled at a steady rate.

use std::{
    hash::Hash,
    net::IpAddr,
    sync::Mutex,
    time::{Duration, Instant},
};

use quick_cache::sync::Cache;
use uuid::Uuid;

/// How many buckets are kept; who is forgotten has a full one.
const BUCKETS: usize = 100_000;

/// How often somebody may ask. A rate of 0 is no limit.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RateLimits {
    /// How many requests a second an account may send; 0 is no limit.
    #[arg(long, env = "CROUPIER_ACTOR_RATE", default_value_t = 50, value_name = "PER SECOND")]
    pub(crate) actor_rate: u32,
    /// How many requests an account may send at once.
    #[arg(long, env = "CROUPIER_ACTOR_BURST", default_value_t = 200, value_name = "COUNT")]
    pub(crate) actor_burst: u32,
    /// How many requests a second may come from an address; 0 is no limit.
    #[arg(long, env = "CROUPIER_ADDRESS_RATE", default_value_t = 200, value_name = "PER SECOND")]
    pub(crate) address_rate: u32,
    /// How many requests may come from an address at once.
    #[arg(long, env = "CROUPIER_ADDRESS_BURST", default_value_t = 1000, value_name = "COUNT")]
    pub(crate) address_burst: u32,
    /// How many passwords a minute may be tried from an address; 0 is no limit.
    #[arg(long, env = "CROUPIER_SIGN_IN_RATE", default_value_t = 20, value_name = "PER MINUTE")]
    pub(crate) sign_in_rate: u32,
    /// How many guests a minute may be made from an address; 0 is no limit.
    #[arg(long, env = "CROUPIER_GUEST_RATE", default_value_t = 60, value_name = "PER MINUTE")]
    pub(crate) guest_rate: u32,
}

/// The buckets of a node.
#[derive(Debug)]
pub(crate) struct Rates {
    actors: Buckets<Uuid>,
    addresses: Buckets<IpAddr>,
    sign_ins: Buckets<IpAddr>,
    guests: Buckets<IpAddr>,
}

impl Rates {
    pub(crate) fn new(limits: &RateLimits) -> Self {
        let (second, minute) = (Duration::from_secs(1), Duration::from_mins(1));
        Self {
            actors: Buckets::new(limits.actor_rate, second, limits.actor_burst),
            addresses: Buckets::new(limits.address_rate, second, limits.address_burst),
            sign_ins: Buckets::new(limits.sign_in_rate, minute, limits.sign_in_rate),
            guests: Buckets::new(limits.guest_rate, minute, limits.guest_rate),
        }
    }

    /// Takes a token of an account, or says how long to wait.
    pub(crate) fn actor(&self, account: Uuid) -> Result<(), Duration> {
        self.actors.take(account, 1)
    }

    /// Takes a token of an address, or says how long to wait.
    pub(crate) fn address(&self, address: IpAddr) -> Result<(), Duration> {
        self.addresses.take(whose(address), 1)
    }

    /// Takes so many new guests of an address, or says how long to wait.
    pub(crate) fn guests(&self, address: IpAddr, guests: u32) -> Result<(), Duration> {
        self.guests.take(whose(address), guests)
    }

    /// Takes so many tries at passwords of an address, or says how long to wait.
    pub(crate) fn sign_ins(&self, address: IpAddr, tries: u32) -> Result<(), Duration> {
        self.sign_ins.take(whose(address), tries)
    }
}

/// Somebody with an IPv6 network has 2^64 addresses: they share a bucket.
fn whose(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            let network = IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into());
            v6.to_ipv4_mapped().map_or(network, IpAddr::V4)
        }
    }
}

/// Buckets as moments: a bucket is full at a moment, and each token taken puts that moment off.
#[derive(Debug)]
struct Buckets<K> {
    full_at: Option<Cache<K, Instant>>,
    each: Duration,
    burst: u32,
    /// Taking is reading and writing.
    taking: Mutex<()>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    fn new(rate: u32, per: Duration, burst: u32) -> Self {
        let full_at = (rate > 0).then(|| Cache::new(BUCKETS));
        let each = per.checked_div(rate).unwrap_or_default();
        Self { full_at, each, burst: burst.max(1), taking: Mutex::new(()) }
    }

    fn take(&self, whose: K, tokens: u32) -> Result<(), Duration> {
        let Some(full_at) = &self.full_at else { return Ok(()) };
        let _taking = self.taking.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        let full = full_at.get(&whose).map_or(now, |full| full.max(now));
        let then = full + self.each * tokens;
        let over = (then - now).saturating_sub(self.each * self.burst.max(tokens));
        if !over.is_zero() {
            return Err(over);
        }
        full_at.insert(whose, then);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_says_when_to_come_back() {
        let buckets = Buckets::new(1, Duration::from_mins(1), 3);
        let took = [(); 4].map(|()| buckets.take("ann", 1).is_ok());
        assert_eq!(took, [true, true, true, false]);
        let wait = buckets.take("ann", 1).err().unwrap_or_default();
        assert!(wait > Duration::from_secs(50) && wait <= Duration::from_mins(1), "{wait:?}");
        assert!(buckets.take("bob", 1).is_ok());
        assert!(Buckets::new(0, Duration::from_secs(1), 1).take("ann", 1000).is_ok());
    }

    #[test]
    fn one_network_is_one_address() {
        let parse = |text: &str| text.parse::<IpAddr>().map(whose).ok();
        assert_eq!(parse("2001:db8:1:2:3:4:5:6"), parse("2001:db8:1:2:ffff::1"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:10.0.0.1"), parse("10.0.0.1"));
    }
}
