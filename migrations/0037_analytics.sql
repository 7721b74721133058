-- For analysts: the read models as reads see them, without names of people. Whoever is given the role croupier_analyst can read
-- these views and nothing else. docs/analytics.md describes them.
DO $$
BEGIN
    CREATE ROLE croupier_analyst NOLOGIN;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

CREATE SCHEMA analytics;

CREATE VIEW analytics.seat AS
SELECT s.game, s.kind, s.preset, s.ruleset_version, nullif(s.catalogue_version, 0) AS catalogue_version,
       to_timestamp(s.ended_at / 1000.0) AS ended_at, date '1970-01-01' + s.day AS day, s.seat, s.position, s.seats, s.player,
       s.won, s.gave_up, s.score, s.turns, s.turn_time / 1000.0 AS turn_seconds, s.rolls, s.farkles, s.money, s.dice, s.character
  FROM balance_seat s
 WHERE s.generation = (SELECT generation FROM projection WHERE name = 'ratings' AND state = 'live');

CREATE VIEW analytics.game AS
SELECT game, kind, preset, ruleset_version, catalogue_version, ended_at, day, seats, array_agg(player ORDER BY position) AS players,
       coalesce(array_agg(player ORDER BY position) FILTER (WHERE won), '{}') AS winners, array_agg(score ORDER BY position) AS scores,
       sum(turns)::bigint AS turns, sum(rolls)::bigint AS rolls, sum(farkles)::bigint AS farkles
  FROM analytics.seat
 GROUP BY game, kind, preset, ruleset_version, catalogue_version, ended_at, day, seats;

CREATE VIEW analytics.balance AS
SELECT c.kind, c.preset, c.ruleset_version, nullif(c.catalogue_version, 0) AS catalogue_version, date '1970-01-01' + c.day AS day, c.seats,
       (ARRAY['provisional', 'below 1300', '1300 to 1499', '1500 to 1699', '1700 to 1899', '1900 and more'])[c.band + 1] AS band,
       c.dimension, c.trait, c.games, c.wins, c.score, c.turns, c.turn_time / 1000.0 AS turn_seconds, c.rolls, c.farkles,
       c.histograms -> 0 AS scores, c.histograms -> 1 AS turn_seconds_histogram, c.histograms -> 2 AS turn_rolls_histogram
  FROM balance_cell c
 WHERE c.generation = (SELECT generation FROM projection WHERE name = 'ratings' AND state = 'live');

CREATE VIEW analytics.player_statistics AS
SELECT p.player, p.kind, p.preset, (p.statistics ->> 'games')::bigint AS games, (p.statistics ->> 'wins')::bigint AS wins,
       (p.statistics ->> 'left')::bigint AS gave_up, (p.statistics ->> 'streak')::bigint AS streak,
       (p.statistics ->> 'best_streak')::bigint AS best_streak, (p.statistics ->> 'scores')::bigint AS score,
       (p.statistics ->> 'best_game')::bigint AS best_game, (p.statistics ->> 'turns')::bigint AS turns,
       (p.statistics ->> 'turn_time')::bigint / 1000.0 AS turn_seconds, (p.statistics ->> 'best_turn')::bigint AS best_turn,
       (p.statistics ->> 'rolls')::bigint AS rolls, (p.statistics ->> 'farkles')::bigint AS farkles,
       (p.statistics ->> 'forfeited')::bigint AS forfeited, (p.statistics ->> 'money')::bigint AS money, (p.statistics ->> 'spent')::bigint AS spent, p.statistics
  FROM player_statistics p
 WHERE p.generation = (SELECT generation FROM projection WHERE name = 'player_statistics' AND state = 'live');

CREATE VIEW analytics.leaderboard AS
-- Boards keep scores turned so that more is better: in Zero Hour less is.
SELECT l.kind, l.preset, l.period, l.player, l.games, l.wins, l.best * w.way AS best, l.average * w.way / 1000.0 AS average
  FROM leaderboard l CROSS JOIN LATERAL (SELECT CASE l.kind WHEN 'zero_hour' THEN -1 ELSE 1 END AS way) w
 WHERE l.generation = (SELECT generation FROM projection WHERE name = 'leaderboards' AND state = 'live');

CREATE VIEW analytics.rating AS
SELECT r.kind, r.player, date '1970-01-01' + r.day AS day, r.rating, r.deviation, r.volatility, r.games
  FROM rating r
 WHERE r.generation = (SELECT generation FROM projection WHERE name = 'ratings' AND state = 'live');

CREATE VIEW analytics.season AS
SELECT code, title, date '1970-01-01' + first_day AS first_day, date '1970-01-01' + last_day AS last_day FROM season;

-- Up to where the views are true.
CREATE VIEW analytics.position AS
SELECT p.name, p.generation, sum(q.position)::bigint AS events,
       (SELECT coalesce(sum(position), 0) FROM shard_head)::bigint - sum(q.position)::bigint
       + (SELECT count(DISTINCT d.game) FROM rating_due d WHERE p.name = 'ratings' AND d.generation = p.generation) AS behind
  FROM projection p JOIN projection_range r USING (name, generation) CROSS JOIN LATERAL unnest(r.positions) AS q (position)
 WHERE p.state = 'live'
 GROUP BY p.name, p.generation;

GRANT USAGE ON SCHEMA analytics TO croupier_analyst, croupier_app;
GRANT SELECT ON ALL TABLES IN SCHEMA analytics TO croupier_analyst, croupier_app;

-- Whoever migrates can act as an analyst.
GRANT croupier_analyst TO CURRENT_USER;
