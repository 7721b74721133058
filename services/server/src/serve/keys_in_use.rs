//! Keys that are needed must be there when a node starts. A new key in place of a lost one would
//! leave running games without dice and guests without their accounts.

use std::{io, path::Path};

use sqlx::{Connection, PgConnection};
use uuid::Uuid;

use crate::{
    clock,
    keys::{Purpose, present},
};

/// Fails with a sentence if a key in use is not in the folder.
pub(super) async fn check(url: &str, folder: &Path) -> Result<(), String> {
    let unreadable = |error: io::Error| format!("{}: {error}", folder.display());
    let dice = present(folder, Purpose::Dice).map_err(unreadable)?;
    let tokens = present(folder, Purpose::Token).map_err(unreadable)?;
    let (needed, sessions) = in_use(url).await.map_err(|error| error.to_string())?;
    let missing = if let Some(key) = needed.iter().find(|key| !dice.contains(key)) {
        format!("the key dice-{key}.key, which games need that are not over")
    } else if tokens.is_empty() && sessions {
        "every token-*.key, with which players are signed in".to_owned()
    } else {
        return Ok(());
    };
    Err(format!(
        "{} lacks {missing}; restore the keys from a backup, name their folder with --keys, or give \
         them up for good with --accept-lost-keys",
        folder.display()
    ))
}

/// The keys of the dice of unfinished games, and whether there are sessions of players.
async fn in_use(url: &str) -> Result<(Vec<Uuid>, bool), sqlx::Error> {
    const DICE: &str = "
SELECT DISTINCT d.key
  FROM game_index g
  JOIN processor p ON p.name = 'game_index' AND p.state = 'live' AND p.generation = g.generation
  JOIN dice_secret d USING (game)
 WHERE g.stage IN ('gathering', 'playing')";
    const SESSIONS: &str = "
SELECT EXISTS (SELECT FROM session
                WHERE revoked_at IS NULL AND expires_at > $1 AND generation IS NOT NULL)";
    let mut connection = PgConnection::connect(url).await?;
    let dice = sqlx::query_scalar(DICE).fetch_all(&mut connection).await?;
    let now = clock::to_sql(clock::now());
    let sessions = sqlx::query_scalar(SESSIONS).bind(now).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok((dice, sessions))
}
