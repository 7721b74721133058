//! Wallets and inventories: valid and invalid commands, and the consistency of the ledger.

use std::collections::{BTreeMap, BTreeSet};

use domain::{
    Account, AccountCommand, AccountEvent, AwardedFor, BadText, Dollars, Entry, Event, GameId,
    Moment, Name, PlayerId, Rejection, Sanction, decide_account,
    special_dice::{Catalogue, Code, DieAt},
};
use test_games::Numbers;
use uuid::Uuid;

const OWNER: PlayerId = PlayerId(Uuid::from_u128(7));

/// Limits: dice per purchase or sale, dice of a kind, stored loadouts.
const AT_ONCE: u32 = 1_000;
const OWNED: u32 = 1_000_000;
const LOADOUTS: usize = 50;

/// An account, its log and the catalogue of the shop.
#[derive(Clone, Debug)]
struct Purse {
    account: Option<Account>,
    log: Vec<AccountEvent>,
    catalogue: Catalogue,
}

impl Purse {
    fn none() -> Self {
        Self { account: None, log: Vec::new(), catalogue: Catalogue::builtin() }
    }

    /// A wallet with this balance, and no dice.
    fn with(grant: Dollars) -> Self {
        let mut purse = Self::none();
        purse.execute(&open(grant)).unwrap();
        purse
    }

    /// Decides and records a command.
    fn execute(&mut self, command: &AccountCommand) -> Result<Vec<AccountEvent>, Rejection> {
        let events = decide_account(self.account.as_ref(), command, &self.catalogue)?;
        for event in &events {
            self.account = Some(Account::evolve(self.account.take(), event));
        }
        self.log.extend_from_slice(&events);
        Ok(events)
    }

    /// Runs a command and returns its only event.
    #[track_caller]
    fn one(&mut self, command: &AccountCommand) -> AccountEvent {
        let mut events = self.execute(command).unwrap();
        assert_eq!(events.len(), 1, "{events:?}");
        events.remove(0)
    }

    /// Asserts that a command is rejected for this reason and changes nothing.
    #[track_caller]
    fn refuses(&mut self, command: &AccountCommand, why: Rejection) {
        let before = self.account.clone();
        assert_eq!(self.execute(command), Err(why), "{command:?}");
        assert_eq!(self.account, before);
    }

    fn account(&self) -> &Account {
        self.account.as_ref().unwrap()
    }

    fn balance(&self) -> Dollars {
        self.account().balance
    }

    fn owned(&self, name: &str) -> u32 {
        self.account().owned(code(name))
    }

    fn locked(&self, name: &str) -> u32 {
        self.account().locked(code(name))
    }

    fn price(&mut self, name: &str, price: Dollars) {
        self.kind(name).price = price;
    }

    fn kind(&mut self, name: &str) -> &mut domain::special_dice::DieKind {
        self.catalogue.dice.iter_mut().find(|die| die.code.as_str() == name).unwrap()
    }
}

fn code(name: &str) -> Code {
    name.parse().unwrap()
}

fn codes(names: &[&str]) -> Vec<Code> {
    names.iter().map(|name| code(name)).collect()
}

fn game(number: u8) -> GameId {
    GameId(Uuid::from_u128(number.into()))
}

fn open(grant: Dollars) -> AccountCommand {
    AccountCommand::Open { account: OWNER, grant }
}

fn buy(code: &str, quantity: i64) -> AccountCommand {
    AccountCommand::Buy { code: code.to_owned(), quantity }
}

fn sell(code: &str, quantity: i64) -> AccountCommand {
    AccountCommand::Sell { code: code.to_owned(), quantity }
}

fn credit(amount: Dollars) -> AccountCommand {
    AccountCommand::Credit { game: game(1), event: 9, why: AwardedFor::Finishing, amount }
}

fn store(name: &str, dice: &[&str]) -> AccountCommand {
    let dice = dice.iter().map(|&die| die.to_owned()).collect();
    AccountCommand::StoreLoadout { name: name.to_owned(), dice }
}

fn forget(name: &str) -> AccountCommand {
    AccountCommand::DropLoadout { name: name.to_owned() }
}

fn settle(number: u8, dice: &[&str]) -> AccountCommand {
    AccountCommand::Settle { game: game(number), dice: codes(dice) }
}

fn lock(number: u8, dice: &[&str]) -> AccountCommand {
    AccountCommand::Lock { game: game(number), dice: codes(dice) }
}

