//! Verifying a game through the API.

use async_graphql::{Enum, SimpleObject};
use domain::{Event, Proven, VerificationError, verify};
use store::{Hash, Store, bundle::Bundle};
use uuid::Uuid;

use super::scalars::int;
use crate::play::{AppError, UserError};

/// A step of the verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
enum VerificationStep {
    /// Every event contains the hash of the one before.
    Chain,
    /// The last event is covered by a signed seal.
    Seal,
    /// The revealed secret matches the commitment.
    Commitment,
    /// Every roll and draw follows from the secret and the seeds, and every event from the rules.
    Events,
}

/// One check of a verification.
#[derive(Clone, Debug, SimpleObject)]
struct VerificationCheck {
    /// The step.
    step: VerificationStep,
    /// Whether the check passed. Null if it could not be made.
    passed: Option<bool>,
    /// One-sentence description of the check and its result.
    detail: String,
    /// The expected value, if the check failed on one.
    expected: Option<String>,
    /// The value found instead.
    found: Option<String>,
}

/// The result of verifying a game. `croupier verify` makes the same checks on an exported game,
/// without a database, and so does `tests/fair_dice.py`, which shares no code with the server.
#[derive(Clone, Debug, SimpleObject)]
pub(super) struct Verification {
    /// Whether the game is proven: all checks passed, except that the seal may still be missing.
    proven: bool,
    /// The checks.
    checks: Vec<VerificationCheck>,
    /// The number of rolls reproduced from the secret and the seeds.
    rolls: i32,
    /// The number of events reproduced with the rules of the game.
    events: i32,
    /// Whether the last event is covered by a signed seal. A missing one follows when the
    /// house seals next.
    sealed: bool,
    /// The public key of the seal. Compare it with the key published elsewhere by the operator.
    seal_key: Option<String>,
    /// The first problem. Null if the game is proven.
    problem: Option<String>,
}

impl Verification {
    /// Reads a game from the log and verifies it.
    pub(super) async fn of(store: &Store, game: Uuid) -> Result<Self, AppError> {
        let bundle = Bundle::load(store, game).await?.ok_or_else(UserError::no_such_game)?;
        // A long game takes milliseconds: do not block other requests.
        let verified = tokio::task::spawn_blocking(move || Self::check_bundle(&bundle)).await;
        verified.map_err(|error| AppError::Fault(error.to_string()))
    }

    fn check_bundle(bundle: &Bundle) -> Self {
        let key = bundle.sealed.as_ref().map(|sealed| Hash(sealed.seal.key).to_string());
        let mut verification = Self {
            proven: false,
            checks: Vec::new(),
            rolls: 0,
            events: 0,
            sealed: key.is_some(),
            seal_key: key,
            problem: None,
        };
        let log = match bundle.check() {
            Ok(log) => log,
            Err(error) => {
                verification.fail(VerificationStep::Chain, error.to_string(), None);
                return verification;
            }
        };
        let events: Vec<Event> = log.into_iter().map(|recorded| recorded.event).collect();
        let chain = format!("{} events, each with the hash of the one before", events.len());
        verification.check(VerificationStep::Chain, Some(true), chain);
        if verification.sealed {
            let seal = "a signed seal covers the last event".to_owned();
            verification.check(VerificationStep::Seal, Some(true), seal);
        } else {
            let seal = "no seal covers the last event yet; one follows when the house seals next"
                .to_owned();
            verification.check(VerificationStep::Seal, None, seal);
        }
        verification.check_events(&events);
        verification
    }

    fn check_events(&mut self, events: &[Event]) {
        match verify(events) {
            Ok(Proven { rolls, events }) => {
                (self.proven, self.rolls, self.events) = (true, int(rolls), int(events));
                self.commitment_holds();
                let detail =
                    format!("{events} events and {rolls} rolls reproduced without differences");
                self.check(VerificationStep::Events, Some(true), detail);
            }
            Err(unproven @ (VerificationError::NoGame | VerificationError::NotRevealed)) => {
                let why = unproven.to_string();
                self.check(VerificationStep::Commitment, None, why.clone());
                self.problem = Some(why);
            }
            Err(VerificationError::Commitment) => {
                let why = VerificationError::Commitment.to_string();
                self.fail(VerificationStep::Commitment, why, None);
            }
            Err(
                unproven @ (VerificationError::Impossible { .. }
                | VerificationError::Differs { .. }),
            ) => {
                self.commitment_holds();
                let why = unproven.to_string();
                let values = if let VerificationError::Differs { expected, found, .. } = unproven {
                    Some((expected, found))
                } else {
                    None
                };
                self.fail(VerificationStep::Events, why, values);
            }
        }
    }

    fn commitment_holds(&mut self) {
        let detail = "the revealed secret matches the commitment".to_owned();
        self.check(VerificationStep::Commitment, Some(true), detail);
    }

    fn check(&mut self, step: VerificationStep, passed: Option<bool>, detail: String) {
        let (expected, found) = (None, None);
        self.checks.push(VerificationCheck { step, passed, detail, expected, found });
    }

    fn fail(&mut self, step: VerificationStep, why: String, values: Option<(String, String)>) {
        let (expected, found) = values.unzip();
        let detail = why.clone();
        self.checks.push(VerificationCheck { step, passed: Some(false), detail, expected, found });
        self.problem = Some(why);
    }
}
