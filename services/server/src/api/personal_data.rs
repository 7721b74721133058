//! Personal data of an account, typed, and as one JSON text for download.

use std::sync::Arc;

use async_graphql::{ComplexObject, Context, Enum, ID, SimpleObject};
use domain::Account;
use serde::Serialize;
use serde_json::json;
use store::{Loaded, Recorded};
use uuid::Uuid;

use super::{
    app,
    enums::AccountRole,
    errors::{account_error, fault, from_user_error},
    ids::Named,
    player::Player,
    scalars::DateTime,
    wallet::Wallet,
};
use crate::{
    accounts::{self, Personal},
    play::{AppError, ServiceCode, UserError, evidence},
    wallets::{LEDGER, account_event},
};

/// The maximum number of ledger entries in the export, newest first.
const MAX_ENTRIES: i64 = 10_000;

/// The personal data of an account. Each list has at most 10,000 items.
#[derive(Clone, Debug, SimpleObject, Serialize)]
#[graphql(complex)]
#[serde(rename_all = "camelCase")]
pub(super) struct PersonalData {
    #[graphql(skip)]
    id: ID,
    #[graphql(skip)]
    #[serde(skip)]
    account: Uuid,
    #[graphql(skip)]
    #[serde(skip)]
    state: Arc<Loaded<Account>>,
    /// The name.
    name: String,
    /// The pseudonym in the event log.
    pseudonym: String,
    /// The name to sign in with. Null for guests.
    sign_in_name: Option<String>,
    /// The role.
    role: AccountRole,
    /// Whether the account has a password.
    has_password: bool,
    /// When the account was created.
    created_at: DateTime,
    /// When the account was erased. Null if it was not.
    erased_at: Option<DateTime>,
    /// The sessions, oldest first.
    sessions: Vec<Session>,
    /// Addresses, clients and rejected commands that were recorded, oldest first.
    activity: Vec<RecordedActivity>,
    /// The texts that the player wrote in disputes, oldest first.
    dispute_texts: Vec<DisputeText>,
    /// The ids of the games that the player took part in.
    game_ids: Vec<ID>,
}

/// A session of an account.
#[derive(Clone, Debug, SimpleObject, Serialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    /// The id.
    id: Uuid,
    /// When it was started by signing in.
    created_at: DateTime,
    /// When it expires.
    expires_at: DateTime,
    /// When it was ended before it expired. Null if it was not.
    revoked_at: Option<DateTime>,
}

/// The kind of a recorded activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum, Serialize)]
#[graphql(remote = "evidence::Kind")]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum ActivityKind {
    /// A command was rejected.
    Refused,
    /// A command came from a session, address or client for the first time in the game.
    #[graphql(name = "NEW_ORIGIN")]
    #[serde(rename = "NEW_ORIGIN")]
    Seen,
    /// The player subscribed to the game.
    Connected,
    /// The player's subscription to the game ended.
    Disconnected,
}

/// What was recorded about a player in a game, as evidence for disputes.
#[derive(Clone, Debug, SimpleObject, Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordedActivity {
    /// The id of the game.
    game_id: ID,
    /// When it happened.
    at: DateTime,
    /// What happened.
    kind: ActivityKind,
    /// The IP address.
    address: String,
    /// The client, from the header `croupier-client` or `user-agent`.
    client: String,
    /// The rejected operation. Null if no command was rejected.
    operation: Option<String>,
    /// The error code of the rejection. Null if no command was rejected.
    code: Option<String>,
}

/// A text that a player wrote in a dispute.
#[derive(Clone, Debug, SimpleObject, Serialize)]
#[serde(rename_all = "camelCase")]
struct DisputeText {
    /// The id of the dispute.
    dispute_id: ID,
    /// The number of the text in the dispute.
    number: i32,
    /// When it was written.
    at: DateTime,
    /// The text.
    text: String,
}

/// A line of the ledger in the export.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LedgerLine {
    recorded_at: DateTime,
    reason: String,
    change: i64,
    balance: i64,
}

