-- Build variants: what was added to the environment of one side's build steps, a variable a row.
CREATE TABLE variants (
    attempt  TEXT NOT NULL REFERENCES attempts (id),
    side     TEXT NOT NULL,
    seq      INTEGER NOT NULL,
    variable TEXT NOT NULL, -- 'CFLAGS=-O3'
    PRIMARY KEY (attempt, side, seq)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER variants_no_update BEFORE UPDATE ON variants
    BEGIN SELECT RAISE(ABORT, 'variants is append-only'); END;
CREATE TRIGGER variants_no_delete BEFORE DELETE ON variants
    BEGIN SELECT RAISE(ABORT, 'variants is append-only'); END;
