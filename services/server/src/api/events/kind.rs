//! The types of events.

use std::borrow::Cow;

use domain::Event;

use crate::api::listed_enum::{Listed, listed_enum};

/// The type of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::api) struct GameEventType(pub(in crate::api) &'static str);

impl GameEventType {
    pub(super) const fn of(event: &Event) -> Self {
        Self(event.name())
    }
}

impl Listed for GameEventType {
    const TYPE: &'static str = "GameEventType";
    const DESCRIPTION: &'static str = "The type of an event. Each value has its own object type.";

    fn all() -> Vec<Self> {
        Event::NAMES.map(Self).to_vec()
    }

    /// `SeatTaken` as `SEAT_TAKEN`.
    fn name(self) -> Cow<'static, str> {
        let mut name = String::with_capacity(self.0.len() + 4);
        for (index, letter) in self.0.char_indices() {
            if index > 0 && letter.is_ascii_uppercase() {
                name.push('_');
            }
            name.push(letter.to_ascii_uppercase());
        }
        name.into()
    }

    fn description(self) -> String {
        format!("`{}` in the log.", self.0)
    }
}

listed_enum!(GameEventType);
