-- Jobs that come after others, jobs on hold, edits before a job runs, and further runs of ended ones.
ALTER TABLE jobs ADD COLUMN blocked INTEGER NOT NULL DEFAULT 0 CHECK (blocked >= 0); -- see below
ALTER TABLE jobs ADD COLUMN held_by INTEGER; -- user id of who holds it
ALTER TABLE jobs ADD COLUMN run_from INTEGER NOT NULL DEFAULT 1; -- first attempt of its latest run
ALTER TABLE job_history ADD COLUMN peer_uid INTEGER; -- who asked for it; NULL: the daemon itself

-- What is blocked is queued and yet not there to be claimed: a claim costs the same beside any number.
DROP INDEX jobs_claim;
CREATE INDEX jobs_claim ON jobs (priority DESC, number) WHERE state = 'queued' AND blocked = 0;
CREATE INDEX jobs_blocked ON jobs (number) WHERE blocked > 0;

CREATE TABLE job_after (
    job   TEXT NOT NULL REFERENCES jobs (id),
    seq   INTEGER NOT NULL, -- in the order of the document
    other TEXT NOT NULL REFERENCES jobs (id),
    need  TEXT NOT NULL CHECK (need IN ('ok', 'any')), -- how the other one has to end
    open  INTEGER NOT NULL CHECK (open IN (0, 1)),     -- 1 until the job has been told of its end
    PRIMARY KEY (job, seq),
    UNIQUE (job, other),
    CHECK (job <> other)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_after_other ON job_after (other, open, job);

-- jobs.blocked is the number of a job's open rows.
CREATE TRIGGER job_after_added AFTER INSERT ON job_after WHEN NEW.open = 1
    BEGIN UPDATE jobs SET blocked = blocked + 1 WHERE id = NEW.job; END;
CREATE TRIGGER job_after_removed AFTER DELETE ON job_after WHEN OLD.open = 1
    BEGIN UPDATE jobs SET blocked = blocked - 1 WHERE id = OLD.job; END;
CREATE TRIGGER job_after_told AFTER UPDATE OF open ON job_after WHEN NEW.open <> OLD.open
    BEGIN UPDATE jobs SET blocked = blocked + NEW.open - OLD.open WHERE id = NEW.job; END;
CREATE TRIGGER job_after_fixed BEFORE UPDATE OF job, seq, other, need ON job_after
    BEGIN SELECT RAISE(ABORT, 'what a job comes after is replaced, never changed'); END;
CREATE TRIGGER job_after_kept BEFORE DELETE ON job_after
    WHEN (SELECT state FROM jobs WHERE id = OLD.job) NOT IN ('held', 'queued', 'waiting')
    BEGIN SELECT RAISE(ABORT, 'a job that runs or is over never changes'); END;

-- Ended jobs whose open rows of job_after are still to be told.
CREATE TABLE job_ends (
    number INTEGER PRIMARY KEY,
    job    TEXT NOT NULL UNIQUE REFERENCES jobs (id)
) STRICT;

-- An edited job's document as it was submitted: what the same id sent again is compared with.
CREATE TABLE job_submitted (
    job      TEXT PRIMARY KEY REFERENCES jobs (id),
    document TEXT NOT NULL
) STRICT;
CREATE TRIGGER job_submitted_no_update BEFORE UPDATE ON job_submitted
    BEGIN SELECT RAISE(ABORT, 'job_submitted is append-only'); END;
CREATE TRIGGER job_submitted_no_delete BEFORE DELETE ON job_submitted
    BEGIN SELECT RAISE(ABORT, 'job_submitted is append-only'); END;

-- Some of what was submitted may be edited while nothing of the job runs.
DROP TRIGGER jobs_fixed;
DROP TRIGGER jobs_schedule_fixed;
CREATE TRIGGER jobs_fixed
    BEFORE UPDATE OF number, id, id_reversed, policy, suite_sha256, peer_uid, submitted_ms, session
    ON jobs
    BEGIN SELECT RAISE(ABORT, 'what was submitted never changes'); END;
CREATE TRIGGER jobs_edited BEFORE UPDATE OF document, priority, label, timed, deadline_ms ON jobs
    WHEN OLD.state NOT IN ('held', 'queued', 'waiting')
    BEGIN SELECT RAISE(ABORT, 'a job that runs or is over never changes'); END;