fn release(number: u8) -> AccountCommand {
    AccountCommand::Release { game: game(number) }
}

fn not_owned(name: &str, owned: u32, wanted: u32) -> Rejection {
    Rejection::NotOwned { code: code(name), owned, wanted }
}

fn die_locked(name: &str, owned: u32, locked: u32) -> Rejection {
    Rejection::DieLocked { code: code(name), owned, locked }
}

#[test]
fn a_wallet_opens_with_a_grant() {
    let mut purse = Purse::none();
    let opened = purse.one(&open(10));
    assert_eq!(opened, AccountEvent::WalletOpened { account: OWNER, amount: 10, balance: 10 });
    let account = purse.account();
    assert_eq!((account.version, account.balance), (1, 10));
    assert!(account.dice.is_empty() && account.equipped.is_empty() && account.loadouts.is_empty());
    purse.refuses(&open(10), Rejection::WalletExists);
}

#[test]
fn other_commands_need_a_wallet() {
    let commands = [
        buy("LUCKY", 1),
        sell("LUCKY", 1),
        credit(3),
        store("mine", &["LUCKY"]),
        forget("mine"),
        lock(1, &[]),
        release(1),
    ];
    for command in commands {
        Purse::none().refuses(&command, Rejection::NoWallet);
    }
}

#[test]
fn a_die_costs_its_price() {
    let mut purse = Purse::with(10);
    let bought = purse.one(&buy("PHOENIX", 1));
    let expected = AccountEvent::DieBought {
        code: code("PHOENIX"),
        quantity: 1,
        price: 6,
        catalogue: 1,
        amount: 6,
        balance: 4,
    };
    assert_eq!(bought, expected);
    assert_eq!((purse.balance(), purse.owned("PHOENIX"), purse.owned("LUCKY")), (4, 1, 0));
}

#[test]
fn every_die_costs_its_catalogue_price() {
    let prices = [
        ("PHOENIX", 6),
        ("BADLUCK", 7),
        ("FARK$", 3),
        ("GAMBLE", 12),
        ("DARE", 5),
        ("CUSHION", 3),
        ("CHUTE", 12),
        ("LUCKY", 2),
        ("HEAVY", 2),
        ("FIVES", 4),
        ("DOUBLE", 10),
        ("MIDAS", 6),
        ("HOT", 5),
        ("JACKPOT", 12),
        ("TRIPLE", 15),
        ("THREE", 5),
    ];
    for (name, price) in prices {
        let mut purse = Purse::with(100);
        purse.one(&buy(name, 1));
        assert_eq!(purse.balance(), 100 - price, "{name}");
        purse.one(&sell(name, 1));
        assert_eq!(purse.balance(), 100 - price + price / 2, "{name}");
    }
}

#[test]
fn several_dice_are_bought_at_once_and_one_after_the_other() {
    let mut purse = Purse::with(20);
    purse.one(&buy("FIVES", 3));
    assert_eq!((purse.balance(), purse.owned("FIVES")), (8, 3));
    purse.one(&buy("FIVES", 1));
    purse.one(&buy("HEAVY", 2));
    assert_eq!((purse.balance(), purse.owned("FIVES"), purse.owned("HEAVY")), (0, 4, 2));
}

#[test]
fn a_purchase_may_empty_the_wallet() {
    let mut purse = Purse::with(12);
    purse.one(&buy("PHOENIX", 2));
    assert_eq!((purse.balance(), purse.owned("PHOENIX")), (0, 2));
    let short = Rejection::NotEnoughMoney { cost: 12, balance: 11 };
    assert_eq!(short.to_string(), "that costs $12, and there are $11 in your wallet");
    Purse::with(11).refuses(&buy("PHOENIX", 2), short);
    purse.refuses(&buy("LUCKY", 1), Rejection::NotEnoughMoney { cost: 2, balance: 0 });
}

/// A sum beyond the range of money is reported correctly: it does not wrap around.
#[test]
fn a_purchase_does_not_overflow() {
    let mut purse = Purse::with(Dollars::MAX);
    purse.price("LUCKY", Dollars::MAX);
    let (balance, price) = (Dollars::MAX, u64::from(Dollars::MAX));
    purse.refuses(&buy("LUCKY", 2), Rejection::NotEnoughMoney { cost: 2 * price, balance });
    let cost = u64::from(AT_ONCE) * price;
    purse.refuses(&buy("LUCKY", AT_ONCE.into()), Rejection::NotEnoughMoney { cost, balance });
    purse.one(&buy("LUCKY", 1));
    assert_eq!(purse.balance(), 0);
}

