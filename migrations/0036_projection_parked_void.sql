-- A game may also be parked because it cannot be taken out again.
ALTER TABLE projection_parked ADD COLUMN void boolean NOT NULL DEFAULT false;
