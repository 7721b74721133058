//! The smallest possible processor: how many games were opened on each day.

use std::{sync::Arc, time::Duration};

use futures_util::{FutureExt, future::BoxFuture};

use crate::{
    Recorded,
    processor::{Handler, HandlerError, Processor, RowHandler, Target},
};

pub(super) fn processor() -> Processor {
    Processor {
        name: "games_opened",
        version: 1,
        types: &["Created"],
        ranges: 1,
        collect: Duration::from_millis(100),
        handler: Handler::Rows(Arc::new(GamesOpened)),
    }
}

struct GamesOpened;

impl RowHandler for GamesOpened {
    fn tables(&self) -> &'static [&'static str] {
        &["games_opened"]
    }

    fn content(&self) -> &'static str {
        "SELECT day::text, games::text FROM games_opened WHERE generation = $1"
    }

    fn write<'a>(
        &'a self,
        target: Target<'a>,
        events: &'a [Arc<Recorded>],
    ) -> BoxFuture<'a, Result<(), HandlerError>> {
        const COUNT: &str = "
INSERT INTO games_opened AS g (generation, day, games)
SELECT $1, to_timestamp(at / 1000)::date, count(*) FROM unnest($2::bigint[]) AS at GROUP BY 2
    ON CONFLICT (generation, day) DO UPDATE SET games = g.games + excluded.games";
        async move {
            let times: Vec<i64> =
                events.iter().filter_map(|event| i64::try_from(event.at.0).ok()).collect();
            let query = sqlx::query(COUNT).bind(target.generation).bind(times);
            query.execute(target.connection).await?;
            Ok(())
        }
        .boxed()
    }
}
