-- "The latest of one lane" has a table of its own, which is written when an attempt ends. As an index
-- of observations it had to be written with each repetition, between two timed intervals: one
-- page for each lane that the repetition measured.
CREATE TABLE lane_points (
    workload        TEXT NOT NULL,
    lane            TEXT NOT NULL,
    attempt         TEXT NOT NULL, -- ids of attempts sort by time
    seq             INTEGER NOT NULL,
    side            TEXT NOT NULL,
    kind            TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    elapsed_ns      INTEGER,
    interval_cpu_ns INTEGER,
    PRIMARY KEY (workload, lane, attempt, seq)
) STRICT, WITHOUT ROWID;

INSERT INTO lane_points
    SELECT workload, lane, attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns
      FROM observations
     WHERE attempt IN (SELECT id FROM attempts WHERE ended_ms IS NOT NULL)
     ORDER BY workload, lane, attempt, seq;
DROP INDEX observations_lane;

CREATE TRIGGER attempts_points AFTER UPDATE OF ended_ms ON attempts
    WHEN OLD.ended_ms IS NULL AND NEW.ended_ms IS NOT NULL
    BEGIN
        INSERT INTO lane_points
            SELECT workload, lane, attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns
              FROM observations WHERE attempt = NEW.id ORDER BY workload, lane, seq;
    END;
CREATE TRIGGER lane_points_no_update BEFORE UPDATE ON lane_points
    BEGIN SELECT RAISE(ABORT, 'lane_points is append-only'); END;
CREATE TRIGGER lane_points_no_delete BEFORE DELETE ON lane_points
    BEGIN SELECT RAISE(ABORT, 'lane_points is append-only'); END;
