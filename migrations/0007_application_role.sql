-- What the application may do: events, receipts and seals are added and read, never changed or removed. Roles belong to
-- the whole cluster, so another database may have made it already.
DO $$
BEGIN
    CREATE ROLE croupier_app NOLOGIN;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

GRANT SELECT, INSERT ON event, receipt, seal TO croupier_app;
GRANT SELECT, INSERT, UPDATE ON stream_head, shard_head TO croupier_app;

-- Whoever migrates can act as the application.
GRANT croupier_app TO CURRENT_USER;
