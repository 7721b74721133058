use std::time::Duration;

use domain::{Event, Moment, Ruleset};
use futures_util::TryStreamExt;
use sqlx::{Connection, Executor, PgConnection, Row};
use uuid::Uuid;

use super::support::{append, append_as, database, events, execute, read, store, whole_log};
use crate::{
    Append, AppendError, Hash, Head, ReadError, Settings, Shard, Store, Undecodable,
    append::{Answer, Prepared, append_all, append_batch, recognise_own},
};

#[tokio::test]
async fn appended_events_are_read_back() {
    let store = store().await;
    let stream = Uuid::now_v7();
    let first = append(&store, stream, Head::NEW, 1).await.unwrap();
    assert_eq!((first.first_version, first.head.version, first.position), (1, 3, 3));
    let second = append(&store, stream, first.head, 2).await.unwrap();
    assert_eq!((second.first_version, second.head.version, second.position), (4, 6, 6));

    let read = read(&store, stream).await;
    let happened: Vec<Event> = read.iter().map(|recorded| recorded.event.clone()).collect();
    assert_eq!(happened, [events(1, 3), events(2, 3)].concat());
    assert_eq!(read.last().unwrap().head(), second.head);
    assert_eq!(read.iter().map(|r| r.version).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert!(read.iter().all(|r| r.shard == Shard::of(stream) && r.actor == stream));
    let tail: Vec<_> = store.stream(stream, 4).try_collect().await.unwrap();
    assert_eq!(tail, read[4..]);
}

fn prepared(stream: Uuid, head: Head, command: Uuid) -> Prepared {
    let (request, at, actor) = (Hash::ZERO, Moment(1), stream);
    let events = &events(1, 2);
    Prepared::new(&Append { stream, head, command, request, actor, at, events }).unwrap()
}

/// A connection may break after a batch was sent: when it is sent again, committed commands are not
/// conflicts.
#[tokio::test]
async fn a_batch_that_is_sent_twice_is_appended_once() {
    let store = store().await;
    let mut streams = [Uuid::now_v7(), Uuid::now_v7(), Uuid::now_v7()];
    streams.sort_by_key(|&stream| (Shard::of(stream), stream));
    let batch = streams.map(|stream| prepared(stream, Head::NEW, Uuid::new_v4()));
    let [one, other, late] = &batch;
    let mut connection = store.pool.acquire().await.unwrap();
    let first = append_batch(&mut connection, &[one, other]).await.unwrap();
    // Another command was committed before the third one.
    let rival = prepared(late.stream, Head::NEW, Uuid::new_v4());
    append_batch(&mut connection, &[&rival]).await.unwrap();

    let again: Vec<&Prepared> = batch.iter().collect();
    let mut answers = append_batch(&mut connection, &again).await.unwrap();
    assert!(answers.iter().all(|answer| matches!(answer, Err(AppendError::Conflict))));
    recognise_own(&mut connection, &again, &mut answers).await.unwrap();
    let positions = |answers: &[Answer]| -> Vec<_> {
        answers.iter().map(|answer| answer.as_ref().ok().copied()).collect()
    };
    assert_eq!(positions(&answers), [positions(&first), vec![None]].concat());
    assert_eq!(whole_log(&store).await.len(), 6);
}

/// The fast form of the append handles new and existing streams, and refuses the batch if one
/// command conflicts.
#[tokio::test]
async fn a_batch_without_conflicts_is_appended_at_once() {
    let store = store().await;
    let mut streams = [Uuid::now_v7(), Uuid::now_v7()];
    streams.sort_by_key(|&stream| (Shard::of(stream), stream));
    let [old, new] = streams;
    let mut connection = store.pool.acquire().await.unwrap();
    let first = prepared(old, Head::NEW, Uuid::new_v4());
    append_all(&mut connection, &[&first]).await.unwrap();
    let head = store.games.latest(old).await.unwrap().head;
    let both = [prepared(old, head, Uuid::new_v4()), prepared(new, Head::NEW, Uuid::new_v4())];
    append_all(&mut connection, &[&both[0], &both[1]]).await.unwrap();
    assert_eq!(whole_log(&store).await.len(), 6);

    let now = store.games.latest(old).await.unwrap().head;
    let nowhere = Uuid::now_v7();
    for (loser, code) in [
        (prepared(old, head, Uuid::new_v4()), "22012"),
        (prepared(new, Head::NEW, Uuid::new_v4()), "22012"),
        (prepared(nowhere, now, Uuid::new_v4()), "22012"),
    ] {
        let refused = append_all(&mut connection, &[&loser]).await.unwrap_err();
        assert_eq!(refused.as_database_error().unwrap().code().unwrap(), code);
    }
    assert_eq!(whole_log(&store).await.len(), 6);
    assert_eq!(store.heads().await.unwrap().total(), 6);
}

#[tokio::test]
async fn the_log_is_readable_with_psql() {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let stream = Uuid::now_v7();
    append(&store, stream, Head::NEW, 1).await.unwrap();
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let row = connection.fetch_one("SELECT stream, events FROM stream_summary").await.unwrap();
    assert_eq!((row.get::<Uuid, _>(0), row.get::<i64, _>(1)), (stream, 3));
    let row = connection
        .fetch_one("SELECT type, seat, recorded_at_utc FROM event_log WHERE version = 2")
        .await
        .unwrap();
    assert_eq!((row.get::<&str, _>(0), row.get::<&str, _>(1)), ("TimedOut", "0"));
    assert_eq!(row.get::<&str, _>(2), "2027-01-15 08:00:00.000");
}

#[tokio::test]
async fn the_shard_of_a_stream_is_the_same_in_sql() {
    let url = database().await;
    let mut connection = PgConnection::connect(&url).await.unwrap();
    for _ in 0..100 {
        let stream = Uuid::new_v4();
        let row = sqlx::query("SELECT (get_byte(sha256(uuid_send($1)), 0) & 63)::smallint")
            .bind(stream)
            .fetch_one(&mut connection)
            .await
            .unwrap();
        assert_eq!(Shard::of(stream).sql(), row.get::<i16, _>(0));
    }
}

#[tokio::test]
async fn a_stale_head_is_a_conflict_and_changes_nothing() {
    let store = store().await;
    let stream = Uuid::now_v7();
    let head = append(&store, stream, Head::NEW, 1).await.unwrap().head;
    let others = [
        Head { version: 0, ..head },
        Head { version: -1, ..head },
        Head { version: i64::MAX, ..head },
        Head { hash: Hash::ZERO, ..head },
        Head::NEW,
        Head { hash: Hash([9; 32]), ..head },
        Head { version: 2, ..head },
        Head { version: 99, ..head },
    ];
    for stale in others {
        let refused = append(&store, stream, stale, 2).await;
        assert!(matches!(refused, Err(AppendError::Conflict)), "{refused:?}");
    }
    assert_eq!(read(&store, stream).await.len(), 3);
    // An empty stream has no version to append to.
    let nowhere = Uuid::now_v7();
    let refused = append(&store, nowhere, head, 2).await;
    assert!(matches!(refused, Err(AppendError::Conflict)), "{refused:?}");
    let refused = append(&store, nowhere, Head { hash: head.hash, ..Head::NEW }, 2).await;
    assert!(matches!(refused, Err(AppendError::Conflict)), "{refused:?}");
    let unknown = Box::pin(store.stream(nowhere, 0)).try_next().await;
    assert!(
        matches!(unknown, Err(ReadError::NoSuchStream(stream)) if stream == nowhere),
        "{unknown:?}"
    );
    assert!(
        Box::pin(store.stream(stream, 3)).try_next().await.unwrap().is_none(),
        "reading at the end is not an error"
    );
    let ahead = Box::pin(store.stream(stream, 4)).try_next().await;
    assert!(matches!(ahead, Err(ReadError::VersionAhead { after: 4, last: 3, .. })), "{ahead:?}");
    assert_eq!(store.games.latest(nowhere).await.unwrap().head, Head::NEW);
    assert_eq!(whole_log(&store).await.len(), 3);
}

/// The stream knows its commands: every event has the id of its command and a hash of its request.
#[tokio::test]
async fn a_stream_knows_its_commands() {
    let store = store().await;
    let (stream, command) = (Uuid::now_v7(), Uuid::new_v4());
    let first = append_as(&store, stream, Head::NEW, command, 1).await.unwrap();
    append(&store, stream, first.head, 2).await.unwrap();
    let state = store.games.latest(stream).await.unwrap();
    assert!(state.commands.may_contain(command) && !state.commands.may_contain(Uuid::new_v4()));
    // Ids are scoped to the stream: another stream may reuse them.
    append_as(&store, Uuid::now_v7(), Head::NEW, command, 2).await.unwrap();

    let receipt = store.receipt(stream, command).await.unwrap().unwrap();
    assert_eq!((receipt.request, receipt.first_version), (Hash([1; 32]).short(), 1));
    assert_eq!(receipt.events, events(1, 3));
    assert_eq!(store.receipt(stream, Uuid::new_v4()).await.unwrap(), None);
}

/// An append returns its positions, whichever statement was used: the tailer relies on them.
#[tokio::test(flavor = "multi_thread")]
async fn an_append_returns_its_positions() {
    let store = store().await;
    let writers: Vec<_> = (0..40u32)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move {
                let stream = Uuid::now_v7();
                let first = append(&store, stream, Head::NEW, number).await.unwrap();
                let second = append(&store, stream, first.head, number).await.unwrap();
                [(stream, 3, first.position), (stream, 6, second.position)]
            })
        })
        .collect();
    let mut returned = Vec::new();
    for writer in writers {
        returned.extend(writer.await.unwrap());
    }
    let log = whole_log(&store).await;
    for (stream, version, position) in returned {
        let event = log.iter().find(|e| (e.stream, e.version) == (stream, version)).unwrap();
        assert_eq!(event.position, position);
    }
}

