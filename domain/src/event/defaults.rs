//! Defaults of event fields that are absent in the log.

use crate::Points;

pub(super) const fn once() -> Points {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
pub(super) const fn is_once(times: &Points) -> bool {
    *times == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is given by serde")]
pub(super) const fn is_zero(points: &Points) -> bool {
    *points == 0
}