/// Half of each price is rounded down, not half of the sum: three dice of $3 sell for $3, not $4.
#[test]
fn a_die_sells_for_half_its_price_rounded_down() {
    let mut purse = Purse::with(9);
    purse.one(&buy("FARK$", 3));
    let sold = purse.one(&sell("FARK$", 3));
    let expected = AccountEvent::DieSold {
        code: code("FARK$"),
        quantity: 3,
        price: 1,
        catalogue: 1,
        amount: 3,
        balance: 3,
    };
    assert_eq!(sold, expected);
    assert_eq!((purse.balance(), purse.owned("FARK$")), (3, 0));
    assert!(purse.account().dice.is_empty(), "what is not owned is not listed");
}

/// The current price applies, and the event has the version of the catalogue with that price.
#[test]
fn a_die_sells_at_the_current_price() {
    let mut purse = Purse::with(10);
    purse.one(&buy("FIVES", 2));
    purse.catalogue.version = 2;
    purse.price("FIVES", 101);
    let sold = purse.one(&sell("FIVES", 1));
    let AccountEvent::DieSold { price, catalogue, amount, balance, .. } = sold else {
        panic!("{sold:?}");
    };
    assert_eq!((price, catalogue, amount, balance), (50, 2, 50, 52));
    // Half of a dollar rounds down to nothing, and the die is sold anyway.
    purse.price("FIVES", 1);
    purse.one(&sell("FIVES", 1));
    assert_eq!((purse.balance(), purse.owned("FIVES")), (52, 0));
}

#[test]
fn only_owned_dice_can_be_sold() {
    let mut purse = Purse::with(10);
    purse.refuses(&sell("LUCKY", 1), not_owned("LUCKY", 0, 1));
    purse.one(&buy("LUCKY", 2));
    purse.refuses(&sell("LUCKY", 3), not_owned("LUCKY", 2, 3));
    purse.refuses(&sell("HEAVY", 1), not_owned("HEAVY", 0, 1));
    purse.one(&sell("LUCKY", 2));
    purse.refuses(&sell("LUCKY", 1), not_owned("LUCKY", 0, 1));
}

#[test]
fn a_retired_die_can_be_sold_but_not_bought() {
    let mut purse = Purse::with(20);
    purse.one(&buy("PHOENIX", 2));
    purse.kind("PHOENIX").retired = true;
    purse.refuses(&buy("PHOENIX", 1), Rejection::RetiredDie { code: code("PHOENIX") });
    purse.one(&sell("PHOENIX", 1));
    assert_eq!((purse.balance(), purse.owned("PHOENIX")), (11, 1));
    purse.kind("PHOENIX").retired = false;
    purse.one(&buy("PHOENIX", 1));
    assert_eq!((purse.balance(), purse.owned("PHOENIX")), (5, 2));
}

/// The standard die is not for sale either: everybody has it.
#[test]
fn unknown_dice() {
    let mut purse = Purse::with(10);
    let long = "X".repeat(1_000);
    let names = ["NOPE", "phoenix", "", " LUCKY", "LÜCKY", &long];
    let traded = names.iter().chain(&["STANDARD"]).flat_map(|&n| [(n, buy(n, 1)), (n, sell(n, 1))]);
    let stored = names.iter().map(|&name| (name, store("mine", &["LUCKY", name])));
    for (name, command) in traded.chain(stored) {
        let answer = purse.execute(&command).unwrap_err();
        let Rejection::UnknownDie { code, known } = &answer else { panic!("{answer:?}") };
        assert_eq!(*code, name.chars().take(40).collect::<String>());
        assert!(known.starts_with("STANDARD, PHOENIX, ") && known.ends_with(", THREE"), "{known}");
        assert_eq!(purse.log.len(), 1);
    }
}

#[test]
fn quantities() {
    let mut purse = Purse::with(Dollars::MAX);
    let most = AT_ONCE;
    for quantity in [0, -1, i64::MIN, i64::MAX, i64::from(most) + 1, 1 << 32, (1 << 32) + 1] {
        let bad = Rejection::BadQuantity { quantity, most };
        purse.refuses(&buy("LUCKY", quantity), bad.clone());
        purse.refuses(&sell("LUCKY", quantity), bad);
    }
    purse.one(&buy("LUCKY", most.into()));
    assert_eq!((purse.owned("LUCKY"), purse.balance()), (most, Dollars::MAX - 2 * most));
    purse.one(&sell("LUCKY", most.into()));
    assert_eq!((purse.owned("LUCKY"), purse.balance()), (0, Dollars::MAX - most));
}

