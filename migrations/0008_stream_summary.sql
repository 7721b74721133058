-- For support: one line a stream.
CREATE VIEW stream_summary AS
SELECT h.stream,
       h.version        AS events,
       e.recorded_at    AS first_recorded_at,
       h.recorded_at    AS last_recorded_at,
       e.payload ->> 'game'                    AS game,
       e.payload -> 'ruleset' ->> 'game'       AS kind,
       e.payload -> 'ruleset' ->> 'preset'     AS preset,
       h.shard,
       encode(h.hash, 'hex') AS hash
  FROM stream_head h
  JOIN event e ON e.shard = h.shard AND e.stream = h.stream AND e.version = 1;

GRANT SELECT ON stream_summary TO croupier_app;
