//! The one vocabulary of everything that happens, in every game.
//!
//! Events carry results, never formulas: faces, points and sums as they came out. Folding them
//! needs no rule, so a game replays to the same state for ever.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    Dollars, Draw, EffectApplied, Faces, GameId, Moment, Name, PlayerId, Points, Ruleset, SeatNo,
    Slots, Turn, Word,
    account::AccountEvent,
    dispute::{DisputeEvent, StaffEvent},
    fair::{Commitment, RulesetHash, Secret, SeedsHash},
    special_dice::{CatalogueEvent, Code, DieAt},
    text::ClientSeed,
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// A table was opened.
    Created {
        /// The game.
        game: GameId,
        /// Its rules, in full.
        ruleset: Arc<Ruleset>,
        /// The hash of the rules, part of everything the dice are made from.
        ruleset_hash: RulesetHash,
        /// The promise of its dice.
        commitment: Commitment,
    },
    /// A player sat down.
    SeatTaken {
        /// Where.
        seat: SeatNo,
        /// Who.
        player: PlayerId,
        /// The name shown.
        name: Name,
    },
    /// A client gave its seed, or another one.
    SeedChosen {
        /// Whose seed.
        seat: SeatNo,
        /// The seed.
        seed: ClientSeed,
    },
    /// A player chose the dice to play with, or other ones.
    LoadoutChosen {
        /// Whose dice.
        seat: SeatNo,
        /// Their kinds, one a slot.
        dice: Vec<Code>,
    },
    /// A player chose whom to play, or somebody else.
    CharacterChosen {
        /// Whose character.
        seat: SeatNo,
        /// The character.
        character: Word,
    },
    /// A seat was given up or lost.
    SeatLeft {
        /// Which.
        seat: SeatNo,
        /// Why.
        why: LeftBecause,
    },
    /// The seeds are sealed, the game began.
    Started {
        /// The hash of the sealed list of seeds.
        seeds: SeedsHash,
    },
    /// A seat has its turn.
    TurnStarted {
        /// Whose turn.
        seat: SeatNo,
        /// The round of the table, from 1.
        round: u32,
        /// When the house may end the turn, if there is a limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Moment>,
    },
    /// Dice were rolled.
    Rolled(Rolled),
    /// Dice were scored.
    Saved(Saved),
    /// A round's points were put on the score.
    Banked(Banked),
    /// A round ended without points.
    Farkled(Farkled),
    /// A rule or a die changed something.
    EffectApplied(EffectApplied),
    /// A player earned money.
    MoneyAwarded {
        /// Who.
        seat: SeatNo,
        /// How much.
        amount: Dollars,
        /// What for.
        why: AwardedFor,
    },
    /// Something came up at random that is no die: a card of the market, a gift, a coin.
    Drawn(Drawn),
    /// Somebody must say something before the turn goes on.
    Asked {
        /// Who.
        seat: SeatNo,
        /// When the house may answer in their place, if there is a limit.
        deadline: Option<Moment>,
    },
    /// Who was asked has answered; the turn goes on.
    Answered {
        /// Who.
        seat: SeatNo,
        /// Whether they stay.
        stays: bool,
        /// When the house may end the turn, if there is a limit.
        deadline: Option<Moment>,
    },
    /// The time of a turn ran out.
    TimedOut {
        /// Whose.
        seat: SeatNo,
        /// How often in a row, with this one.
        in_a_row: u32,
    },
    /// A turn is over.
    TurnEnded(TurnEnded),
    /// The game is over.
    Ended(Outcome),
    /// The secret behind the dice, so that anybody can check them.
    SeedRevealed {
        /// The secret of the game's commitment.
        secret: Secret,
    },
    /// The game counts no more: what it awarded is taken back, and no figure knows of it.
    Voided {
        /// Why.
        why: VoidedFor,
        /// Because of which dispute, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// The house decides who wins, and the game ends here.
    Ruled {
        /// Who wins; nobody is possible.
        winners: Vec<SeatNo>,
        /// Because of which dispute, if there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dispute: Option<Uuid>,
    },
    /// Not in a game: something happened to an account.
    Account(AccountEvent),
    /// Not in a game: something happened to the catalogue of special dice.
    Catalogue(CatalogueEvent),
    /// Not in a game: something happened to a dispute.
    Dispute(DisputeEvent),
    /// Not in a game: somebody who works for the house did something.
    Staff(StaffEvent),
}

