-- Balance is a read model of its own. It goes on from where it was as a part of the ratings; what is derived from its facts, it
-- works out again.
INSERT INTO processor (name, generation, version, state, created_at, ranges)
SELECT 'balance', generation, 1, state, created_at, ranges FROM processor WHERE name = 'ratings';
INSERT INTO processor_range (name, generation, range, positions)
SELECT 'balance', generation, range, positions FROM processor_range WHERE name = 'ratings';
UPDATE processor SET version = 3 WHERE name = 'ratings' AND version = 2;

-- What is not in the sums yet. A game of nil is the whole day, and all after it.
CREATE TABLE balance_due (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    day        integer NOT NULL,
    game       uuid    NOT NULL,
    PRIMARY KEY (generation, kind, day, game)
);

INSERT INTO balance_due (generation, kind, day, game)
SELECT generation, kind, min(day), '00000000-0000-0000-0000-000000000000' FROM balance_seat GROUP BY generation, kind;

-- How strong players were after a day that is over, and up to which day that is worked out.
CREATE TABLE balance_strength (
    generation integer          NOT NULL,
    kind       text             NOT NULL,
    day        integer          NOT NULL,
    player     uuid             NOT NULL,
    rating     double precision NOT NULL,
    deviation  double precision NOT NULL,
    volatility double precision NOT NULL,
    PRIMARY KEY (generation, kind, player, day)
);

CREATE INDEX balance_strength_day ON balance_strength (generation, kind, day);

CREATE TABLE balance_closed (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    day        integer NOT NULL,
    PRIMARY KEY (generation, kind)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON balance_due, balance_strength, balance_closed TO croupier_app;

-- Ratings that are due no longer need the games they are due for.
CREATE TABLE rating_due_2 AS SELECT DISTINCT generation, kind, day, player FROM rating_due;
DROP VIEW analytics.position;
DROP TABLE rating_due;
ALTER TABLE rating_due_2 RENAME TO rating_due;
ALTER TABLE rating_due ADD PRIMARY KEY (generation, kind, day, player);
GRANT SELECT, INSERT, UPDATE, DELETE ON rating_due TO croupier_app;

-- Up to where the views are true.
CREATE VIEW analytics.position AS
SELECT p.name, p.generation, sum(q.position)::bigint AS events,
       (SELECT coalesce(sum(position), 0) FROM shard_head)::bigint - sum(q.position)::bigint
       + (SELECT count(*) FROM rating_due d WHERE p.name = 'ratings' AND d.generation = p.generation)
       + (SELECT count(*) FROM balance_due d WHERE p.name = 'balance' AND d.generation = p.generation) AS behind
  FROM processor p JOIN processor_range r USING (name, generation) CROSS JOIN LATERAL unnest(r.positions) AS q (position)
 WHERE p.state = 'live' AND p.name IN ('player_statistics', 'leaderboards', 'ratings', 'balance')
 GROUP BY p.name, p.generation;

CREATE OR REPLACE VIEW analytics.seat AS
SELECT s.game, s.kind, s.preset, s.ruleset_version, nullif(s.catalogue_version, 0) AS catalogue_version,
       to_timestamp(s.ended_at / 1000.0) AS ended_at, date '1970-01-01' + s.day AS day, s.seat, s.position, s.seats, s.player,
       s.won, s.gave_up, s.score, s.turns, s.turn_time / 1000.0 AS turn_seconds, s.rolls, s.farkles, s.money, s.dice, s.character
  FROM balance_seat s
 WHERE s.generation = (SELECT generation FROM processor WHERE name = 'balance' AND state = 'live');

CREATE OR REPLACE VIEW analytics.balance AS
SELECT c.kind, c.preset, c.ruleset_version, nullif(c.catalogue_version, 0) AS catalogue_version, date '1970-01-01' + c.day AS day, c.seats,
       (ARRAY['provisional', 'below 1300', '1300 to 1499', '1500 to 1699', '1700 to 1899', '1900 and more'])[c.band + 1] AS band,
       c.dimension, c.trait, c.games, c.wins, c.score, c.turns, c.turn_time / 1000.0 AS turn_seconds, c.rolls, c.farkles,
       c.histograms -> 0 AS scores, c.histograms -> 1 AS turn_seconds_histogram, c.histograms -> 2 AS turn_rolls_histogram
  FROM balance_cell c
 WHERE c.generation = (SELECT generation FROM processor WHERE name = 'balance' AND state = 'live');

GRANT SELECT ON analytics.position TO croupier_analyst, croupier_app;