#[test]
fn nobody_owns_more_than_a_million_of_a_kind() {
    let mut purse = Purse::with(Dollars::MAX);
    for _ in 0..OWNED / AT_ONCE {
        purse.one(&buy("LUCKY", AT_ONCE.into()));
    }
    assert_eq!(purse.owned("LUCKY"), OWNED);
    let full = Rejection::TooManyOwned { code: code("LUCKY"), most: OWNED };
    purse.refuses(&buy("LUCKY", 1), full.clone());
    purse.one(&buy("HEAVY", 1));
    purse.one(&sell("LUCKY", 1));
    purse.refuses(&buy("LUCKY", 2), full);
    purse.one(&buy("LUCKY", 1));
}

/// An amount that would overflow the wallet is rejected as a whole.
#[test]
fn a_full_wallet() {
    let mut purse = Purse::with(10);
    purse.one(&buy("LUCKY", 1));
    purse.one(&credit(Dollars::MAX - 8));
    assert_eq!(purse.balance(), Dollars::MAX);
    purse.refuses(&credit(1), Rejection::WalletFull);
    purse.refuses(&credit(Dollars::MAX), Rejection::WalletFull);
    purse.refuses(&sell("LUCKY", 1), Rejection::WalletFull);
    purse.one(&buy("LUCKY", 1));
    purse.one(&sell("LUCKY", 2));
    assert_eq!(purse.balance(), Dollars::MAX);
}

#[test]
fn a_sale_does_not_overflow() {
    let mut purse = Purse::with(10);
    purse.one(&buy("LUCKY", 3));
    purse.price("LUCKY", Dollars::MAX);
    for quantity in [2, 3] {
        purse.refuses(&sell("LUCKY", quantity), Rejection::WalletFull);
    }
    purse.one(&sell("LUCKY", 1));
    assert_eq!(purse.balance(), 4 + Dollars::MAX / 2);
    assert_eq!(purse.owned("LUCKY"), 2);
}

/// Every entry has an amount, a reason and the new balance.
#[test]
fn ledger_entries() {
    let mut purse = Purse::with(10);
    purse.one(&buy("LUCKY", 2));
    purse.one(&sell("LUCKY", 1));
    let die = DieAt { slot: 3, code: code("MIDAS") };
    let earned = [(AwardedFor::Finishing, 3), (AwardedFor::Winning, 5), (AwardedFor::Die(die), 2)];
    for ((why, amount), event) in earned.into_iter().zip(20..) {
        let credit = AccountCommand::Credit { game: game(1), event, why, amount };
        let balance = purse.balance() + amount;
        let credited = AccountEvent::MoneyCredited { game: game(1), event, why, amount, balance };
        assert_eq!(purse.one(&credit), credited);
    }
    let line = |change, balance, reason| Entry { change, balance, reason, code: None, game: None };
    let of = |name, entry| Entry { code: Some(code(name)), ..entry };
    let from = |event, entry| Entry { game: Some((game(1), event)), ..entry };
    let expected = [
        line(10, 10, "opening"),
        of("LUCKY", line(-4, 6, "purchase")),
        of("LUCKY", line(1, 7, "sale")),
        from(20, line(3, 10, "finishing")),
        from(21, line(5, 15, "winning")),
        of("MIDAS", from(22, line(2, 17, "die"))),
    ];
    let ledger: Vec<Entry> = purse.log.iter().filter_map(AccountEvent::entry).collect();
    assert_eq!(ledger, expected);
}

#[test]
fn only_money_is_in_the_ledger() {
    let mut purse = Purse::with(10);
    purse.one(&buy("LUCKY", 1));
    for command in [store("mine", &["LUCKY"]), forget("mine"), lock(1, &["LUCKY"]), release(1)] {
        assert_eq!(purse.one(&command).entry(), None);
        assert_eq!(purse.balance(), 8);
    }
}