#[tokio::test]
async fn time_never_runs_backwards_within_a_stream() {
    let store = store().await;
    let stream = Uuid::now_v7();
    let mut head = Head::NEW;
    for at in [5000, 3000, 7000] {
        let append = Append {
            stream,
            head,
            command: Uuid::new_v4(),
            request: Hash::ZERO,
            actor: Uuid::nil(),
            at: Moment(at),
            events: &events(1, 1),
        };
        head = store.append(append).await.unwrap().head;
    }
    let times: Vec<u64> = read(&store, stream).await.iter().map(|event| event.at.0).collect();
    assert_eq!(times, [5000, 5000, 7000]);
}

#[tokio::test]
async fn limits_are_enforced() {
    let store = store().await;
    let append = |events: Vec<Event>| {
        let store = store.clone();
        async move {
            let append = Append {
                stream: Uuid::now_v7(),
                head: Head::NEW,
                command: Uuid::new_v4(),
                request: Hash::ZERO,
                actor: Uuid::nil(),
                at: Moment(0),
                events: &events,
            };
            store.append(append).await
        }
    };
    let mut ruleset = Ruleset::preset("farkle", None).unwrap();
    ruleset.preset = "x".repeat(64 * 1024);
    let created = Event::Created {
        game: domain::GameId(Uuid::nil()),
        ruleset_hash: domain::fair::ruleset_hash(&ruleset),
        ruleset: ruleset.into(),
        commitment: domain::fair::Commitment([0; 32]),
    };
    let refused = append(vec![created]).await;
    assert!(matches!(refused, Err(AppendError::TooLarge { most: 65_536, .. })), "{refused:?}");
    for count in [0, 257] {
        let refused = append(events(1, count)).await;
        assert!(matches!(refused, Err(AppendError::WrongCount { .. })), "{refused:?}");
    }
    assert!(append(events(1, 256)).await.is_ok());
    assert_eq!(whole_log(&store).await.len(), 256);
}