/// Dice were rolled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rolled {
    /// Who rolled.
    pub seat: SeatNo,
    /// Which draw of the game's dice this is.
    pub draw: Draw,
    /// The dice rolled.
    pub slots: Slots,
    /// What the random source gave, in slot order.
    pub raw: Vec<u32>,
    /// What the dice show, in slot order.
    pub faces: Faces,
    /// The best score over all selections of this roll; 0 is a farkle.
    pub max_points: Points,
    /// After hot dice: the points of the completed hand, now part of the round score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<Points>,
    /// The colours the dice came up in, where they have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colours: Option<Box<ColoursDrawn>>,
}

/// The colours that dice came up in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColoursDrawn {
    /// Of each die, in slot order.
    pub codes: Vec<Code>,
    /// The draws that decided it: of each colour that can come up, in the order in which they are tried.
    pub draws: Vec<ColourDraw>,
}

/// Whether dice come up in a colour: one value a die, in slot order; 1 is a hit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColourDraw {
    /// The colour.
    pub code: Code,
    /// Which draw of the game's colours this is; its sides are the odds.
    pub draw: Draw,
    /// What the random source gave.
    pub raw: Vec<u32>,
}

/// Something came up at random that is no die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawn {
    /// Which draw.
    pub draw: Draw,
    /// What the random source gave.
    pub raw: u32,
    /// What came up.
    pub item: Word,
    /// Where it lies now, if it lies open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<u8>,
}

/// Dice were scored: the explanation and the sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saved {
    /// Who saved.
    pub seat: SeatNo,
    /// The dice scored.
    pub slots: Slots,
    /// What they scored as, the largest combination first.
    pub combinations: Vec<Combination>,
    /// What special dice added to the combinations, in the order in which they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bonuses: Vec<Boost>,
    /// How many times the combinations count.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The points of this save: the combinations with their effects, multiplied, and the bonuses.
    pub points: Points,
    /// The points of the hand so far, with this save.
    pub turn_score: Points,
    /// The dice left in hand; none means hot dice.
    pub left: Slots,
}

/// Dice that score together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Combination {
    /// What they are.
    pub name: CombinationName,
    /// The dice.
    pub slots: Slots,
    /// What they show, in slot order.
    pub faces: Faces,
    /// What they score by the table.
    pub points: Points,
    /// What special dice made of it, in the order in which they did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Boost>,
}

impl Combination {
    /// What it scores with everything that special dice made of it.
    pub fn total(&self) -> Points {
        self.effects.last().map_or(self.points, |effect| effect.after)
    }
}

/// A special die makes something worth more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boost {
    /// The die.
    pub die: DieAt,
    /// What it was worth.
    pub before: Points,
    /// What it is worth now.
    pub after: Points,
}

/// The combinations of the scoring table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombinationName {
    /// One die that scores alone.
    Single,
    /// Three dice of one face.
    ThreeOfAKind,
    /// Four dice of one face.
    FourOfAKind,
    /// Five dice of one face.
    FiveOfAKind,
    /// Six dice of one face.
    SixOfAKind,
    /// 1 to 6.
    Straight,
    /// Three pairs, or four of a kind and a pair.
    ThreePairs,
    /// Two times three of a kind.
    TwoTriplets,
    /// Two dice, added up.
    Sum,
    /// Two equal dice.
    Double,
    /// Three or more of a number.
    Set,
    /// All ones.
    Ones,
    /// All twos.
    Twos,
    /// All threes.
    Threes,
    /// All fours.
    Fours,
    /// All fives.
    Fives,
    /// All sixes.
    Sixes,
    /// Three of a face and two of another.
    FullHouse,
    /// Four faces in a row.
    SmallStraight,
    /// Five faces in a row.
    LargeStraight,
    /// Five dice of one face.
    Yahtzee,
    /// Whatever the dice show.
    Chance,
}

impl CombinationName {
    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::ThreeOfAKind => "three of a kind",
            Self::FourOfAKind => "four of a kind",
            Self::FiveOfAKind => "five of a kind",
            Self::SixOfAKind => "six of a kind",
            Self::Straight => "straight",
            Self::ThreePairs => "three pairs",
            Self::TwoTriplets => "two triplets",
            Self::Sum => "sum",
            Self::Double => "double",
            Self::Set => "set",
            Self::Ones => "ones",
            Self::Twos => "twos",
            Self::Threes => "threes",
            Self::Fours => "fours",
            Self::Fives => "fives",
            Self::Sixes => "sixes",
            Self::FullHouse => "full house",
            Self::SmallStraight => "small straight",
            Self::LargeStraight => "large straight",
            Self::Yahtzee => "yahtzee",
            Self::Chance => "chance",
        }
    }
}

