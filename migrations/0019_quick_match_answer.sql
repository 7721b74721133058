-- Which table a quick match was given: the same command again gets the same table. Written before the player sits down.
CREATE TABLE quick_match_answer (
    player  uuid NOT NULL,
    command uuid NOT NULL,
    game    uuid NOT NULL,
    PRIMARY KEY (player, command)
);

GRANT SELECT, INSERT, UPDATE ON quick_match_answer TO croupier_app;