/// A loadout has six slots; slots that are not given have standard dice. It can contain dice that
/// are not owned yet.
#[test]
fn loadouts_are_stored_and_replaced_and_dropped() {
    let mut purse = Purse::with(10);
    let mine = Name::parse("mine").unwrap();
    let stored = purse.one(&store("mine", &["LUCKY", "STANDARD", "TRIPLE"]));
    let dice = codes(&["LUCKY", "STANDARD", "TRIPLE", "STANDARD", "STANDARD", "STANDARD"]);
    assert_eq!(stored, AccountEvent::LoadoutStored { name: mine.clone(), dice: dice.clone() });
    assert_eq!(purse.account().loadouts, BTreeMap::from([(mine.clone(), dice)]));
    // Names are trimmed.
    purse.one(&store("  mine ", &["HEAVY"; 6]));
    let heavy = codes(&["HEAVY"; 6]);
    assert_eq!(purse.account().loadouts, BTreeMap::from([(mine.clone(), heavy)]));
    purse.one(&store("other", &[]));
    let dropped = purse.one(&forget(" mine"));
    assert_eq!(dropped, AccountEvent::LoadoutDropped { name: mine });
    let other = Name::parse("other").unwrap();
    let ordinary = vec![Code::STANDARD; 6];
    assert_eq!(purse.account().loadouts, BTreeMap::from([(other, ordinary)]));
    assert_eq!((purse.balance(), purse.account().dice.len()), (10, 0));
}

#[test]
fn invalid_loadouts() {
    let mut purse = Purse::with(10);
    let too_many = Rejection::TooManyDice { dice: 7, slots: 6 };
    purse.refuses(&store("mine", &["LUCKY"; 7]), too_many.clone());
    purse.refuses(&store("mine", &["STANDARD"; 7]), too_many);
    let bad_names = [
        ("", BadText::Empty),
        ("   ", BadText::Empty),
        ("a\nb", BadText::Invisible('\n')),
        ("a\u{202E}b", BadText::Invisible('\u{202E}')),
    ];
    for (name, why) in bad_names {
        purse.refuses(&store(name, &["LUCKY"]), Rejection::BadName { why });
    }
    let long = "n".repeat(33);
    let why = BadText::TooLong { length: 33, most: 32, unit: "characters" };
    purse.refuses(&store(&long, &["LUCKY"]), Rejection::BadName { why });
    for name in ["mine", "", &long] {
        let none = Rejection::NoSuchLoadout { name: name.to_owned() };
        purse.refuses(&forget(name), none);
    }
}

/// At the maximum number, loadouts can still be changed.
#[test]
fn at_most_fifty_loadouts() {
    let mut purse = Purse::with(10);
    for number in 0..LOADOUTS {
        purse.one(&store(&format!("loadout {number}"), &["LUCKY"]));
    }
    let full = Rejection::TooManyLoadouts { most: LOADOUTS };
    purse.refuses(&store("one more", &["LUCKY"]), full);
    purse.one(&store("loadout 7", &["HEAVY"]));
    assert_eq!(purse.account().loadouts.len(), LOADOUTS);
    purse.one(&forget("loadout 7"));
    purse.one(&store("one more", &["LUCKY"]));
    assert_eq!(purse.account().loadouts.len(), LOADOUTS);
}

#[test]
fn only_owned_dice_can_be_equipped() {
    let mut purse = Purse::with(20);
    purse.one(&buy("LUCKY", 2));
    purse.refuses(&lock(1, &["LUCKY"; 3]), not_owned("LUCKY", 2, 3));
    purse.refuses(&lock(1, &["LUCKY", "HEAVY"]), not_owned("HEAVY", 0, 1));
    let dice = ["LUCKY", "STANDARD", "LUCKY", "STANDARD", "STANDARD", "STANDARD"];
    let locked = purse.one(&lock(1, &dice));
    let dice = codes(&["LUCKY", "LUCKY"]);
    assert_eq!(locked, AccountEvent::DiceLocked { game: game(1), dice });
    assert_eq!((purse.locked("LUCKY"), purse.owned("LUCKY"), purse.balance()), (2, 2, 16));
    assert_eq!(purse.locked("STANDARD"), 0, "ordinary dice are nobody's");
    purse.refuses(&lock(1, &["LUCKY"; 3]), not_owned("LUCKY", 2, 3));
    assert_eq!(purse.locked("LUCKY"), 2, "what was equipped stays equipped");
}

