-- Balance: what every seat of a finished game did ...
CREATE TABLE balance_seat (
    generation        integer  NOT NULL,
    kind              text     NOT NULL,
    day               integer  NOT NULL, -- on which the game ended, since 1970-01-01 in UTC
    game              uuid     NOT NULL,
    seat              smallint NOT NULL,
    player            uuid     NOT NULL,
    preset            text     NOT NULL,
    ruleset_version   integer  NOT NULL,
    catalogue_version integer  NOT NULL, -- 0 where there are no special dice
    seats             smallint NOT NULL, -- of the table
    position          smallint NOT NULL, -- in the order of turns, from 1
    ended_at          bigint   NOT NULL, -- milliseconds since 1970
    won               boolean  NOT NULL,
    gave_up           boolean  NOT NULL,
    score             bigint   NOT NULL,
    turns             bigint   NOT NULL,
    turn_time         bigint   NOT NULL, -- milliseconds
    rolls             bigint   NOT NULL,
    farkles           bigint   NOT NULL,
    money             bigint   NOT NULL,
    dice              text[]   NOT NULL, -- special ones, each as often as it was brought
    character         text,
    turn_lengths      json     NOT NULL, -- [seconds, rolls]: how many turns took how long, by the lowest value of a bucket
    PRIMARY KEY (generation, kind, day, game, seat)
);

-- ... and the sums of a day, by what seats had in common. The band is the rating with which a player began the day.
CREATE TABLE balance_cell (
    generation        integer  NOT NULL,
    kind              text     NOT NULL,
    dimension         text     NOT NULL, -- all, die, pair, loadout, character, position
    day               integer  NOT NULL,
    preset            text     NOT NULL,
    ruleset_version   integer  NOT NULL,
    catalogue_version integer  NOT NULL,
    seats             smallint NOT NULL,
    band              smallint NOT NULL, -- 0 provisional, 1 below 1300, then 200 each, 5 from 1900 on
    trait             text     NOT NULL,
    games             bigint   NOT NULL,
    wins              bigint   NOT NULL,
    score             bigint   NOT NULL,
    turns             bigint   NOT NULL,
    turn_time         bigint   NOT NULL,
    rolls             bigint   NOT NULL,
    farkles           bigint   NOT NULL,
    histograms        json     NOT NULL, -- [scores, seconds of turns, rolls of turns]
    PRIMARY KEY (generation, kind, dimension, day, preset, ruleset_version, catalogue_version, seats, band, trait)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON balance_seat, balance_cell TO croupier_app;
