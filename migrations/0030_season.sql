-- Read models are folded anew with more facts than they had.
DELETE FROM projection;
TRUNCATE player_game, player_statistics, leaderboard, leaderboard_count, rating_result, rating, rating_due;

-- Seasons: stretches of days that staff names, each with boards of its own. Days are counted from 1970-01-01, in UTC.
CREATE TABLE season (
    code       text        PRIMARY KEY,
    title      text        NOT NULL,
    first_day  integer     NOT NULL,
    last_day   integer     NOT NULL CHECK (last_day >= first_day),
    created_by uuid        NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

GRANT SELECT, INSERT ON season TO croupier_app;
