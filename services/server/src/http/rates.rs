//! Rate limits: a token bucket per account and per address, filled with points of cost.

use std::{net::IpAddr, time::Duration};

use uuid::Uuid;

use crate::buckets::Buckets;

/// The least that a request costs, whatever it asks for.
pub(super) const REQUEST_COST: u32 = 100;

/// Rate limits of accounts and addresses.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct RateLimits {
    /// Points of cost per second and account: a request costs at least 100, a move little more;
    /// 0 disables the limit.
    #[arg(long, env = "CROUPIER_ACTOR_RATE", default_value_t = 5_000, value_name = "PER SECOND")]
    pub(crate) actor_rate: u32,
    /// Points of cost that an account may spend in a burst.
    #[arg(long, env = "CROUPIER_ACTOR_BURST", default_value_t = 20_000, value_name = "POINTS")]
    pub(crate) actor_burst: u32,
    /// Points of cost per second and IP address; 0 disables the limit.
    #[arg(
        long,
        env = "CROUPIER_ADDRESS_RATE",
        default_value_t = 20_000,
        value_name = "PER SECOND"
    )]
    pub(crate) address_rate: u32,
    /// Points of cost that an IP address may spend in a burst.
    #[arg(long, env = "CROUPIER_ADDRESS_BURST", default_value_t = 100_000, value_name = "POINTS")]
    pub(crate) address_burst: u32,
    /// Sign-in attempts per minute and IP address; 0 disables the limit.
    #[arg(long, env = "CROUPIER_SIGN_IN_RATE", default_value_t = 20, value_name = "PER MINUTE")]
    pub(crate) sign_in_rate: u32,
    /// New guest accounts per minute and IP address; 0 disables the limit.
    #[arg(long, env = "CROUPIER_GUEST_RATE", default_value_t = 60, value_name = "PER MINUTE")]
    pub(crate) guest_rate: u32,
}

/// The rate limiters of this node. Each takes tokens or returns how long to wait.
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

    pub(crate) fn actor(&self, account: Uuid, cost: u32) -> Result<(), Duration> {
        self.actors.take(account, cost)
    }

    pub(crate) fn address(&self, address: IpAddr, cost: u32) -> Result<(), Duration> {
        self.addresses.take(bucket_key(address), cost)
    }

    pub(crate) fn guests(&self, address: IpAddr, guests: u32) -> Result<(), Duration> {
        self.guests.take(bucket_key(address), guests)
    }

    pub(crate) fn sign_ins(&self, address: IpAddr, tries: u32) -> Result<(), Duration> {
        self.sign_ins.take(bucket_key(address), tries)
    }
}

/// All addresses of an IPv6 /64 network share a bucket, since one client may own all of them.
pub(super) fn bucket_key(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            let network = IpAddr::V6([a, b, c, d, 0, 0, 0, 0].into());
            v6.to_ipv4_mapped().map_or(network, IpAddr::V4)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_network_shares_a_bucket() {
        let parse = |text: &str| text.parse::<IpAddr>().map(bucket_key).ok();
        assert_eq!(parse("2001:db8:1:2:3:4:5:6"), parse("2001:db8:1:2:ffff::1"));
        assert_ne!(parse("2001:db8:1:2::1"), parse("2001:db8:1:3::1"));
        assert_eq!(parse("::ffff:10.0.0.1"), parse("10.0.0.1"));
    }
}
