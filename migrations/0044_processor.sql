-- Everything that follows the log is a processor on one consumer: how far each is, who works on it, and what it could not
-- handle is kept in one place. What was kept before, in four, moves here with its positions.
ALTER TABLE projection RENAME TO processor;
ALTER INDEX projection_pkey RENAME TO processor_pkey;
ALTER INDEX projection_live RENAME TO processor_live;
-- In how many ranges its shards are shared; and a number that goes up when it should look again.
ALTER TABLE processor ADD COLUMN ranges smallint NOT NULL DEFAULT 1;
ALTER TABLE processor ADD COLUMN wake bigint NOT NULL DEFAULT 0;
ALTER TABLE processor ALTER COLUMN ranges DROP DEFAULT;

-- A range is its owner's while the owner is alive. Whoever takes it over gets the next fence: what an earlier owner still writes
-- is then refused.
ALTER TABLE projection_range RENAME TO processor_range;
ALTER INDEX projection_range_pkey RENAME TO processor_range_pkey;
ALTER TABLE processor_range DROP CONSTRAINT projection_range_range_check;
ALTER TABLE processor_range ADD CONSTRAINT processor_range_range_check CHECK (range BETWEEN 0 AND 63);
ALTER TABLE processor_range DROP COLUMN leased_until;
-- Rows of read models cross shards, so each has one range from now on.
UPDATE processor_range r
   SET owner = NULL,
       fence = r.fence + 1,
       positions = (SELECT array_agg(u.position ORDER BY o.range, u.place)
                      FROM processor_range o CROSS JOIN LATERAL unnest(o.positions) WITH ORDINALITY AS u (position, place)
                     WHERE o.name = r.name AND o.generation = r.generation)
 WHERE r.range = 0;
DELETE FROM processor_range WHERE range > 0;

-- Who is alive. A process that only rebuilds works on nothing else.
DROP TABLE projection_worker;
CREATE TABLE processor_node (
    node    uuid        PRIMARY KEY,
    works   boolean     NOT NULL DEFAULT true,
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- Which generation of a processor is live changes in one transaction at a time: it locks the row of the name.
CREATE TABLE processor_lock (
    name text PRIMARY KEY
);

-- Events that a processor could not handle. They are tried again; the others go on.
CREATE TABLE processor_parked (
    name       text        NOT NULL,
    generation integer     NOT NULL,
    stream     uuid        NOT NULL,
    version    bigint      NOT NULL,
    reason     text        NOT NULL,
    tries      integer     NOT NULL DEFAULT 0,
    parked_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, generation, stream, version),
    FOREIGN KEY (name, generation) REFERENCES processor ON DELETE CASCADE
);

INSERT INTO processor_parked (name, generation, stream, version, reason, parked_at)
SELECT p.name, p.generation, p.game, e.version, p.why, p.parked_at
  FROM projection_parked p
  JOIN event e ON e.shard = get_byte(sha256(uuid_send(p.game)), 0) & 63 AND e.stream = p.game
   AND e.type = CASE WHEN p.void THEN 'Voided' ELSE 'Ended' END;
DROP TABLE projection_parked;

-- Payouts, where they were.
INSERT INTO processor (name, generation, version, state, ranges) VALUES ('payouts', 1, 1, 'live', 8);
INSERT INTO processor_range (name, generation, range, positions)
SELECT 'payouts', 1, shard / 8, array_agg(position ORDER BY shard) FROM reactor_position GROUP BY shard / 8;
INSERT INTO processor_parked (name, generation, stream, version, reason, parked_at)
SELECT 'payouts', 1, stream, version, why, parked_at FROM reactor_parked;
DROP TABLE reactor_position, reactor_parked;

GRANT SELECT, INSERT, UPDATE, DELETE ON processor_node, processor_lock, processor_parked TO croupier_app;
