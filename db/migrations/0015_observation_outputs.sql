-- Files that the steps of a measured build wrote, by observation: number is their place in its list.
CREATE TABLE observation_outputs (
    attempt TEXT NOT NULL,
    seq     INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    name    TEXT NOT NULL,
    bytes   INTEGER NOT NULL,
    sha256  TEXT NOT NULL,
    PRIMARY KEY (attempt, seq, number),
    FOREIGN KEY (attempt, seq) REFERENCES observations (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER observation_outputs_no_update BEFORE UPDATE ON observation_outputs
    BEGIN SELECT RAISE(ABORT, 'observation_outputs is append-only'); END;
CREATE TRIGGER observation_outputs_no_delete BEFORE DELETE ON observation_outputs
    BEGIN SELECT RAISE(ABORT, 'observation_outputs is append-only'); END;