/// A round's points were put on the score.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Banked {
    /// Who banked.
    pub seat: SeatNo,
    /// In which round of the table.
    pub round: u32,
    /// Points of the completed hands of the round.
    pub round_score: Points,
    /// Points of the last hand.
    pub turn_score: Points,
    /// How many times the last hand counts.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub multiplier: Points,
    /// The bonus of earlier farkles.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus: Points,
    /// What was banked: the round score, the last hand times its multiplier, and the bonus.
    pub points: Points,
    /// The game score with it.
    pub game_score: Points,
    /// Whether this score reaches the target of the game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

impl Banked {
    /// A turn of one hand was banked as it is.
    pub(crate) const fn plain(
        turn: Turn,
        points: Points,
        game_score: Points,
        reaches_target: bool,
    ) -> Self {
        Self {
            seat: turn.seat,
            round: turn.round,
            round_score: 0,
            turn_score: points,
            multiplier: 1,
            bonus: 0,
            points,
            game_score,
            reaches_target,
        }
    }
}

/// A round ended without points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farkled {
    /// Who farkled.
    pub seat: SeatNo,
    /// Whether the player gave the roll up.
    pub by: FarkledBy,
    /// The points lost: what the round had made, before any multiplier of its last hand, less what was kept.
    pub forfeited: Points,
    /// The points of the round that were scored all the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: Points,
    /// The points that special dice scored beyond it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub awarded: Points,
    /// Farkles in a row, with this one.
    pub in_a_row: u32,
}

const fn once() -> Points {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_once(times: &Points) -> bool {
    *times == 1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks like this")]
const fn is_zero(points: &Points) -> bool {
    *points == 0
}

/// What made a farkle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FarkledBy {
    /// A roll without any scoring die.
    Roll,
    /// The player's choice.
    Choice,
}

/// What money is awarded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AwardedFor {
    /// Playing a game to its end.
    Finishing,
    /// Winning it.
    Winning,
    /// A special die.
    Die(DieAt),
}

/// Why a seat is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftBecause {
    /// The player left.
    Quit,
    /// Too many time-outs in a row.
    TimedOut,
}

/// A turn is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnEnded {
    /// Whose turn.
    pub seat: SeatNo,
    /// In which round of the table.
    pub round: u32,
    /// How it ended.
    pub how: TurnEnd,
    /// The points it brought.
    pub points: Points,
    /// The points it lost.
    pub forfeited: Points,
    /// The bonus of earlier farkles that it lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bonus_lost: Points,
    /// Whether a score that was not banked reaches the target of the game with this turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reaches_target: bool,
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The points were banked.
    Banked,
    /// No die of a roll scored.
    Farkled,
    /// The player gave the roll up.
    Forfeited,
    /// Time ran out.
    TimedOut,
    /// The player left.
    Left,
    /// It came to its end.
    Finished,
}

impl TurnEnd {
    /// Its name, as events write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Banked => "banked",
            Self::Farkled => "farkled",
            Self::Forfeited => "forfeited",
            Self::TimedOut => "timed_out",
            Self::Left => "left",
            Self::Finished => "finished",
        }
    }
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What decided it.
    pub by: DecidedBy,
    /// The winning seats; none if there is no winner.
    pub winners: Vec<SeatNo>,
    /// The final score of each seat, in seat order.
    pub scores: Vec<Points>,
}

/// What decides a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// The highest score.
    Score,
    /// Somebody reached exactly what is to be reached.
    Goal,
    /// A tie, decided by the best single round.
    BestRound,
    /// A tie that nothing decides: the win is shared.
    SharedWin,
    /// All others are out of the game.
    LastAlive,
    /// Everybody was out of the game at once, and nothing tells them apart: nobody wins.
    Draw,
    /// What was to be reached was not.
    Missed,
    /// All others left.
    LastSeat,
    /// Everybody left.
    Deserted,
    /// Nobody touched it for too long.
    Abandoned,
    /// It was made void while it was played.
    Voided,
    /// The house decided it.
    Ruled,
}

/// Why a game is made void.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidedFor {
    /// Something did not work as it should.
    Malfunction,
    /// Somebody cheated.
    Cheating,
    /// Players played into each other's hands.
    Collusion,
    /// The game was opened or run by mistake.
    Mistake,
}

impl VoidedFor {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Malfunction, Self::Cheating, Self::Collusion, Self::Mistake];

    /// As people read it.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Malfunction => "something did not work as it should",
            Self::Cheating => "somebody cheated",
            Self::Collusion => "players played into each other's hands",
            Self::Mistake => "it was a mistake",
        }
    }
}

