-- The games somebody finished: what their statistics are made from.
CREATE TABLE player_game (
    generation integer  NOT NULL,
    player     uuid     NOT NULL,
    kind       text     NOT NULL,
    preset     text     NOT NULL,
    ended_at   bigint   NOT NULL, -- milliseconds since 1970
    game       uuid     NOT NULL,
    seat       smallint NOT NULL,
    won        boolean  NOT NULL,
    score      bigint   NOT NULL,
    PRIMARY KEY (generation, player, kind, preset, ended_at, game, seat)
);

-- Their sums, a row for each game and preset.
CREATE TABLE player_statistics (
    generation integer NOT NULL,
    player     uuid    NOT NULL,
    kind       text    NOT NULL,
    preset     text    NOT NULL,
    statistics json    NOT NULL,
    PRIMARY KEY (generation, player, kind, preset)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON player_game, player_statistics TO croupier_app;
