-- The stream itself says which commands went through: every event carries the id of its command and, from now on, the
-- first eight bytes of the hash of its request, so that an id cannot be used for another request. No table of receipts.
ALTER TABLE event ADD COLUMN request bigint NOT NULL DEFAULT 0;

UPDATE event e
   SET request = ('x' || encode(substring(r.request FROM 1 FOR 8), 'hex'))::bit(64)::bigint
  FROM receipt r
 WHERE r.shard = e.shard AND r.stream = e.stream AND r.command = e.command;

ALTER TABLE event ALTER COLUMN request DROP DEFAULT;

DROP TABLE receipt;