/// What is read on request.
#[ComplexObject]
impl PersonalData {
    /// The player.
    async fn player(&self) -> Player {
        Player::new(self.account)
    }

    /// The wallet with its ledger.
    async fn wallet(&self) -> Wallet {
        Wallet { account: self.account, state: Arc::clone(&self.state) }
    }

    /// Everything above with the wallet and its ledger as one JSON text, for download.
    async fn export(&self, ctx: &Context<'_>) -> async_graphql::Result<String> {
        let log = app(ctx).games.store.backwards(self.account, i64::MAX, &LEDGER, MAX_ENTRIES);
        let log = log.await.map_err(AppError::from)?;
        let ledger: Vec<LedgerLine> = log.iter().filter_map(line).collect();
        let wallet = self.state.aggregate.as_ref().map(wallet);
        let all = serde_json::to_value(self).and_then(|mut all| {
            all["wallet"] = json!(wallet);
            all["ledger"] = serde_json::to_value(ledger)?;
            serde_json::to_string_pretty(&all)
        });
        all.map_err(|error| fault(&error.to_string()))
    }
}

fn wallet(account: &Account) -> serde_json::Value {
    let dice = account.dice.iter();
    let dice = dice.map(|(code, quantity)| json!({ "code": code, "quantity": quantity }));
    let loadouts = account.loadouts.iter();
    let loadouts = loadouts.map(|(name, dice)| json!({ "name": name, "dice": dice }));
    json!({
        "balance": account.balance,
        "spent": account.spent,
        "dice": dice.collect::<Vec<_>>(),
        "loadouts": loadouts.collect::<Vec<_>>(),
        "warnings": account.warnings,
    })
}

fn line(recorded: &Recorded) -> Option<LedgerLine> {
    let entry = account_event(&recorded.event)?.entry()?;
    Some(LedgerLine {
        recorded_at: DateTime(recorded.at),
        reason: entry.reason.to_ascii_uppercase(),
        change: entry.change,
        balance: entry.balance.into(),
    })
}

impl PersonalData {
    /// The personal data of an account.
    pub(super) async fn find(ctx: &Context<'_>, account: Uuid) -> async_graphql::Result<Self> {
        app(ctx).database.check()?;
        let personal = app(ctx).accounts.personal(account).await.map_err(account_error)?;
        let missing =
            || from_user_error(&UserError::new(ServiceCode::NoSuchPlayer, "player not found"));
        let state = app(ctx).games.wallets.of(account).await?;
        Ok(Self::new(account, state, personal.ok_or_else(missing)?))
    }

    fn new(account: Uuid, state: Arc<Loaded<Account>>, personal: Personal) -> Self {
        let sessions = personal.sessions.into_iter().map(|session| Session {
            id: session.id,
            created_at: DateTime(session.created_at),
            expires_at: DateTime(session.expires_at),
            revoked_at: session.revoked_at.map(DateTime),
        });
        let activity = personal.activity.into_iter().map(|activity| RecordedActivity {
            game_id: Named::Game(activity.game).id(),
            at: DateTime(activity.at),
            kind: activity.kind.into(),
            address: activity.address,
            client: activity.client,
            operation: activity.operation,
            code: activity.code,
        });
        let texts = personal.texts.into_iter().map(|text| DisputeText {
            dispute_id: Named::Dispute(text.dispute).id(),
            number: text.number,
            at: DateTime(text.at),
            text: text.text,
        });
        Self {
            id: Named::Player(account).id(),
            account,
            state,
            name: personal.name,
            pseudonym: accounts::pseudonym(account),
            sign_in_name: personal.sign_in_name,
            role: personal.role.into(),
            has_password: personal.has_password,
            created_at: DateTime(personal.created_at),
            erased_at: personal.erased_at.map(DateTime),
            sessions: sessions.collect(),
            activity: activity.collect(),
            dispute_texts: texts.collect(),
            game_ids: personal.games.into_iter().map(|game| Named::Game(game).id()).collect(),
        }
    }
}
