-- Who did how well in a game, under a preset, in a period: 'all', a day ('2026-11-16'), a week ('2026-W47'), a month ('2026-11').
CREATE TABLE leaderboard (
    generation integer NOT NULL,
    kind       text    NOT NULL,
    preset     text    NOT NULL,
    period     text    NOT NULL,
    player     uuid    NOT NULL,
    games      bigint  NOT NULL,
    total      bigint  NOT NULL, -- of the final scores
    wins       bigint  NOT NULL,
    wins_at    bigint  NOT NULL, -- when the last one was won: milliseconds since 1970, as below
    best       bigint  NOT NULL,
    best_at    bigint  NOT NULL, -- when it was reached first
    average    bigint,           -- in thousandths of a point, once there are enough games
    average_at bigint  NOT NULL, -- when the last game ended
    PRIMARY KEY (generation, kind, preset, period, player)
);

CREATE INDEX leaderboard_wins ON leaderboard (generation, kind, preset, period, wins DESC, wins_at, player) WHERE wins > 0;
CREATE INDEX leaderboard_best ON leaderboard (generation, kind, preset, period, best DESC, best_at, player);
CREATE INDEX leaderboard_average ON leaderboard (generation, kind, preset, period, average DESC, average_at, player)
 WHERE average IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON leaderboard TO croupier_app;
