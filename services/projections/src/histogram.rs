//! Histograms with buckets that grow with the values, so that one kind of histogram fits every
//! game.

use std::collections::BTreeMap;

/// Number of values per bucket, by the lowest value of the bucket.
pub type Histogram = BTreeMap<i64, u64>;

/// The lowest value of the bucket of a value: up to 7 each value has its own bucket, then every
/// doubling is split in four. Negative values mirror positive ones.
pub(crate) fn bucket(value: i64) -> i64 {
    if value < 0 {
        // The lowest value of a mirrored bucket is the negated highest value of the bucket.
        let low = bucket(value.saturating_neg());
        return -(low + width(low) - 1);
    }
    let fine = value.max(1).ilog2().saturating_sub(2);
    (value >> fine) << fine
}

/// The number of values in a bucket, by its lowest value.
pub fn width(low: i64) -> i64 {
    if low < 0 {
        // The negated lowest value lies in the mirrored bucket, which has the same width.
        return width(bucket(low.saturating_neg()));
    }
    1 << low.max(1).ilog2().saturating_sub(2)
}

/// Adds one histogram to another.
pub(crate) fn add(sum: &mut Histogram, more: &Histogram) {
    for (&low, count) in more {
        *sum.entry(low).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_one_bucket() {
        let known =
            [(0, 0), (1, 1), (7, 7), (8, 8), (9, 8), (10, 10), (15, 14), (16, 16), (19, 16)];
        for (value, low) in known {
            assert_eq!(bucket(value), low, "{value}");
        }
        assert_eq!((bucket(10_000), width(bucket(10_000))), (8_192, 2_048));
        let mut next = bucket(-5_000);
        while next < 5_000 {
            let low = bucket(next);
            assert_eq!(low, next, "buckets follow each other");
            for value in low..low + width(low) {
                assert_eq!(bucket(value), low, "{value}");
            }
            next += width(low);
        }
    }
}