#[test]
fn dice_stay_locked_until_settled() {
    let mut purse = Purse::with(20);
    purse.one(&buy("LUCKY", 2));
    purse.one(&buy("HEAVY", 1));
    purse.one(&lock(1, &["LUCKY", "LUCKY"]));
    purse.one(&lock(1, &["HEAVY", "LUCKY"]));
    assert_eq!((purse.locked("LUCKY"), purse.locked("HEAVY")), (2, 1));
    purse.refuses(&sell("LUCKY", 1), die_locked("LUCKY", 2, 2));
    purse.one(&settle(1, &["HEAVY", "LUCKY"]));
    assert_eq!((purse.locked("LUCKY"), purse.locked("HEAVY")), (1, 1));
    purse.one(&sell("LUCKY", 1));
    purse.refuses(&sell("LUCKY", 1), die_locked("LUCKY", 1, 1));
    purse.refuses(&settle(1, &["LUCKY", "LUCKY"]), not_owned("LUCKY", 1, 2));
    purse.one(&settle(1, &["STANDARD"; 6]));
    assert_eq!((purse.locked("LUCKY"), purse.locked("HEAVY")), (0, 0));
    purse.one(&sell("LUCKY", 1));
}

/// A die can be used in several unfinished games: the game that needs most of a kind determines how
/// many are locked.
#[test]
fn one_die_in_two_games() {
    let mut purse = Purse::with(20);
    purse.one(&buy("LUCKY", 3));
    purse.one(&lock(1, &["LUCKY"]));
    purse.one(&lock(2, &["LUCKY", "LUCKY"]));
    assert_eq!(purse.locked("LUCKY"), 2);
    purse.refuses(&sell("LUCKY", 2), die_locked("LUCKY", 3, 2));
    purse.one(&sell("LUCKY", 1));
    purse.refuses(&sell("LUCKY", 1), die_locked("LUCKY", 2, 2));
    purse.one(&release(2));
    assert_eq!(purse.locked("LUCKY"), 1);
    purse.one(&sell("LUCKY", 1));
    purse.refuses(&sell("LUCKY", 1), die_locked("LUCKY", 1, 1));
    assert_eq!(purse.one(&release(1)), AccountEvent::DiceReleased { game: game(1) });
    purse.one(&sell("LUCKY", 1));
    assert_eq!(purse.owned("LUCKY"), 0);
    assert!(purse.account().equipped.is_empty());
}

#[test]
fn only_equipped_dice_can_be_released() {
    let mut purse = Purse::with(20);
    purse.refuses(&release(1), Rejection::NothingLocked);
    purse.one(&buy("LUCKY", 1));
    purse.one(&lock(1, &["LUCKY"]));
    purse.refuses(&release(2), Rejection::NothingLocked);
    purse.one(&release(1));
    purse.refuses(&release(1), Rejection::NothingLocked);
}

/// The maximum is two hundred unfinished games with own dice.
#[test]
fn at_most_two_hundred_games_with_dice() {
    let mut purse = Purse::with(20);
    purse.one(&buy("LUCKY", 1));
    for number in 1..=200 {
        purse.one(&lock(number, &["LUCKY"]));
    }
    purse.refuses(&lock(201, &["LUCKY"]), Rejection::TooManyGames { most: 200 });
    purse.one(&lock(7, &["LUCKY"]));
    purse.one(&release(7));
    purse.one(&lock(201, &["LUCKY"]));
}

/// The check of the owned number comes before that of locked dice.
#[test]
fn not_owned_is_reported_before_locked() {
    let mut purse = Purse::with(20);
    purse.one(&buy("LUCKY", 2));
    purse.one(&lock(1, &["LUCKY"]));
    purse.refuses(&sell("LUCKY", 3), not_owned("LUCKY", 2, 3));
    purse.refuses(&sell("LUCKY", 2), die_locked("LUCKY", 2, 1));
}

/// A voided game earns nothing; money already spent is not owed.
#[test]
fn awards_of_a_voided_game_are_reversed() {
    let mut purse = Purse::with(3);
    purse.one(&credit(5));
    let reverse = |amount| AccountCommand::Reverse { game: game(1), event: 40, amount };
    let taken = |amount, missing, balance| AccountEvent::MoneyReversed {
        game: game(1),
        event: 40,
        amount,
        missing,
        balance,
    };
    assert_eq!(purse.one(&reverse(5)), taken(5, 0, 3));
    assert_eq!(purse.one(&reverse(5)), taken(3, 2, 0));
    let entry = purse.log.last().unwrap().entry().unwrap();
    assert_eq!((entry.change, entry.balance, entry.reason), (-3, 0, "reversal"));
    Purse::none().refuses(&reverse(1), Rejection::NoWallet);
}

