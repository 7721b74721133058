//! The parameters of Farkle and its presets.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    limits::{LoadoutLimits, parse_loadout},
    names,
    scoring::{MOST_DICE, ScoreTable, Scoring, Tally},
    words,
};
use crate::{
    Boost, Event, Number, Points, Rejection, Rules, Ruleset, Slug, Table, TableRules,
    game_rules::Parameters,
    ruleset::{bad, within},
    special_dice::{Catalogue, Code},
};

/// The parameters of Farkle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FarkleRules {
    /// The number of dice of a set.
    pub dice: u8,
    /// The game score that ends the game after the current round of the table.
    pub target: Option<Points>,
    /// The number of rounds.
    pub rounds: Option<u32>,
    /// The number of further rounds to break a tie for the lead; `None` for no limit.
    pub overtime_rounds: Option<u32>,
    /// This many farkles in a row cost [`Self::penalty_points`].
    pub penalty_farkles: u32,
    /// The cost; 0 for no penalty.
    pub penalty_points: Points,
    /// While the game score is 0, a bank needs this many points; 0 for any.
    pub break_in: Points,
    /// The points of combinations.
    pub scoring: ScoreTable,
    /// Challenge games: the catalogue of special dice.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "Catalogue::shared"
    )]
    pub catalogue: Option<Arc<Catalogue>>,
    /// Challenge games: limits on loadouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loadout_limits: Option<LoadoutLimits>,
    /// Challenge games: whether a farkle also loses the completed hands of its round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub farkle_forfeits_round: Option<bool>,
    /// Challenge games: whether lost points include the multiplier of the hand, as shown to the
    /// player.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forfeits_multiplied: Option<bool>,
}

/// The maximum of parameters in points; it keeps sums far below overflow.
const MOST_POINTS: Points = 1_000_000;

/// The catalogue of the presets, shared by games.
static BUILTIN: LazyLock<Arc<Catalogue>> = LazyLock::new(|| Arc::new(Catalogue::builtin()));

impl FarkleRules {
    /// The presets, the default first.
    pub(crate) fn presets() -> Vec<Ruleset> {
        let classic = Self {
            dice: 6,
            target: Some(10_000),
            rounds: None,
            overtime_rounds: None,
            penalty_farkles: 3,
            penalty_points: 1_000,
            break_in: 0,
            scoring: ScoreTable::classic(),
            catalogue: None,
            loadout_limits: None,
            farkle_forfeits_round: None,
            forfeits_multiplied: None,
        };
        let ten_round =
            Self { target: None, rounds: Some(10), overtime_rounds: Some(5), ..classic.clone() };
        let house_750 = Self { scoring: ScoreTable::house_750(), ..classic.clone() };
        let challenge = |rules: &Self| Self {
            penalty_points: 0,
            catalogue: Some(Arc::clone(&BUILTIN)),
            loadout_limits: Some(LoadoutLimits::default()),
            farkle_forfeits_round: Some(true),
            forfeits_multiplied: Some(true),
            ..rules.clone()
        };
        let competitive =
            Self { loadout_limits: Some(LoadoutLimits::competitive()), ..challenge(&classic) };
        let challenges = [
            ("challenge-standard", challenge(&classic)),
            ("challenge-ten-round", challenge(&ten_round)),
            ("competitive", competitive),
        ];
        // In version 1 the lost points of challenges did not include the multiplier of the hand.
        let first = challenges
            .clone()
            .map(|(name, rules)| preset(name, 1, Self { forfeits_multiplied: None, ..rules }));
        let mut presets = vec![
            preset("classic", 1, classic),
            preset("ten-round", 1, ten_round),
            preset("house-750", 1, house_750),
        ];
        presets.extend(challenges.map(|(name, rules)| preset(name, 2, rules)));
        presets.extend(first);
        presets
    }

    /// Whether a farkle loses the completed hands of its round too.
    pub fn forfeits_round(&self) -> bool {
        self.farkle_forfeits_round.unwrap_or(true)
    }

