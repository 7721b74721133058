//! The commands that are accepted now.

use async_graphql::{Json, SimpleObject};
use domain::{Game, Legal, Play, SeatNo};
use serde_json::Value;

use super::{actions::AbilityInput, on_table::ints, scalars::Instant};

/// A command that is accepted now.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct LegalCommand {
    /// The mutation to send: `joinGame`, `chooseSeed`, `chooseLoadout`, `chooseCharacter`, `leaveGame`, `startGame`, `roll`, `save`, `bank`,
    /// `forfeit`, `score`, `resolve`, `attack`, `useAbility`, `answer`, `buyItem`, `renewMarket`, `useItem`, `evolve`, `endTurn`. What the house does by
    /// itself is called `timeOut` and `abandon`; what staff can do to a game, `voidGame` and `finishGame`.
    command: &'static str,
    /// Whose command it is; nobody's in particular for joining and starting.
    seat: Option<i32>,
    /// The dice to name, for `save` and `bank`.
    slots: Option<Vec<i32>>,
    /// The dice to keep, for `roll`.
    keep: Option<Vec<i32>>,
    /// What to name: the category to `score`, the code to buy, use or evolve, the character to choose.
    name: Option<String>,
    /// At whom it is aimed, for `buyItem` and `attack`.
    target: Option<i32>,
    /// What to say, for `answer`.
    stay: Option<bool>,
    /// How, for `useAbility`, as it takes it.
    ability: Option<Json<Value>>,
    /// From when on the house may do it, for `timeOut`.
    from: Option<Instant>,
}

impl LegalCommand {
    fn new(command: &'static str, seat: Option<SeatNo>) -> Self {
        let seat = seat.map(Into::into);
        Self {
            command,
            seat,
            slots: None,
            keep: None,
            name: None,
            target: None,
            stay: None,
            ability: None,
            from: None,
        }
    }

    /// What is accepted now, by anybody.
    pub(super) fn all(game: &Game) -> Vec<Self> {
        game.legal_commands().into_iter().map(Self::of).collect()
    }

    /// What is accepted now of who sits on this seat, or on none.
    pub(super) fn mine(game: &Game, mine: Option<SeatNo>) -> Vec<Self> {
        let is_mine = |legal: &Legal| {
            !legal.is_of_house() && legal.seat().is_none_or(|seat| Some(seat) == mine)
        };
        game.legal_commands().into_iter().filter(is_mine).map(Self::of).collect()
    }

    fn of(legal: Legal) -> Self {
        match legal {
            Legal::Create => Self::new("createGame", None),
            Legal::Join => Self::new("joinGame", None),
            Legal::Start => Self::new("startGame", None),
            Legal::ChooseSeed(seat) => Self::new("chooseSeed", Some(seat)),
            Legal::ChooseLoadout(seat) => Self::new("chooseLoadout", Some(seat)),
            Legal::ChooseCharacter(seat, character) => {
                let name = Some(character.to_string());
                Self { name, ..Self::new("chooseCharacter", Some(seat)) }
            }
            Legal::Leave(seat) => Self::new("leaveGame", Some(seat)),
            Legal::Play(seat, play) => Self::play(seat, play),
            Legal::TimeOut(seat, from) => {
                Self { from: Some(Instant(from)), ..Self::new("timeOut", Some(seat)) }
            }
            Legal::Abandon(_) => Self::new("abandon", None),
            Legal::Void => Self::new("voidGame", None),
            Legal::Rule => Self::new("finishGame", None),
        }
    }

    fn play(seat: SeatNo, play: Play) -> Self {
        let ask = |command| Self::new(command, Some(seat));
        let numbers = |slots: Vec<u8>| Some(ints(slots.into_iter()));
        match play {
            Play::Roll => ask("roll"),
            Play::Reroll { keep } => Self { keep: numbers(keep), ..ask("roll") },
            Play::Save { slots } => Self { slots: numbers(slots), ..ask("save") },
            Play::Bank { slots } => Self { slots: slots.and_then(numbers), ..ask("bank") },
            Play::Forfeit => ask("forfeit"),
            Play::Score { category } => Self { name: Some(category), ..ask("score") },
            Play::Resolve => ask("resolve"),
            Play::Attack { target } => Self { target: target.map(Into::into), ..ask("attack") },
            Play::Ability(how) => {
                Self { ability: Some(Json(AbilityInput::json(how))), ..ask("useAbility") }
            }
            Play::Answer { stay } => Self { stay: Some(stay), ..ask("answer") },
            Play::Buy { code, target } => {
                Self { name: Some(code), target: target.map(Into::into), ..ask("buyItem") }
            }
            Play::Renew => ask("renewMarket"),
            Play::Use { code } => Self { name: Some(code), ..ask("useItem") },
            Play::Evolve { code } => Self { name: Some(code), ..ask("evolve") },
            Play::End => ask("endTurn"),
        }
    }
}