#[tokio::test]
async fn the_application_can_only_insert_events() {
    let store = store().await;
    append(&store, Uuid::now_v7(), Head::NEW, 1).await.unwrap();
    for table in ["event", "seal"] {
        for change in ["UPDATE {} SET shard = 1", "DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}"]
        {
            let sql = change.replace("{}", table);
            let refused = store.pool.execute(sqlx::raw_sql(sqlx::AssertSqlSafe(sql.clone()))).await;
            let code =
                refused.unwrap_err().into_database_error().unwrap().code().unwrap().into_owned();
            assert_eq!(code, "42501", "{sql}");
        }
    }
    assert_eq!(whole_log(&store).await.len(), 3);
}

/// 32 writers on 8 streams: every version is written once, and every conflict is reported.
#[tokio::test(flavor = "multi_thread")]
async fn many_writers_on_few_streams() {
    let url = database().await;
    let nodes = [0; 4].map(|_| Store::open(&url, &Settings::default()).unwrap());
    let store = nodes[0].clone();
    let streams: Vec<Uuid> = (0..8).map(|_| Uuid::now_v7()).collect();
    let writers: Vec<_> = (0..32u32)
        .map(|writer| {
            let store = nodes[writer as usize / 8].clone();
            let stream = streams[writer as usize % 8];
            tokio::spawn(async move {
                let (mut won, mut lost) = (Vec::new(), 0);
                for round in 0..20 {
                    let head = store.games.latest(stream).await.unwrap().head;
                    match append(&store, stream, head, writer * 100 + round).await {
                        Ok(appended) => won.push(appended.first_version),
                        Err(AppendError::Conflict) => lost += 1,
                        Err(other) => panic!("{other}"),
                    }
                }
                (stream, won, lost)
            })
        })
        .collect();
    let mut lost = 0;
    let mut won: Vec<(Uuid, i64)> = Vec::new();
    for writer in writers {
        let (stream, versions, losses) = writer.await.unwrap();
        won.extend(versions.into_iter().map(|version| (stream, version)));
        lost += losses;
    }
    assert!(lost > 0, "there was no contention");
    assert_eq!(won.len() + lost, 32 * 20);
    let mut stored: Vec<(Uuid, i64)> = Vec::new();
    for &stream in &streams {
        let events = read(&store, stream).await;
        let versions: Vec<i64> = events.iter().map(|event| event.version).collect();
        assert_eq!(versions, (1..=i64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
        stored.extend(versions.into_iter().filter(|v| v % 3 == 1).map(|v| (stream, v)));
    }
    stored.sort_unstable();
    won.sort_unstable();
    assert_eq!(won, stored, "acknowledged is stored, and nothing else is");
    assert_eq!(whole_log(&store).await.len(), won.len() * 3);
}

/// 64 writers, one in ten rolled back: positions have no gaps, and followers miss nothing.
#[tokio::test(flavor = "multi_thread")]
async fn rolled_back_appends_leave_no_gaps() {
    let store = store().await;
    let follower = tokio::spawn(super::following::collect(store.clone(), 64 * 9 * 2 * 3));
    let writers: Vec<_> = (0..64u32)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for round in 0..20u32 {
                    let stream = Uuid::now_v7();
                    if round % 10 == writer % 10 {
                        let append = Append {
                            stream,
                            head: Head::NEW,
                            command: Uuid::new_v4(),
                            request: Hash::ZERO,
                            actor: stream,
                            at: Moment(1),
                            events: &events(round, 3),
                        };
                        let prepared = Prepared::new(&append).unwrap();
                        let mut connection = store.pool.acquire().await.unwrap();
                        let mut transaction = connection.begin().await.unwrap();
                        let answers = append_batch(&mut transaction, &[&prepared]).await.unwrap();
                        assert!(answers[0].is_ok());
                        tokio::time::sleep(Duration::from_millis(2)).await;
                        transaction.rollback().await.unwrap();
                    } else {
                        // Connections are scarce here: the committer may have to wait for one.
                        append(&store, stream, Head::NEW, round).await.unwrap();
                    }
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let log = whole_log(&store).await;
    assert_eq!(log.len(), 64 * 18 * 3);
    let mut delivered = follower.await.unwrap();
    delivered.sort_unstable();
    let mut stored: Vec<_> = log.iter().map(|event| (event.stream, event.version)).collect();
    stored.sort_unstable();
    assert_eq!(delivered, stored);
}

#[tokio::test]
async fn unknown_events_are_reported_and_never_skipped() {
    let url = database().await;
    let store = Store::open(&url, &Settings::default()).unwrap();
    let stream = Uuid::now_v7();
    append(&store, stream, Head::NEW, 1).await.unwrap();
    for (change, expected) in [
        ("type = 'Teleported'", Undecodable::UnknownType { kind: "Teleported".into() }),
        (
            "type = 'TimedOut', schema = 9",
            Undecodable::NewerSchema { kind: "TimedOut".into(), schema: 9, known: 1 },
        ),
    ] {
        execute(&url, &format!("UPDATE event SET {change} WHERE version = 2")).await;
        let read: Result<Vec<_>, _> = store.stream(stream, 0).try_collect().await;
        let Err(ReadError::Undecodable { version: 2, why, .. }) = read else { panic!("{read:?}") };
        assert_eq!(why, expected);
        assert!(store.games.latest(stream).await.is_err());
    }
}
