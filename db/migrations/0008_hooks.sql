-- Drain, and the programs that are to be told of ends.

-- While its one row is here, nothing is begun.
CREATE TABLE drained (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    since_ms INTEGER NOT NULL,
    peer_uid INTEGER -- who asked for it
) STRICT;

-- Written in the transaction of the end that they tell of, so that none is lost.
CREATE TABLE hooks (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE, -- receivers know doubles by it
    event      TEXT NOT NULL CHECK (event IN ('job_ended', 'queue_empty')),
    owner      TEXT NOT NULL CHECK (owner IN ('job', 'host')), -- who wants it told
    job        TEXT NOT NULL REFERENCES jobs (id),             -- whose end it was
    argv       TEXT NOT NULL, -- a JSON array of strings
    timeout_ms INTEGER NOT NULL,
    document   TEXT NOT NULL, -- what it finds on stdin
    owed_ms    INTEGER NOT NULL,
    state      TEXT NOT NULL DEFAULT 'owed' CHECK (state IN ('owed', 'delivered', 'given_up')),
    tries      INTEGER NOT NULL DEFAULT 0,
    next_ms    INTEGER, -- the next try
    CHECK ((state = 'owed') = (next_ms IS NOT NULL))
) STRICT;
CREATE INDEX hooks_due ON hooks (next_ms, number) WHERE state = 'owed';
CREATE INDEX hooks_job ON hooks (job, number);

CREATE TABLE hook_tries (
    hook        INTEGER NOT NULL REFERENCES hooks (number),
    seq         INTEGER NOT NULL, -- 1..
    started_ms  INTEGER NOT NULL,
    ended_ms    INTEGER, -- NULL while it runs
    outcome     TEXT,
    exit_status INTEGER,
    exit_signal INTEGER,
    output      TEXT, -- the last of it
    PRIMARY KEY (hook, seq),
    CHECK ((ended_ms IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX hook_tries_open ON hook_tries (hook) WHERE ended_ms IS NULL;

-- An end that was none after all is taken back before anybody has been told of it.
CREATE TRIGGER hooks_kept BEFORE DELETE ON hooks WHEN OLD.tries > 0
    BEGIN SELECT RAISE(ABORT, 'what was told is never removed'); END;
CREATE TRIGGER hooks_fixed
    BEFORE UPDATE OF number, id, event, owner, job, argv, timeout_ms, document, owed_ms ON hooks
    BEGIN SELECT RAISE(ABORT, 'what is to be told never changes'); END;
CREATE TRIGGER hooks_over BEFORE UPDATE ON hooks WHEN OLD.state <> 'owed'
    BEGIN SELECT RAISE(ABORT, 'what is over never changes'); END;
CREATE TRIGGER hook_tries_no_delete BEFORE DELETE ON hook_tries
    BEGIN SELECT RAISE(ABORT, 'hook_tries is append-only'); END;
CREATE TRIGGER hook_tries_ended BEFORE UPDATE ON hook_tries
    WHEN OLD.ended_ms IS NOT NULL OR NEW.hook <> OLD.hook OR NEW.seq <> OLD.seq
        OR NEW.started_ms <> OLD.started_ms
    BEGIN SELECT RAISE(ABORT, 'an ended try never changes'); END;
