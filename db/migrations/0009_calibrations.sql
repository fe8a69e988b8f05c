-- What a host shows for one program against itself, once a boot and when somebody asks for it.
CREATE TABLE calibrations (
    number   INTEGER PRIMARY KEY, -- order of making
    id       TEXT NOT NULL UNIQUE,
    boot     TEXT NOT NULL REFERENCES boots (id), -- it holds for this one alone
    form     TEXT NOT NULL CHECK (form IN ('quick', 'full')),
    wall_ms  INTEGER NOT NULL,
    clock_step_ns INTEGER NOT NULL,
    document TEXT NOT NULL -- every value that was measured, and the settings
) STRICT;
CREATE INDEX calibrations_boot ON calibrations (boot, number);

-- What follows from the document for each measure, so that it can be asked for.
CREATE TABLE calibration_figures (
    calibration     TEXT NOT NULL REFERENCES calibrations (id),
    measure         TEXT NOT NULL,
    noise_floor     REAL,
    cpu_noise_floor REAL,
    floor_median_ns REAL,
    floor_mad_ns    REAL,
    PRIMARY KEY (calibration, measure)
) STRICT, WITHOUT ROWID;

-- The one that was in force when an attempt began.
CREATE TABLE attempt_calibrations (
    attempt     TEXT PRIMARY KEY REFERENCES attempts (id),
    calibration TEXT NOT NULL REFERENCES calibrations (id)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER calibrations_no_update BEFORE UPDATE ON calibrations
    BEGIN SELECT RAISE(ABORT, 'calibrations is append-only'); END;
CREATE TRIGGER calibrations_no_delete BEFORE DELETE ON calibrations
    BEGIN SELECT RAISE(ABORT, 'calibrations is append-only'); END;
CREATE TRIGGER calibration_figures_no_update BEFORE UPDATE ON calibration_figures
    BEGIN SELECT RAISE(ABORT, 'calibration_figures is append-only'); END;
CREATE TRIGGER calibration_figures_no_delete BEFORE DELETE ON calibration_figures
    BEGIN SELECT RAISE(ABORT, 'calibration_figures is append-only'); END;
CREATE TRIGGER attempt_calibrations_no_update BEFORE UPDATE ON attempt_calibrations
    BEGIN SELECT RAISE(ABORT, 'attempt_calibrations is append-only'); END;
CREATE TRIGGER attempt_calibrations_no_delete BEFORE DELETE ON attempt_calibrations
    BEGIN SELECT RAISE(ABORT, 'attempt_calibrations is append-only'); END;
