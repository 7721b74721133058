//! Events of dice: rolls, saves, effects, draws and awards.

use async_graphql::{Context, Object, SimpleObject};
use domain::{
    AwardedFor, Change, Dollars, Drawn, EffectApplied, EffectSource, Measure, Rolled, Saved,
    SeatNo, Table,
    special_dice::{Code, DieAt},
};

use super::macros::event_type;
use crate::api::{
    enums::{AwardReason, DrawPurpose},
    on_table::{BoostView, CombinationView, ints},
    rules::CatalogItem,
    scalars::{DieCode, ItemCode, Long, int},
    seat::Seat,
};

/// A draw of random values. docs/fair-dice.md explains how to reproduce it.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Draw")]
pub(in crate::api) struct DrawView {
    /// The purpose of the draw.
    purpose: DrawPurpose,
    /// The number of the draw among those of the same purpose, from 1.
    number: Long,
    /// The largest possible value; values start at 1.
    sides: i32,
    /// The values drawn.
    raw: Vec<i32>,
}

pub(in crate::api) fn draw(draw: domain::Draw, raw: &[u32]) -> DrawView {
    DrawView {
        purpose: draw.purpose.into(),
        number: Long(i64::try_from(draw.number).unwrap_or(i64::MAX)),
        sides: int(draw.sides),
        raw: raw.iter().copied().map(int).collect(),
    }
}

/// A die of a roll.
#[derive(Clone, Debug, SimpleObject)]
struct RolledDie {
    /// The slot, from 0.
    slot: i32,
    /// The random value, before any effect of the die.
    raw: i32,
    /// The face shown.
    face: i32,
    /// The symbol of the face: `sword`, `energy`, `heart`. Null if the face is a number.
    symbol: Option<&'static str>,
    /// The colour of the die: `GREEN`; `STANDARD` for none. Null in games without colours.
    colour: Option<DieCode>,
}

/// A draw that decides which dice get a colour: one value per die; 1 is a hit.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "ColourDraw")]
struct ColourDrawView {
    /// The colour.
    colour: DieCode,
    /// The draw. Its `sides` are the odds: one in N.
    draw: DrawView,
}

event_type! {
    /// Dice were rolled.
    RolledEvent { rolled: Rolled, }

    /// The seat.
    async fn seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.rolled.seat).await
    }

    /// The random values of the roll.
    async fn draw(&self) -> DrawView {
        draw(self.rolled.draw, &self.rolled.raw)
    }

    /// The dice rolled, by slot.
    async fn dice(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<RolledDie>> {
        let state = self.base.later(crate::api::app(ctx)).await?;
        let rules = state.aggregate.as_ref().map(|game| &game.table.ruleset.rules);
        let Rolled { slots, raw, faces, colours, .. } = &self.rolled;
        let mut colours = colours.iter().flat_map(|drawn| drawn.codes.iter().copied());
        let dice = slots.iter().zip(raw).zip(faces.iter()).map(|((slot, &raw), face)| RolledDie {
            slot: slot.into(),
            raw: int(raw),
            face: face.into(),
            symbol: rules.and_then(|rules| rules.face_name(face)),
            colour: colours.next().map(DieCode::from),
        });
        Ok(dice.collect())
    }

    /// The points of the best selection of this roll; 0 is a farkle.
    async fn max_points(&self) -> Long {
        Long(self.rolled.max_points)
    }

    /// After hot dice: the points of the completed hand, now part of the round score. Null
    /// otherwise.
    async fn folded_points(&self) -> Option<Long> {
        self.rolled.folded.map(Long)
    }

    /// The draws of colours, in the order in which the colours are tried.
    async fn colour_draws(&self) -> Vec<ColourDrawView> {
        let draws = self.rolled.colours.iter().flat_map(|drawn| &drawn.draws);
        let view = |drawn: &domain::ColourDraw| ColourDrawView {
            colour: drawn.code.into(),
            draw: draw(drawn.draw, &drawn.raw),
        };
        draws.map(view).collect()
    }
}

event_type! {
    /// Dice were scored.
    SavedEvent { saved: Saved, }

    /// The seat.
    async fn seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.saved.seat).await
    }

    /// The slots of the dice scored.
    async fn slots(&self) -> Vec<i32> {
        ints(self.saved.slots.iter())
    }

    /// The combinations scored, largest first.
    async fn combinations(&self) -> Vec<CombinationView> {
        self.saved.combinations.iter().map(Into::into).collect()
    }

    /// The points that special dice added to the combinations.
    async fn bonuses(&self) -> Vec<BoostView> {
        self.saved.bonuses.iter().map(Into::into).collect()
    }

    /// The factor applied to the combinations.
    async fn multiplier(&self) -> Long {
        Long(self.saved.multiplier)
    }

    /// The points of this save.
    async fn points(&self) -> Long {
        Long(self.saved.points)
    }

    /// The points of the hand so far, including this save.
    async fn turn_score(&self) -> Long {
        Long(self.saved.turn_score)
    }

    /// The slots of the dice left in hand.
    async fn slots_left(&self) -> Vec<i32> {
        ints(self.saved.left.iter())
    }

    /// Farkle: whether no die is left in hand, so that all dice can be rolled again.
    async fn hot_dice(&self, ctx: &Context<'_>) -> async_graphql::Result<bool> {
        Ok(self.base.table(ctx).await?.ruleset.rules.is_hot(&self.saved))
    }
}

