//! The rules of croupier's dice games: pure functions and data.
//!
//! The state of a game is a fold of its events; a command and the state produce events or a
//! rejection. Randomness and time are arguments, so a game can always be replayed from its log.
//!
//! ```
//! use std::sync::Arc;
//! use domain::fair::{FairDice, Secret, commitment, ruleset_hash};
//! use domain::{Command, Event, GameId, Moment, Play, PlayerId, Ruleset, decide, replay};
//! use uuid::Uuid;
//!
//! # fn main() -> Result<(), domain::Rejection> {
//! let secret = Secret([7; 32]); // 32 bytes of the operating system's randomness
//! let game = GameId(Uuid::from_u128(1));
//! let ruleset = Arc::new(Ruleset::preset("farkle", Some("classic"))?);
//! let commitment = commitment(&secret, game, ruleset_hash(&ruleset));
//!
//! let commands = [
//!     Command::Create { game, ruleset, commitment },
//!     Command::Join {
//!         player: PlayerId(Uuid::from_u128(2)),
//!         name: "Ann".into(),
//!         seed: Some("my lucky number is 17".into()),
//!     },
//!     Command::Start,
//!     Command::Play { seat: 0, play: Play::Roll },
//! ];
//! let mut log: Vec<Event> = Vec::new();
//! for command in commands {
//!     let state = replay(&log);
//!     let events = match &state {
//!         None => decide(None, &command, Moment(0), &mut domain::NoDice)?,
//!         Some(game) => {
//!             decide(Some(game), &command, Moment(0), &mut FairDice::new(secret, game))?
//!         }
//!     };
//!     log.extend(events);
//! }
//! assert_eq!(log.iter().filter(|event| event.name() == "Rolled").count(), 1);
//! # Ok(())
//! # }
//! ```
//! Read [`farkle`] for the rules of a game, [`fair`] for the dice, [`Event`] for the events.
//! Read [`farkle`] for the rules of a game, [`fair`] for the dice, [`Event`] for the vocabulary.

mod account;
mod byte_list;
mod command;
mod counts;
mod decide;
mod decision;
mod dice;
mod difference;
mod dispute;
mod effect;
mod event;
mod explain;
mod faces;
mod fact;
mod game;
mod game_rules;
mod ids;
mod infer_commands;
mod legal;
mod narrate;
mod number;
mod other_dice;
mod preview;
mod record;
mod rejection;
mod ruleset;
mod short;
mod slots;
mod slug;
pub mod special_dice;
mod table_view;
mod text;
mod verbs;
mod verify;
mod what_if;

pub mod fair;
pub mod games;

pub use account::{
    Account, AccountCommand, AccountEvent, Entry, Sanction, count_dice, decide_account,
};
pub use command::{Ability, Command, Exchange, Play};
pub use counts::{Counts, Figure};
pub use decide::decide;
pub use dice::{Dice, Draw, NoDice, Purpose};
pub use difference::{Difference, differences, snapshot};
pub use dispute::{
    Dispute, DisputeCommand, DisputeEvent, Remedy, RemedyState, Resolution, StaffEvent,
    decide_dispute, same_remedy,
};
pub use effect::{Change, EffectApplied, EffectSource, Measure};
pub use event::{
    AwardedFor, Banked, Boost, ColourDraw, ColoursDrawn, Combination, CombinationName, DecidedBy,
    Drawn, Event, Farkled, FarkledBy, LeftBecause, Outcome, Rolled, Saved, TurnEnd, TurnEnded,
    VoidedFor,
};
pub use explain::explain;
pub use faces::Faces;
pub use fact::Fact;
pub use game::{Game, Seat, Stage, Table, Turn, evolve, replay};
pub use game_rules::PHASES;
pub use games::{Board, GAMES, Rules, dash, farkle, neon, rogue};
pub use ids::{Dollars, GameId, Moment, PlayerId, Points, SeatNo};
pub use infer_commands::{Recalled, Step, draws_of, infer_commands};
pub use legal::{Legal, legal_commands};
pub use narrate::narrate;
pub use number::Number;
pub use other_dice::OtherDice;
pub use preview::preview;
pub use record::{BadRecord, Planned, in_words, parse_moves, parse_record, write_record};
pub use rejection::{Rejection, RejectionCode};
pub use ruleset::{Ruleset, TableRules};
pub use slots::Slots;
pub use slug::{InvalidSlug, Slug};
pub use table_view::{CatalogItem, DieOnTable, DiePlace, Offer, Selection};
pub use text::{BadText, ClientSeed, Name, is_line};
pub use verbs::{Thrown, known_moves, parse_dice, parse_play, parse_step, write_play};
pub use verify::{Proven, VerificationError, verify};
pub use what_if::{Fork, ForkedStep, NoFork, Then, WhatIf, what_if};
