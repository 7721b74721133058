-- The ratings of a kind from a day on: those that a late or void game changes.
CREATE INDEX rating_day ON rating (generation, kind, day);
