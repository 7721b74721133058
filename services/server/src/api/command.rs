//! What all commands share.

use async_graphql::InputObject;
use uuid::Uuid;

use crate::play::Idempotency;

/// Makes a command safe to retry, and conditional.
#[derive(Clone, Copy, Debug, Default, InputObject)]
pub(super) struct CommandInput {
    /// Idempotency key: a retry with the same key returns the first result. Without a key, a retry
    /// is a new command.
    id: Option<Uuid>,
    /// Reject with `STALE_VERSION` unless the game is at exactly this version. Ignored by commands
    /// without a game.
    expected_version: Option<i32>,
}

impl From<CommandInput> for Idempotency {
    fn from(command: CommandInput) -> Self {
        Self { id: command.id, expected: command.expected_version.map(i64::from) }
    }
}

/// The idempotency key and expected version of a command; both are optional.
pub(super) fn idempotency(command: Option<CommandInput>) -> Idempotency {
    command.unwrap_or_default().into()
}

/// The idempotency key alone, for commands without a version.
pub(super) fn key_only(command: Option<CommandInput>) -> Idempotency {
    Idempotency { expected: None, ..idempotency(command) }
}

/// The path of an argument in the input.
pub(super) fn input_path(argument: &str) -> Vec<String> {
    let path: &[&str] = match argument {
        "commandId" => &["input", "command", "id"],
        "expectedVersion" => &["input", "command", "expectedVersion"],
        other => &["input", other],
    };
    path.iter().map(|&part| part.to_owned()).collect()
}
