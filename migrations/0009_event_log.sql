-- For support: events as a person reads them.
CREATE VIEW event_log AS
SELECT stream,
       version,
       to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS') AS recorded_at_utc,
       type,
       payload ->> 'seat' AS seat,
       payload,
       actor,
       command,
       shard,
       position
  FROM event;

GRANT SELECT ON event_log TO croupier_app;
