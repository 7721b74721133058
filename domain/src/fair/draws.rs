//! Unbiased draws from a stream of random words.

use rand_chacha::rand_core::Rng;

/// A value from 1 to `sides`, each exactly equally likely: words beyond the largest multiple of
/// `sides` are skipped.
pub(super) fn die(words: &mut impl Rng, sides: u32) -> u32 {
    let Some(beyond) = (1u64 << 32).checked_rem(u64::from(sides)) else {
        return 0;
    };
    loop {
        let word = words.next_u32();
        if u64::from(word) < (1 << 32) - beyond {
            return word % sides + 1;
        }
    }
}

/// The entry of a ticket, where each entry has as many tickets as its weight. Tickets are numbered
/// from 1 to the sum of the weights; `None` beyond.
pub fn pick(weights: &[u32], ticket: u32) -> Option<usize> {
    let mut last = 0u64;
    weights.iter().position(|&weight| {
        last += u64::from(weight);
        weight > 0 && ticket > 0 && u64::from(ticket) <= last
    })
}

/// The first ticket of an entry, for scripted dice.
pub fn first_ticket(weights: &[u32], entry: usize) -> Option<u32> {
    let before = weights.get(..entry)?.iter().copied().fold(0, u32::saturating_add);
    (*weights.get(entry)? > 0).then(|| before.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_every_ticket_to_its_entry() {
        let weights = [2, 0, 3];
        let picked: Vec<_> = (0..=6).map(|ticket| pick(&weights, ticket)).collect();
        assert_eq!(
            [0, 1, 2, 3].map(|entry| first_ticket(&weights, entry)),
            [Some(1), None, Some(3), None]
        );
        assert_eq!(picked, [None, Some(0), Some(0), Some(2), Some(2), Some(2), None]);
    }
}