event_type! {
    /// A rule, a die or an item changed something.
    EffectAppliedEvent { effect: EffectApplied, }

    /// The seat.
    async fn seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.effect.seat).await
    }

    /// What caused it.
    async fn source(&self, ctx: &Context<'_>) -> async_graphql::Result<EffectSourceView> {
        let table = self.base.table(ctx).await?;
        Ok(EffectSourceView { source: self.effect.source, table })
    }

    /// What changed.
    async fn changes(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<ChangeView>> {
        let table = self.base.table(ctx).await?;
        Ok(self.effect.changes.iter().map(|change| ChangeView::new(change, &table)).collect())
    }
}

/// What caused an effect.
#[derive(Clone, Debug)]
struct EffectSourceView {
    source: EffectSource,
    table: Table,
}

/// What caused an effect.
#[Object(name = "EffectSource")]
impl EffectSourceView {
    /// The name of a rule (`farkle_penalty`, `overshoot` …), the use of an item (`bought`, `used`,
    /// `item`, `evolved`, `ability`), or `die`.
    async fn name(&self) -> String {
        match self.source {
            EffectSource::Rule(name) | EffectSource::Item(name, _) => name.to_string(),
            EffectSource::Die(_) => "die".to_owned(),
        }
    }

    /// The special die. Null if the cause is not a die.
    async fn die(&self) -> Option<DieAtView> {
        if let EffectSource::Die(die) = self.source { Some(die.into()) } else { None }
    }

    /// The item. Null if the cause is not an item.
    async fn item(&self) -> Option<CatalogItem> {
        let EffectSource::Item(_, code) = self.source else { return None };
        CatalogItem::find(&self.table.ruleset.rules, code)
    }

    /// The label to show.
    async fn label(&self) -> String {
        self.table.source_label(self.source)
    }
}

/// A special die in its slot.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "DieAt")]
pub(in crate::api) struct DieAtView {
    /// The slot, from 0.
    slot: i32,
    /// The code of the die.
    code: DieCode,
}

impl From<DieAt> for DieAtView {
    fn from(die: DieAt) -> Self {
        Self { slot: die.slot.into(), code: die.code.into() }
    }
}

/// A value before and after. Booleans are 1 and 0.
#[derive(Clone, Debug, SimpleObject)]
#[graphql(name = "Change")]
struct ChangeView {
    /// The name of the value: `game_score`, `hot_streak`, `energy`, `held` …; docs/events.md lists
    /// all of them.
    measure: String,
    /// The item that the value belongs to. Null if it does not belong to an item.
    item: Option<ItemCode>,
    /// The slot of the die that the value belongs to. Null if it does not belong to a die.
    slot: Option<i32>,
    /// The value before.
    before: Long,
    /// The value after.
    after: Long,
    /// The label of the value.
    label: String,
}

impl ChangeView {
    fn new(change: &Change, table: &Table) -> Self {
        let (name, item, slot) = match change.what {
            Measure::Value(name) => (name, None, None),
            Measure::OfItem(name, item) => (name, Some(item), None),
            Measure::OfDie(name, slot) => (name, None, Some(slot)),
        };
        Self {
            measure: name.to_string(),
            item: item.map(ItemCode::from),
            slot: slot.map(i32::from),
            before: Long(change.before),
            after: Long(change.after),
            label: table.measure_label(change.what),
        }
    }
}

event_type! {
    /// A player earned money.
    MoneyAwardedEvent { seat: SeatNo, amount: Dollars, why: AwardedFor, }

    /// The seat.
    async fn seat(&self, ctx: &Context<'_>) -> async_graphql::Result<Seat> {
        self.base.seat(ctx, self.seat).await
    }

    /// The amount in dollars.
    async fn amount(&self) -> i32 {
        int(self.amount)
    }

    /// Why the money was awarded.
    async fn reason(&self) -> AwardReason {
        self.why.into()
    }

    /// The special die that earned it. Null if none did.
    async fn die(&self) -> Option<DieAtView> {
        if let AwardedFor::Die(die) = self.why { Some(die.into()) } else { None }
    }
}

event_type! {
    /// An item was drawn at random: a card of the market or a grant.
    ItemDrawnEvent { drawn: Drawn, }

    /// The random value of the draw.
    async fn draw(&self) -> DrawView {
        draw(self.drawn.draw, &[self.drawn.raw])
    }

    /// What was drawn: the code of an item, or `heads` or `tails` of a coin.
    async fn code(&self) -> ItemCode {
        self.drawn.item.into()
    }

    /// The item; null for a coin.
    async fn item(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<CatalogItem>> {
        let table = self.base.table(ctx).await?;
        Ok(CatalogItem::find(&table.ruleset.rules, self.drawn.item))
    }

    /// The position in the market. Null if the item is not there.
    async fn market_position(&self) -> Option<i32> {
        self.drawn.place.map(i32::from)
    }
}

impl From<Code> for DieCode {
    fn from(code: Code) -> Self {
        Self(code.to_string())
    }
}