/// The total is the price of dice bought, less the price of dice sold.
#[test]
fn total_spent() {
    let mut purse = Purse::with(100);
    let price = i64::from(purse.catalogue.named("LUCKY").unwrap().price);
    purse.one(&buy("LUCKY", 3));
    assert_eq!(purse.account().spent, 3 * price);
    purse.one(&sell("LUCKY", 1));
    assert_eq!(purse.account().spent, 3 * price - price / 2);
}

/// Random commands.
struct RandomCommands(Numbers);

impl RandomCommands {
    fn game(&mut self) -> GameId {
        game(self.0.one_of(&[1, 2, 3]))
    }

    /// Few kinds, so that they repeat; among them a retired one and an unknown one.
    fn name(&mut self) -> &'static str {
        self.0.one_of(&["LUCKY", "LUCKY", "HEAVY", "FARK$", "FIVES", "TRIPLE", "CUSHION", "NOPE"])
    }

    fn quantity(&mut self) -> i64 {
        self.0.one_of(&[1, 1, 1, 2, 2, 3, 6, 1_000, 1_001, 0, -1, i64::MIN, i64::MAX])
    }

    fn why(&mut self) -> AwardedFor {
        let die = DieAt { slot: 0, code: code("MIDAS") };
        self.0.one_of(&[AwardedFor::Finishing, AwardedFor::Winning, AwardedFor::Die(die)])
    }

    fn dice(&mut self) -> Vec<String> {
        let any = |numbers: &mut Numbers| numbers.one_of(&["STANDARD", "LUCKY", "HEAVY", "FIVES"]);
        let mut dice: Vec<String> =
            (0..self.0.below(4)).map(|_| any(&mut self.0).to_owned()).collect();
        match self.0.below(12) {
            0 => dice.push("NOPE".to_owned()),
            1 => dice.resize(7, "STANDARD".to_owned()),
            _ => {}
        }
        dice
    }

    fn command(&mut self) -> AccountCommand {
        let name = self.0.one_of(&["a", "b", "c", "", "a\u{7}"]).to_owned();
        match self.0.below(22) {
            0 => open(self.0.below(40)),
            1..=6 => buy(self.name(), self.quantity()),
            7..=10 => sell(self.name(), self.quantity()),
            11..=13 => {
                let amount = self.0.one_of(&[1, 2, 3, 5, 30, 3_000, Dollars::MAX - 100]);
                let (game, event, why) = (self.game(), self.0.below(99).into(), self.why());
                AccountCommand::Credit { game, event, why, amount }
            }
            14 => AccountCommand::StoreLoadout { name, dice: self.dice() },
            15 => AccountCommand::DropLoadout { name },
            16..=18 => {
                let dice = self.dice();
                let dice = dice.iter().filter_map(|die| die.parse().ok()).take(6).collect();
                match self.0.below(3) {
                    0 => AccountCommand::Settle { game: self.game(), dice },
                    _ => AccountCommand::Lock { game: self.game(), dice },
                }
            }
            19 if self.0.below(2) == 0 => {
                let amount = self.0.one_of(&[1, 2, 5, 3_000]);
                AccountCommand::Reverse { game: self.game(), event: 7, amount }
            }
            20 => {
                let change = self.0.one_of(&[-3_000, -5, -1, 1, 7, i64::MAX, i64::MIN]);
                AccountCommand::Adjust { change, dispute: Uuid::nil() }
            }
            21 => {
                let all = [
                    Sanction::Warning,
                    Sanction::Suspension(Moment(7)),
                    Sanction::Ban,
                    Sanction::Lifted,
                ];
                AccountCommand::Sanction { sanction: self.0.one_of(&all), dispute: Uuid::nil() }
            }
            _ => AccountCommand::Release { game: self.game() },
        }
    }

    /// Changes prices at random.
    fn catalogue(&mut self, catalogue: &mut Catalogue) {
        catalogue.version += 1;
        for die in &mut catalogue.dice {
            die.price = 1 + self.0.below(20);
            die.retired = die.code.as_str() == "CUSHION" && self.0.below(2) == 0;
        }
    }
}

/// The totals of the events of an account, in signed numbers.
#[derive(Default)]
struct Books {
    balance: i64,
    dice: BTreeMap<Code, i64>,
}