impl Event {
    /// The names of all types of a game.
    pub const NAMES: [&'static str; 23] = [
        "Created",
        "SeatTaken",
        "SeedChosen",
        "LoadoutChosen",
        "CharacterChosen",
        "SeatLeft",
        "Started",
        "TurnStarted",
        "Rolled",
        "Saved",
        "Banked",
        "Farkled",
        "EffectApplied",
        "MoneyAwarded",
        "Drawn",
        "Asked",
        "Answered",
        "TimedOut",
        "TurnEnded",
        "Ended",
        "SeedRevealed",
        "Voided",
        "Ruled",
    ];

    /// The type's name, as the log stores it.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Created { .. } => "Created",
            Self::SeatTaken { .. } => "SeatTaken",
            Self::SeedChosen { .. } => "SeedChosen",
            Self::LoadoutChosen { .. } => "LoadoutChosen",
            Self::CharacterChosen { .. } => "CharacterChosen",
            Self::SeatLeft { .. } => "SeatLeft",
            Self::Started { .. } => "Started",
            Self::TurnStarted { .. } => "TurnStarted",
            Self::Rolled(_) => "Rolled",
            Self::Saved(_) => "Saved",
            Self::Banked(_) => "Banked",
            Self::Farkled(_) => "Farkled",
            Self::EffectApplied(_) => "EffectApplied",
            Self::MoneyAwarded { .. } => "MoneyAwarded",
            Self::Drawn(_) => "Drawn",
            Self::Asked { .. } => "Asked",
            Self::Answered { .. } => "Answered",
            Self::TimedOut { .. } => "TimedOut",
            Self::TurnEnded(_) => "TurnEnded",
            Self::Ended(_) => "Ended",
            Self::SeedRevealed { .. } => "SeedRevealed",
            Self::Voided { .. } => "Voided",
            Self::Ruled { .. } => "Ruled",
            Self::Account(event) => event.name(),
            Self::Catalogue(event) => event.name(),
            Self::Dispute(event) => event.name(),
            Self::Staff(event) => event.name(),
        }
    }

    /// The seat it is about, if it is about one.
    pub const fn seat(&self) -> Option<SeatNo> {
        match self {
            Self::SeatTaken { seat, .. }
            | Self::SeedChosen { seat, .. }
            | Self::LoadoutChosen { seat, .. }
            | Self::CharacterChosen { seat, .. }
            | Self::Asked { seat, .. }
            | Self::Answered { seat, .. }
            | Self::SeatLeft { seat, .. }
            | Self::TurnStarted { seat, .. }
            | Self::MoneyAwarded { seat, .. }
            | Self::TimedOut { seat, .. } => Some(*seat),
            Self::Rolled(rolled) => Some(rolled.seat),
            Self::Saved(saved) => Some(saved.seat),
            Self::Banked(banked) => Some(banked.seat),
            Self::Farkled(farkled) => Some(farkled.seat),
            Self::EffectApplied(effect) => Some(effect.seat),
            Self::TurnEnded(ended) => Some(ended.seat),
            Self::Created { .. }
            | Self::Started { .. }
            | Self::Drawn(_)
            | Self::Ended(_)
            | Self::SeedRevealed { .. }
            | Self::Voided { .. }
            | Self::Ruled { .. }
            | Self::Account(_)
            | Self::Catalogue(_)
            | Self::Dispute(_)
            | Self::Staff(_) => None,
        }
    }

    /// Whether it only moves the game along: seats, turns and the end.
    pub const fn is_lifecycle(&self) -> bool {
        match self {
            Self::Rolled(_)
            | Self::Saved(_)
            | Self::Banked(_)
            | Self::Farkled(_)
            | Self::EffectApplied(_)
            | Self::MoneyAwarded { .. } => false,
            Self::Created { .. }
            | Self::SeatTaken { .. }
            | Self::SeedChosen { .. }
            | Self::LoadoutChosen { .. }
            | Self::CharacterChosen { .. }
            | Self::SeatLeft { .. }
            | Self::Started { .. }
            | Self::TurnStarted { .. }
            | Self::Drawn(_)
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::TimedOut { .. }
            | Self::TurnEnded(_)
            | Self::Ended(_)
            | Self::SeedRevealed { .. }
            | Self::Voided { .. }
            | Self::Ruled { .. }
            | Self::Account(_)
            | Self::Catalogue(_)
            | Self::Dispute(_)
            | Self::Staff(_) => true,
        }
    }
}