    fn check_scoring(&self) -> Result<(), Rejection> {
        let numbers = self.scoring.scoring();
        let lists = [
            ("scoring.single", &numbers.single[..]),
            ("scoring.three_of_a_kind", &numbers.three_of_a_kind),
            ("scoring.four_of_a_kind", &numbers.four_of_a_kind),
            ("scoring.five_of_a_kind", &numbers.five_of_a_kind),
            ("scoring.six_of_a_kind", &numbers.six_of_a_kind),
            ("scoring.straight", &[numbers.straight]),
            ("scoring.three_pairs", &[numbers.three_pairs]),
            ("scoring.two_triplets", &[numbers.two_triplets]),
        ];
        for (name, points) in lists {
            points.iter().try_for_each(|&points| within(name, points, 0..=MOST_POINTS))?;
        }
        let a_roll_scores =
            Tally::all().iter().any(|&t| t.dice() == self.dice && self.scoring.best(t) > 0);
        if a_roll_scores {
            Ok(())
        } else {
            Err(bad("scoring", "this table", "no roll of these dice would ever score"))
        }
    }
}

impl Parameters for FarkleRules {
    fn numbers(&self) -> Vec<Number> {
        let points = 0..=MOST_POINTS;
        vec![
            Number::new("dice", self.dice, 1..=i64::from(MOST_DICE), "How many dice a set has."),
            Number::optional(
                "target",
                self.target,
                1..=MOST_POINTS,
                "The score that ends the game; the round is played out.",
            ),
            Number::optional("rounds", self.rounds, 1..=1_000, "How many rounds are played."),
            Number::optional(
                "overtime_rounds",
                self.overtime_rounds,
                0..=1_000,
                "Further rounds to break a tie; without a number, as many as it takes.",
            ),
            Number::new(
                "penalty_farkles",
                self.penalty_farkles,
                1..=100,
                "This many farkles in a row cost points.",
            ),
            Number::new(
                "penalty_points",
                self.penalty_points,
                points.clone(),
                "The points they cost.",
            ),
            Number::new(
                "break_in",
                self.break_in,
                points,
                "The fewest points of a seat's first bank.",
            ),
        ]
    }

    fn has_hot_dice(&self) -> bool {
        true
    }

    fn check(&self) -> Result<(), Rejection> {
        if self.target.is_none() && self.rounds.is_none() {
            return Err(bad("target", "null", "a game needs a target or a number of rounds"));
        }
        if let Some(catalogue) = &self.catalogue {
            catalogue.check()?;
        }
        if let Some(limits) = &self.loadout_limits {
            limits.check()?;
        }
        self.check_scoring()
    }

    /// A scoring table can be given by name.
    fn named_value(&self, parameter: &str, value: &Value) -> Result<Value, Rejection> {
        let ("scoring", Value::String(name)) = (parameter, value) else { return Ok(value.clone()) };
        let table = Scoring::named(name).and_then(|table| serde_json::to_value(table).ok());
        table.ok_or_else(|| {
            bad(parameter, value, format!("the known tables are {}", Scoring::NAMES.join(", ")))
        })
    }

    fn wording(&self, name: Slug) -> Option<&'static str> {
        names::wording(name)
    }

    fn describe(&self, event: &Event, table: &Table) -> Option<String> {
        words::describe(event, table)
    }

    fn explain(&self, event: &Event) -> Vec<String> {
        words::explained(event)
    }

    fn boost_line(&self, boost: &Boost) -> String {
        words::streak(boost)
    }

    fn catalogue(&self) -> Option<&Catalogue> {
        self.catalogue.as_deref()
    }

    fn with_catalogue(&self, catalogue: &Arc<Catalogue>) -> Option<Self> {
        let differs = self.catalogue.as_ref().is_some_and(|own| own != catalogue);
        differs.then(|| Self { catalogue: Some(Arc::clone(catalogue)), ..self.clone() })
    }

    fn lawful_loadout(&self, named: &[String]) -> Result<Vec<Code>, Rejection> {
        let catalogue = self.catalogue.as_deref().ok_or(Rejection::NoSpecialDice)?;
        let limits = self.loadout_limits.clone().unwrap_or_default();
        parse_loadout(named, self.dice, catalogue, &limits, &self.scoring)
    }
}

fn preset(name: &str, version: u32, rules: FarkleRules) -> Ruleset {
    Ruleset {
        preset: name.to_owned(),
        version,
        table: TableRules::usual(),
        rules: Rules::Farkle(Arc::new(rules)),
    }
}
