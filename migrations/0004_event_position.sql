-- The log of a shard, in the order of commits.
CREATE UNIQUE INDEX event_position ON event (shard, position);
