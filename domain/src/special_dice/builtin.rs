//! The sixteen built-in special dice. A new die with an existing kind of effect is a row here.

use super::{Catalogue, Category, DieKind, Tier};
use crate::special_dice::effects::{
    BankBonus, BankRound, Consolation, Effect, Faces, FarkleMoney, KeepTurn, LoneFace,
    MultiplyCombination, MultiplySingle, MultiplyTurn, SaveMoney, Streak,
};

use Category::{FaceChangers, FarkleLovers, FarkleProtection, ScoreBoosters};
use Tier::{Amazing, Better, Simple};

type Row = (&'static str, &'static str, Category, Tier, u32, Effect, &'static str);

impl Catalogue {
    /// The catalogue before any change.
    pub fn builtin() -> Self {
        Self { version: 1, dice: rows().into_iter().filter_map(die).collect() }
    }
}

#[rustfmt::skip]
fn rows() -> Vec<Row> {
    let half = || Effect::KeepTurn(KeepTurn { percent: 50 });
    vec![
        ("PHOENIX", "Phoenix Die",       FarkleLovers,     Better,  6,  half(),                                                            "Out of the ashes of a farkle rises half of the hand."),
        ("BADLUCK", "Back Luck Die",     FarkleLovers,     Amazing, 7,  Effect::Consolation(Consolation { points: 1000, most_saved: 1 }),  "Farkle right at the start and laugh about it."),
        ("FARK$",   "Farkle Payday Die", FarkleLovers,     Simple,  3,  Effect::FarkleMoney(FarkleMoney { dollars: 3 }),                   "Every farkle is a payday."),
        ("GAMBLE",  "Gambler's Die",     FarkleLovers,     Amazing, 12, Effect::BankRound(BankRound {}),                                   "Roll on: what the round has made is safe."),
        ("DARE",    "Daredevil Die",     FarkleLovers,     Better,  5,  Effect::BankBonus(BankBonus { points: 200 }),                      "Fall often, and bank it all at once."),
        ("CUSHION", "Cushion Die",       FarkleProtection, Simple,  3,  half(),                                                            "A soft landing for half of the hand."),
        ("CHUTE",   "Parachute Die",     FarkleProtection, Amazing, 12, Effect::BankRound(BankRound {}),                                   "The round lands safely, the hand is lost."),
        ("LUCKY",   "Lucky Die",         FaceChangers,     Simple,  2,  faces([1, 2, 3, 4, 5, 5]),                                         "A second 5 where the 6 should be."),
        ("HEAVY",   "Heavy Die",         FaceChangers,     Simple,  2,  faces([1, 1, 3, 4, 5, 6]),                                         "A second 1 where the 2 should be."),
        ("FIVES",   "Fives Die",         FaceChangers,     Better,  4,  faces([5; 6]),                                                     "It cannot show anything but 5."),
        ("DOUBLE",  "Double Die",        ScoreBoosters,    Amazing, 10, Effect::MultiplyTurn(MultiplyTurn { factor: 2 }),                  "Everything counts twice, and twice again with another one."),
        ("MIDAS",   "Midas Die",         ScoreBoosters,    Better,  6,  Effect::SaveMoney(SaveMoney { dollars: 1 }),                       "Whatever you put aside turns to gold."),
        ("HOT",     "Hot Die",           ScoreBoosters,    Better,  5,  Effect::Streak(Streak { points: 50 }),                             "The more often it scores, the hotter it gets."),
        ("JACKPOT", "Jackpot Die",       ScoreBoosters,    Amazing, 12, Effect::MultiplyCombination(MultiplyCombination { factor: 2 }),    "Doubles whatever it is a part of."),
        ("TRIPLE",  "Triple Die",        ScoreBoosters,    Amazing, 15, Effect::MultiplySingle(MultiplySingle { factor: 3 }),              "Worth three when it stands alone."),
        ("THREE",   "Thrice Die",        ScoreBoosters,    Simple,  5,  Effect::LoneFace(LoneFace { face: 3, points: 30 }),                "With it, your 3s need no company."),
    ]
}

fn faces(faces: [u8; 6]) -> Effect {
    Effect::Faces(Faces { faces })
}

fn die((code, name, category, tier, price, effect, description): Row) -> Option<DieKind> {
    let colour = match category {
        FarkleLovers => "#cc0000",
        FarkleProtection => "#1d8711",
        FaceChangers => "#4169E1",
        ScoreBoosters => "#FFA500",
    };
    Some(DieKind {
        code: code.parse().ok()?,
        name: name.to_owned(),
        category,
        tier,
        colour: colour.to_owned(),
        price,
        description: description.to_owned(),
        effect,
        retired: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_valid_dice() {
        let catalogue = Catalogue::builtin();
        assert_eq!(catalogue.dice.len(), 16);
        catalogue.check().unwrap();
        let written = serde_json::to_string(&catalogue).unwrap();
        assert_eq!(serde_json::from_str::<Catalogue>(&written).unwrap(), catalogue);
    }
}
