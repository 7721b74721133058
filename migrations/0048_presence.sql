-- Who follows which game, on which node. Nodes refresh their rows while clients are connected, so it
-- need not survive a crash.
CREATE UNLOGGED TABLE presence (
    game      uuid    NOT NULL,
    node      uuid    NOT NULL,
    account   uuid    NOT NULL, -- all zeros for everybody without a seat
    listeners integer NOT NULL,
    seen_at   bigint  NOT NULL, -- milliseconds since 1970
    PRIMARY KEY (game, node, account)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON presence TO croupier_app;
