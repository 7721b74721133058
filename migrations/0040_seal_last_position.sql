-- The seal that covers an event is found at once, however many there are.
CREATE INDEX seal_last_position ON seal (shard, last_position);
