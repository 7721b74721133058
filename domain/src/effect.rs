//! What a rule, a die or a card changes: every value before and after, and the words for it.

use serde::{Deserialize, Serialize};

use crate::{SeatNo, Word, special_dice::DieAt};

/// A rule or a die changed something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectApplied {
    /// Whose values changed.
    pub seat: SeatNo,
    /// What caused it.
    pub source: EffectSource,
    /// What changed.
    pub changes: Vec<Change>,
}

/// What causes an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectSource {
    /// Several farkles in a row cost points.
    FarklePenalty,
    /// The rules score what a round had made before its last hand, in spite of a farkle.
    RoundKept,
    /// Two equal dice.
    Double,
    /// A bank costs the opponents points.
    BankPenalty,
    /// A bank went too far.
    Overshoot,
    /// A special die.
    Die(DieAt),
    /// Something was bought.
    Bought(Word),
    /// Something one holds was used.
    Used(Word),
    /// Something one holds does what it does.
    Item(Word),
    /// What was unlocked was taken.
    Evolved(Word),
    /// What a character can do.
    Ability(Word),
    /// Everything that was offered was replaced.
    Renewed,
    /// The upper part of a card is worth enough.
    UpperBonus,
    /// One more yahtzee.
    ExtraYahtzee,
    /// A round reached its target.
    Reward,
    /// The centre was held until one's turn.
    Centre,
    /// Hearts heal.
    Hearts,
    /// Energy is gained.
    Energy,
    /// Swords hit.
    Swords,
    /// The centre was entered.
    Entered,
    /// The centre was left.
    Yielded,
}

/// One value before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which value.
    pub what: Measure,
    /// What it was.
    pub before: i64,
    /// What it is now.
    pub after: i64,
}

/// A value that effects change. Yes and no are 1 and 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// The banked points.
    GameScore,
    /// The count towards the penalty.
    FarklesInARow,
    /// Points of the completed hands of the round, or of all its turns.
    RoundScore,
    /// Saves of the round with a hot die.
    HotStreak,
    /// What the next bank is worth on top.
    DareBonus,
    /// The points of a combination, within a save.
    CombinationPoints,
    /// The points of a save.
    SavePoints,
    /// The points of a hand, as they are folded into the round or banked.
    HandPoints,
    /// The points of a bank.
    BankPoints,
    /// What later rolls of the turn are multiplied by.
    Multiplier,
    /// What a bank will cost the opponents.
    PendingPenalty,
    /// Money that is only worth something in this game.
    Money,
    /// How many of a thing one holds.
    Held(Word),
    /// Whether a thing that was used is still to take effect.
    Active(Word),
    /// How often one has bought a colour.
    Purchases(Word),
    /// The points of a category.
    CategoryPoints(Word),
    /// Whether a category is still to be scored.
    CategoryOpen(Word),
    /// How many rolls are left in this turn.
    RollsLeft,
    /// How many dice one plays with.
    DiceInPlay,
    /// What a die shows.
    Face(u8),
    /// Victory points.
    Vp,
    /// Health.
    Hp,
    /// The most health one can have.
    MaxHp,
    /// Energy.
    Energy,
    /// Whether one is inside the centre.
    Inside,
    /// Whether one is in the game.
    Alive,
    /// The damage of a hit, before it is taken.
    Damage,
    /// What the next hit costs more.
    Marked,
    /// Whether nothing can hit.
    Shielded,
    /// Whether the next hit is weakened.
    Armed,
    /// The face that was put by; 0 is none.
    Stored,
    /// Hearts that healed nothing and can be converted.
    SpareHearts,
    /// Whether something can be unlocked.
    Evolution,
}

impl Change {
    /// A value that changes.
    pub(crate) const fn of(what: Measure, before: i64, after: i64) -> Self {
        Self { what, before, after }
    }
}

impl Measure {
    /// What it is called.
    pub fn words(self) -> String {
        let plain = match self {
            Self::GameScore => "game score",
            Self::FarklesInARow => "farkles in a row",
            Self::RoundScore => "round score",
            Self::HotStreak => "hot streak",
            Self::DareBonus => "bonus of the next bank",
            Self::CombinationPoints => "combination",
            Self::SavePoints => "save",
            Self::HandPoints => "turn score",
            Self::BankPoints => "bank",
            Self::Multiplier => "multiplier",
            Self::PendingPenalty => "penalty of a bank",
            Self::Money => "money",
            Self::RollsLeft => "rolls left",
            Self::DiceInPlay => "dice",
            Self::Vp => "VP",
            Self::Hp => "HP",
            Self::MaxHp => "most HP",
            Self::Energy => "energy",
            Self::Inside => "inside",
            Self::Alive => "alive",
            Self::Damage => "damage",
            Self::Marked => "mark",
            Self::Shielded => "shield",
            Self::Armed => "plate",
            Self::Stored => "stored face",
            Self::SpareHearts => "spare hearts",
            Self::Evolution => "evolution",
            Self::Held(word) => return format!("{} held", word.spoken()),
            Self::Active(word) => return format!("{} at work", word.spoken()),
            Self::Purchases(word) => return format!("{} bought", word.spoken()),
            Self::CategoryPoints(word) => return word.spoken(),
            Self::CategoryOpen(word) => return format!("{} open", word.spoken()),
            Self::Face(slot) => return format!("die {slot}"),
        };
        plain.to_owned()
    }
}