impl Books {
    fn write(&mut self, event: &AccountEvent, catalogue: &Catalogue) {
        if let Some(entry) = event.entry() {
            self.balance += entry.change;
            assert_eq!(i64::from(entry.balance), self.balance, "{event:?}");
            assert!(self.balance >= 0, "{event:?}");
        }
        if let AccountEvent::DieBought { code, quantity, price, catalogue: version, .. } = event {
            self.trade(event, *code, i64::from(*quantity), (*price).into());
            let die = catalogue.find(*code).unwrap();
            assert!(!die.retired && die.price == *price && catalogue.version == *version);
        }
        if let AccountEvent::DieSold { code, quantity, price, catalogue: version, .. } = event {
            self.trade(event, *code, -i64::from(*quantity), (*price).into());
            let die = catalogue.find(*code).unwrap();
            assert!(die.price / 2 == *price && catalogue.version == *version);
        }
    }

    /// A trade of this many dice, at this price each.
    fn trade(&mut self, event: &AccountEvent, code: Code, quantity: i64, price: i64) {
        assert_eq!(event.entry().map(|entry| entry.change), Some(-quantity * price), "{event:?}");
        let owned = self.dice.entry(code).or_default();
        *owned += quantity;
        assert!(*owned >= 0, "{event:?}");
        self.dice.retain(|_, owned| *owned > 0);
    }

    /// The account matches its events, and no game has more dice than are owned.
    fn check(&self, account: &Account) {
        assert_eq!(i64::from(account.balance), self.balance);
        let owned = account.dice.iter().map(|(code, owned)| (*code, i64::from(*owned)));
        assert_eq!(owned.collect::<BTreeMap<_, _>>(), self.dice);
        for (code, equipped) in account.equipped.values().flatten() {
            assert!(*equipped <= account.owned(*code), "{account:?}");
            assert!((*equipped..=account.owned(*code)).contains(&account.locked(*code)));
        }
    }
}

/// JSON round trips: of the state, of the events, and of the state folded from them.
fn check_json_round_trip(purse: &Purse) {
    let written = serde_json::to_string(&purse.account).unwrap();
    assert_eq!(serde_json::from_str::<Option<Account>>(&written).unwrap(), purse.account);
    let mut folded = None;
    for event in &purse.log {
        let written = serde_json::to_string(event).unwrap();
        let read: AccountEvent = serde_json::from_str(&written).unwrap();
        assert_eq!(read, *event);
        assert!(written.starts_with(&format!("{{\"{}\":", event.name())), "{written}");
        let event = Event::Account(read);
        let written = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&written).unwrap(), event);
        let Event::Account(read) = event else { panic!("{event:?}") };
        folded = Some(Account::evolve(folded, &read));
    }
    assert_eq!(folded, purse.account);
    let version = purse.account.as_ref().map_or(0, |account| account.version);
    assert_eq!(version, purse.log.len() as u64);
}

/// Whatever the commands, the balance is the sum of the ledger, nothing is negative, a rejection
/// changes nothing, and the account is the fold of its events.
#[test]
fn ledger_is_consistent_after_random_commands() {
    let mut chance = RandomCommands(Numbers(0x9E37_79B9_7F4A_7C15));
    let (mut events, mut refusals) = (BTreeSet::new(), BTreeSet::new());
    for _ in 0..3_000 {
        let (mut purse, mut books) = (Purse::none(), Books::default());
        for _ in 0..60 {
            if chance.0.below(12) == 0 {
                chance.catalogue(&mut purse.catalogue);
            }
            let (before, command) = (purse.clone(), chance.command());
            match purse.execute(&command) {
                Ok(happened) => {
                    events.extend(happened.iter().map(AccountEvent::name));
                    for event in &happened {
                        books.write(event, &purse.catalogue);
                    }
                }
                Err(refused) => {
                    refusals.insert(refused.code().name());
                    assert_eq!((&purse.account, &purse.log), (&before.account, &before.log));
                }
            }
            if let Some(account) = &purse.account {
                books.check(account);
            }
        }
        check_json_round_trip(&purse);
    }
    assert_eq!(events, BTreeSet::from(AccountEvent::NAMES));
    let expected = [
        "AlreadyBanned",
        "BadName",
        "BadQuantity",
        "DieLocked",
        "NoSuchLoadout",
        "NoWallet",
        "NotEnoughMoney",
        "NotOwned",
        "NotSanctioned",
        "NothingLocked",
        "RetiredDie",
        "TooManyDice",
        "UnknownDie",
        "WalletExists",
        "WalletFull",
    ];
    assert_eq!(refusals, BTreeSet::from(expected));
}
