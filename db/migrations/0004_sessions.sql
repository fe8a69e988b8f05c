-- When a job may run, and sessions: several jobs under one label, with one window and boot rule.
CREATE TABLE sessions (
    number      INTEGER PRIMARY KEY, -- order of opening
    id          TEXT NOT NULL UNIQUE,
    label       TEXT NOT NULL,
    document    TEXT NOT NULL,
    peer_uid    INTEGER,
    opened_ms   INTEGER NOT NULL,
    opened_boot TEXT NOT NULL REFERENCES boots (id),
    closed_ms   INTEGER,
    evidence    TEXT, -- the sealed folder; NULL until then
    sums_sha256 TEXT  -- of its SHA256SUMS
) STRICT;
CREATE UNIQUE INDEX sessions_open_label ON sessions (label) WHERE closed_ms IS NULL;
CREATE INDEX sessions_label ON sessions (label, number);

ALTER TABLE jobs ADD COLUMN session TEXT REFERENCES sessions (id);
ALTER TABLE jobs ADD COLUMN timed INTEGER NOT NULL DEFAULT 0; -- something says when it may run
ALTER TABLE jobs ADD COLUMN deadline_ms INTEGER;
ALTER TABLE jobs ADD COLUMN night TEXT;     -- of its window: the last one in which timing began
ALTER TABLE jobs ADD COLUMN waits_for TEXT; -- what a waiting job waits for, beside a quiet host
CREATE INDEX jobs_session ON jobs (session, number) WHERE session IS NOT NULL;
CREATE INDEX jobs_deadline ON jobs (deadline_ms)
    WHERE deadline_ms IS NOT NULL AND state IN ('held', 'queued', 'waiting');

-- What a report says, counted, so that a session's overview need not read it.
CREATE TABLE report_counts (
    attempt    TEXT PRIMARY KEY REFERENCES reports (attempt),
    faster     INTEGER NOT NULL,
    slower     INTEGER NOT NULL,
    same       INTEGER NOT NULL,
    unresolved INTEGER NOT NULL,
    controls   INTEGER NOT NULL,
    drifted    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER report_counts_no_update BEFORE UPDATE ON report_counts
    BEGIN SELECT RAISE(ABORT, 'report_counts is append-only'); END;
CREATE TRIGGER report_counts_no_delete BEFORE DELETE ON report_counts
    BEGIN SELECT RAISE(ABORT, 'report_counts is append-only'); END;
