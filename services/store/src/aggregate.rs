//! The aggregates: games, accounts, the catalogue, disputes and the audit log.

use std::sync::Arc;

use domain::{
    Account, AccountCommand, Command, Dispute, DisputeCommand, Event, Game, Moment, Rejection,
    SeatNo, StaffEvent, decide, decide_account, decide_dispute, evolve,
    fair::{FairDice, Secret},
    special_dice::{Catalogue, CatalogueCommand, decide_catalogue},
};
use serde::Serialize;
use uuid::Uuid;

use crate::{States, Store};

/// The state folded from a stream, changed by commands.
pub trait Aggregate: Clone + Send + Sync + 'static {
    /// Commands it accepts.
    type Command: Serialize + Sync;
    /// Input of `decide` besides the state.
    type Context: Sync;

    /// Decides which events a command produces.
    fn decide(
        now: Option<&Self>,
        command: &Self::Command,
        at: Moment,
        context: &Self::Context,
    ) -> Result<Vec<Event>, Rejection>;

    /// Applies an event. Events of other kinds of streams are ignored.
    fn evolve(now: Option<Self>, event: &Event) -> Option<Self>;

    /// Whether the actor may issue the command, checked against the state it is decided on.
    fn may_ask(&self, _command: &Self::Command, _actor: Uuid) -> bool {
        true
    }

    /// The cache that holds this aggregate.
    fn states(store: &Store) -> &States<Self>;
}

impl Aggregate for Game {
    type Command = Command;
    type Context = Secret;

    fn decide(
        now: Option<&Self>,
        command: &Command,
        at: Moment,
        secret: &Secret,
    ) -> Result<Vec<Event>, Rejection> {
        match now {
            Some(game) => decide(Some(game), command, at, &mut FairDice::new(*secret, game)),
            None => decide(None, command, at, &mut domain::NoDice),
        }
    }

    fn evolve(now: Option<Self>, event: &Event) -> Option<Self> {
        evolve(now, event)
    }

    /// Only the player of a seat may act for it, and only a player who has not left may start. The
    /// seat may have changed hands since the command was sent.
    fn may_ask(&self, command: &Command, actor: Uuid) -> bool {
        let sits = |seat: SeatNo| {
            self.table.seats.get(usize::from(seat)).is_some_and(|seat| seat.player.0 == actor)
        };
        match command {
            Command::ChooseSeed { seat, .. }
            | Command::ChooseLoadout { seat, .. }
            | Command::ChooseCharacter { seat, .. }
            | Command::Leave { seat }
            | Command::Play { seat, .. } => sits(*seat),
            Command::Start => self.table.seated().any(sits),
            Command::Join { player, .. } => player.0 == actor,
            Command::Create { .. } => true,
            // Only the house issues these.
            Command::TimeOut { .. } | Command::Abandon { .. } => false,
            // Staff only, and not by a player of the game.
            Command::Void { .. } | Command::Rule { .. } => {
                !self.table.seats.iter().any(|seat| seat.player.0 == actor)
            }
        }
    }

    fn states(store: &Store) -> &States<Self> {
        &store.games
    }
}

impl Aggregate for Account {
    type Command = AccountCommand;
    type Context = Arc<Catalogue>;

    fn decide(
        now: Option<&Self>,
        command: &AccountCommand,
        _at: Moment,
        catalogue: &Arc<Catalogue>,
    ) -> Result<Vec<Event>, Rejection> {
        let events = decide_account(now, command, catalogue)?;
        Ok(events.into_iter().map(Event::Account).collect())
    }

    fn evolve(now: Option<Self>, event: &Event) -> Option<Self> {
        if let Event::Account(event) = event { Some(Self::evolve(now, event)) } else { now }
    }

    /// Earnings and locks are set by the house.
    fn may_ask(&self, command: &AccountCommand, _actor: Uuid) -> bool {
        match command {
            AccountCommand::Buy { .. }
            | AccountCommand::Sell { .. }
            | AccountCommand::StoreLoadout { .. }
            | AccountCommand::DropLoadout { .. } => true,
            // Staff only: no other caller has an API for these.
            AccountCommand::Adjust { .. } | AccountCommand::Sanction { .. } => true,
            AccountCommand::Open { .. }
            | AccountCommand::Credit { .. }
            | AccountCommand::Reverse { .. }
            | AccountCommand::Lock { .. }
            | AccountCommand::Settle { .. }
            | AccountCommand::Release { .. } => false,
        }
    }

    fn states(store: &Store) -> &States<Self> {
        &store.accounts
    }
}

impl Aggregate for Catalogue {
    type Command = CatalogueCommand;
    type Context = ();

    fn decide(
        now: Option<&Self>,
        command: &CatalogueCommand,
        _at: Moment,
        (): &(),
    ) -> Result<Vec<Event>, Rejection> {
        let events = decide_catalogue(now, command)?;
        Ok(events.into_iter().map(Event::Catalogue).collect())
    }

    fn evolve(now: Option<Self>, event: &Event) -> Option<Self> {
        if let Event::Catalogue(event) = event { Self::evolve(now, event) } else { now }
    }

    fn states(store: &Store) -> &States<Self> {
        &store.catalogues
    }
}

impl Aggregate for Dispute {
    type Command = DisputeCommand;
    type Context = ();

    fn decide(
        now: Option<&Self>,
        command: &DisputeCommand,
        _at: Moment,
        (): &(),
    ) -> Result<Vec<Event>, Rejection> {
        let events = decide_dispute(now, command)?;
        Ok(events.into_iter().map(Event::Dispute).collect())
    }

    fn evolve(now: Option<Self>, event: &Event) -> Option<Self> {
        if let Event::Dispute(event) = event { Self::evolve(now, event) } else { now }
    }

    fn states(store: &Store) -> &States<Self> {
        &store.disputes
    }
}

/// The audit log of staff actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Number of entries.
    pub entries: u64,
}

impl Aggregate for Audit {
    type Command = StaffEvent;
    type Context = ();

    /// Every staff action is recorded.
    fn decide(
        _now: Option<&Self>,
        entry: &StaffEvent,
        _at: Moment,
        (): &(),
    ) -> Result<Vec<Event>, Rejection> {
        Ok(vec![Event::Staff(entry.clone())])
    }

    fn evolve(now: Option<Self>, event: &Event) -> Option<Self> {
        let Event::Staff(_) = event else { return now };
        Some(Self { entries: now.unwrap_or_default().entries + 1 })
    }

    fn states(store: &Store) -> &States<Self> {
        &store.audits
    }
}
