-- Samples that a lane printed after its work, by observation: one row for each series; number is the
-- place of the series among those that its workload declares.
CREATE TABLE observation_samples (
    attempt TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    name    TEXT NOT NULL,
    samples TEXT NOT NULL, -- decimal numbers by index, a blank between two, in the unit of the series
    PRIMARY KEY (attempt, seq, number),
    FOREIGN KEY (attempt, seq) REFERENCES observations (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observation_samples_no_update BEFORE UPDATE ON observation_samples
    BEGIN SELECT RAISE(ABORT, 'observation_samples is append-only'); END;
CREATE TRIGGER observation_samples_no_delete BEFORE DELETE ON observation_samples
    BEGIN SELECT RAISE(ABORT, 'observation_samples is append-only'); END;
