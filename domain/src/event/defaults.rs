//! What fields of events are where they are not written.

use crate::Points;

pub(super) const fn once() -> Points {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
pub(super) const fn is_once(times: &Points) -> bool {
    *times == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
pub(super) const fn is_zero(points: &Points) -> bool {
    *points == 0
}
