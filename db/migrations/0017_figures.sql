-- What sealed reports say, one row for each figure and each comparison: a figure is followed through many
-- reports without opening one. Written with the report; what follows from an observation is here
-- only because an index needs it, the report is what holds.
CREATE TABLE figures (
    number     INTEGER PRIMARY KEY,
    attempt    TEXT NOT NULL REFERENCES reports (attempt),
    started_ms INTEGER NOT NULL, -- of the attempt
    workload   TEXT NOT NULL,
    value      TEXT NOT NULL, -- its name; empty: the workload's time
    lane       TEXT NOT NULL,
    side       TEXT NOT NULL,
    commit_id  TEXT, -- what was measured; NULL: the suite as it stood
    measure    TEXT NOT NULL,
    unit       TEXT NOT NULL,
    operations INTEGER, -- done in each interval; NULL: they are not counted
    control    INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    median     REAL NOT NULL,
    mad        REAL, -- of times
    low        INTEGER NOT NULL, -- the best time, the least value
    high       INTEGER NOT NULL, -- the 95th percentile of times, the greatest value
    cpu_median REAL, -- of times: CPU time of the same intervals
    grade      TEXT NOT NULL -- of the row in its report
) STRICT;
CREATE INDEX figures_series ON figures (workload, value, lane, started_ms);

CREATE TABLE figure_ratios (
    number           INTEGER PRIMARY KEY,
    attempt          TEXT NOT NULL REFERENCES reports (attempt),
    started_ms       INTEGER NOT NULL,
    workload         TEXT NOT NULL,
    value            TEXT NOT NULL,
    subject_lane     TEXT NOT NULL,
    reference_lane   TEXT NOT NULL,
    subject_side     TEXT NOT NULL,
    reference_side   TEXT NOT NULL,
    subject_commit   TEXT,
    reference_commit TEXT,
    measure          TEXT NOT NULL,
    unit             TEXT NOT NULL,
    operations       INTEGER,
    subject          REAL NOT NULL, -- medians
    reference        REAL NOT NULL,
    ratio_of_medians REAL,
    ratio            REAL, -- of times: the one that the verdict speaks of
    low              REAL, -- the interval of that
    high             REAL,
    coverage         REAL,
    verdict          TEXT NOT NULL,
    grade            TEXT NOT NULL -- contractual where both rows are
) STRICT;
CREATE INDEX figure_ratios_series
    ON figure_ratios (workload, value, subject_lane, reference_lane, started_ms);

CREATE TRIGGER figures_no_update BEFORE UPDATE ON figures
    BEGIN SELECT RAISE(ABORT, 'figures is append-only'); END;
CREATE TRIGGER figures_no_delete BEFORE DELETE ON figures
    BEGIN SELECT RAISE(ABORT, 'figures is append-only'); END;
CREATE TRIGGER figure_ratios_no_update BEFORE UPDATE ON figure_ratios
    BEGIN SELECT RAISE(ABORT, 'figure_ratios is append-only'); END;
CREATE TRIGGER figure_ratios_no_delete BEFORE DELETE ON figure_ratios
    BEGIN SELECT RAISE(ABORT, 'figure_ratios is append-only'); END;
