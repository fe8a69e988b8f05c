-- Figures that are no times (counters), by observation: number is their place in its list. Times have
-- no row here.
CREATE TABLE observation_values (
    attempt TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    name    TEXT NOT NULL,
    value   INTEGER NOT NULL, -- in the unit of the workload's measure
    PRIMARY KEY (attempt, seq, number),
    FOREIGN KEY (attempt, seq) REFERENCES observations (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observation_values_no_update BEFORE UPDATE ON observation_values
    BEGIN SELECT RAISE(ABORT, 'observation_values is append-only'); END;
CREATE TRIGGER observation_values_no_delete BEFORE DELETE ON observation_values
    BEGIN SELECT RAISE(ABORT, 'observation_values is append-only'); END;
