-- Authorized corrections: what was proved about a side that is a base and an allowed diff on top.
CREATE TABLE corrections (
    attempt       TEXT NOT NULL REFERENCES attempts (id),
    side          TEXT NOT NULL,
    base_commit   TEXT NOT NULL,
    corrected     TEXT NOT NULL,
    diff_sha256   TEXT NOT NULL,
    files         INTEGER,
    lines_added   INTEGER,
    lines_removed INTEGER,
    approved_by   TEXT NOT NULL,
    reason        TEXT NOT NULL,
    proven        INTEGER NOT NULL,
    PRIMARY KEY (attempt, side)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER corrections_no_update BEFORE UPDATE ON corrections
    BEGIN SELECT RAISE(ABORT, 'corrections is append-only'); END;
CREATE TRIGGER corrections_no_delete BEFORE DELETE ON corrections
    BEGIN SELECT RAISE(ABORT, 'corrections is append-only'); END;
