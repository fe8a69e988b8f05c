-- The first shape of the store. Migrations are append-only: this file never changes again.
-- Words are stored as words, never as numbers of an enum; NULL is "unknown" or "none".

-- One row for each identity that a host has shown: more memory or another name is a new row.
CREATE TABLE hosts (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL,
    name         TEXT,
    model        TEXT,
    cpu          TEXT,
    cores        INTEGER,
    memory_bytes INTEGER,
    os           TEXT,
    kernel       TEXT,
    arch         TEXT,
    tick_ns      INTEGER,
    first_ms     INTEGER NOT NULL
) STRICT;
CREATE INDEX hosts_id ON hosts (id);

CREATE TABLE boots (
    id           TEXT PRIMARY KEY,
    boot_wall_ms INTEGER,
    host         INTEGER NOT NULL REFERENCES hosts (number), -- the latest identity shown in it
    first_ms     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE suites (
    sha256   TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    path     TEXT NOT NULL,
    added_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    number       INTEGER PRIMARY KEY, -- order of submission
    id           TEXT NOT NULL UNIQUE,
    id_reversed  TEXT NOT NULL, -- so that the end of an id finds its job by an index
    state        TEXT NOT NULL CHECK (state IN ('held', 'queued', 'waiting', 'preparing',
                     'measuring', 'verifying', 'done', 'failed', 'cancelled', 'expired',
                     'unqualified', 'lost')),
    priority     INTEGER NOT NULL,
    label        TEXT,
    document     TEXT NOT NULL,
    policy       TEXT NOT NULL,
    suite_sha256 TEXT REFERENCES suites (sha256),
    peer_uid     INTEGER,
    submitted_ms INTEGER NOT NULL,
    changed_ms   INTEGER NOT NULL,
    next_try_ms  INTEGER,
    refusals     INTEGER NOT NULL DEFAULT 0,
    attempt      TEXT REFERENCES attempts (id), -- the latest
    error_code   TEXT,
    error_field  TEXT,
    error_text   TEXT,
    report       TEXT REFERENCES reports (attempt),
    CHECK ((state = 'waiting') = (next_try_ms IS NOT NULL))
) STRICT;
CREATE INDEX jobs_claim ON jobs (priority DESC, number) WHERE state = 'queued';
CREATE INDEX jobs_due ON jobs (next_try_ms) WHERE state = 'waiting';
CREATE INDEX jobs_state ON jobs (state, number);
CREATE INDEX jobs_id_reversed ON jobs (id_reversed);

-- Kept by triggers: counting a million jobs would take half a second.
CREATE TABLE job_counts (
    state TEXT PRIMARY KEY,
    jobs  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER jobs_count_new AFTER INSERT ON jobs
    BEGIN
        INSERT INTO job_counts (state, jobs) VALUES (NEW.state, 1)
            ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
    END;
CREATE TRIGGER jobs_count_moved AFTER UPDATE OF state ON jobs WHEN OLD.state <> NEW.state
    BEGIN
        UPDATE job_counts SET jobs = jobs - 1 WHERE state = OLD.state;
        INSERT INTO job_counts (state, jobs) VALUES (NEW.state, 1)
            ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
    END;

CREATE TABLE job_history (
    job        TEXT NOT NULL REFERENCES jobs (id),
    seq        INTEGER NOT NULL, -- 1..
    from_state TEXT NOT NULL,
    event      TEXT NOT NULL,
    to_state   TEXT NOT NULL,
    wall_ms    INTEGER NOT NULL,
    text       TEXT,
    attempt    TEXT REFERENCES attempts (id),
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
    id                TEXT PRIMARY KEY,
    job               TEXT NOT NULL REFERENCES jobs (id),
    number            INTEGER NOT NULL, -- 1.. within the job
    boot              TEXT NOT NULL REFERENCES boots (id),
    host              INTEGER NOT NULL REFERENCES hosts (number),
    version           TEXT NOT NULL,
    policy            TEXT NOT NULL,
    started_ms        INTEGER NOT NULL,
    ended_ms          INTEGER,
    outcome           TEXT,
    work_dir          TEXT,
    reused_from       TEXT REFERENCES attempts (id),
    clock             TEXT,
    cpu_set           TEXT,
    boot_id_after     TEXT,
    suspend_before_ms INTEGER,
    suspend_after_ms  INTEGER,
    fresh_worktrees   INTEGER NOT NULL DEFAULT 0,
    cleanup           TEXT,
    void_code         TEXT,
    void_text         TEXT,
    UNIQUE (job, number),
    CHECK ((ended_ms IS NULL) = (outcome IS NULL))
) STRICT;
CREATE INDEX attempts_open ON attempts (started_ms) WHERE ended_ms IS NULL;

CREATE TABLE plan_steps (
    attempt        TEXT NOT NULL REFERENCES attempts (id),
    seq            INTEGER NOT NULL,
    workload       TEXT NOT NULL,
    lane           TEXT NOT NULL,
    side           TEXT NOT NULL,
    repetition     INTEGER NOT NULL,
    position       INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    workload_index INTEGER NOT NULL,
    lane_index     INTEGER NOT NULL,
    side_index     INTEGER NOT NULL,
    PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

-- One row per phase reached; state is NULL when the inventory could not be taken.
CREATE TABLE inventories (
    attempt          TEXT NOT NULL REFERENCES attempts (id),
    phase            TEXT NOT NULL CHECK (phase IN ('before_build', 'before_timing',
                         'after_timing')),
    facts_ms         INTEGER NOT NULL,
    wall_ms          INTEGER,
    state            TEXT,
    partial_reason   TEXT,
    window1_ns       INTEGER,
    window2_ns       INTEGER,
    aggregate1_pct   REAL,
    aggregate2_pct   REAL,
    forks_per_second REAL,
    processes        INTEGER,
    PRIMARY KEY (attempt, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE competitors (
    attempt     TEXT NOT NULL,
    phase       TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('competitor', 'hint')),
    seq         INTEGER NOT NULL,
    pid         INTEGER NOT NULL,
    ppid        INTEGER NOT NULL,
    uid         INTEGER,
    start_ticks INTEGER,
    command     TEXT,
    args        TEXT,
    cwd         TEXT,
    share1_pct  REAL,
    share2_pct  REAL,
    reasons     TEXT,
    PRIMARY KEY (attempt, phase, kind, seq),
    FOREIGN KEY (attempt, phase) REFERENCES inventories (attempt, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE conditions (
    attempt   TEXT NOT NULL,
    phase     TEXT NOT NULL,
    condition TEXT NOT NULL,
    status    TEXT NOT NULL,
    mode      TEXT NOT NULL,
    seen      TEXT,
    needed    TEXT,
    PRIMARY KEY (attempt, phase, condition),
    FOREIGN KEY (attempt, phase) REFERENCES inventories (attempt, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE facts (
    attempt TEXT NOT NULL,
    phase   TEXT NOT NULL,
    fact    TEXT NOT NULL,
    state   TEXT NOT NULL,
    value   INTEGER NOT NULL,
    text    TEXT,
    source  TEXT,
    PRIMARY KEY (attempt, phase, fact),
    FOREIGN KEY (attempt, phase) REFERENCES inventories (attempt, phase)
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    attempt     TEXT NOT NULL REFERENCES attempts (id),
    seq         INTEGER NOT NULL,
    side        TEXT NOT NULL,
    repo        TEXT,
    rev         TEXT,
    commit_id   TEXT,
    head        TEXT,
    detached    INTEGER NOT NULL,
    clean       INTEGER NOT NULL,
    path_bytes  INTEGER,
    files       INTEGER,
    tree_sha256 TEXT,
    PRIMARY KEY (attempt, seq),
    UNIQUE (attempt, side)
) STRICT, WITHOUT ROWID;

CREATE TABLE builds (
    attempt     TEXT NOT NULL REFERENCES attempts (id),
    seq         INTEGER NOT NULL,
    side        TEXT NOT NULL,
    step        INTEGER NOT NULL,
    argv        TEXT NOT NULL, -- a JSON array of strings
    exit_status INTEGER,
    wall_ns     INTEGER,
    log         TEXT,
    built_in    TEXT, -- the attempt in which it was built
    PRIMARY KEY (attempt, seq),
    UNIQUE (attempt, side, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
    attempt TEXT NOT NULL REFERENCES attempts (id),
    seq     INTEGER NOT NULL,
    side    TEXT NOT NULL,
    path    TEXT NOT NULL,
    bytes   INTEGER,
    sha256  TEXT,
    PRIMARY KEY (attempt, seq),
    UNIQUE (attempt, side, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE tools (
    attempt TEXT NOT NULL REFERENCES attempts (id),
    seq     INTEGER NOT NULL,
    name    TEXT NOT NULL,
    path    TEXT,
    version TEXT,
    sha256  TEXT,
    PRIMARY KEY (attempt, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE rechecks (
    attempt TEXT NOT NULL REFERENCES attempts (id),
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    sha256  TEXT,
    again   TEXT, -- NULL: gone
    PRIMARY KEY (attempt, seq),
    UNIQUE (attempt, kind, name)
) STRICT, WITHOUT ROWID;

-- Only what the stored plan names can be observed: the plan comes before the first duration.
CREATE TABLE observations (
    attempt              TEXT NOT NULL,
    seq                  INTEGER NOT NULL,
    workload             TEXT NOT NULL,
    lane                 TEXT NOT NULL,
    side                 TEXT NOT NULL,
    repetition           INTEGER NOT NULL,
    position             INTEGER NOT NULL,
    kind                 TEXT NOT NULL,
    outcome              TEXT NOT NULL,
    start_ns             INTEGER,
    go_ns                INTEGER,
    done_ns              INTEGER,
    exit_ns              INTEGER,
    elapsed_ns           INTEGER,
    process_ns           INTEGER,
    interval_cpu_ns      INTEGER,
    user_us              INTEGER,
    system_us            INTEGER,
    max_rss_bytes        INTEGER,
    minor_faults         INTEGER,
    major_faults         INTEGER,
    voluntary_switches   INTEGER,
    involuntary_switches INTEGER,
    exit_status          INTEGER,
    exit_signal          INTEGER,
    ready                TEXT,
    done                 TEXT,
    stdout_bytes         INTEGER,
    stderr_bytes         INTEGER,
    cpu                  INTEGER,
    fifo                 INTEGER NOT NULL,
    threads              INTEGER,
    leftovers            INTEGER,
    runner_cpu_ns        INTEGER,
    runner_delay_ns      INTEGER,
    PRIMARY KEY (attempt, seq),
    FOREIGN KEY (attempt, seq) REFERENCES plan_steps (attempt, seq)
) STRICT, WITHOUT ROWID;
-- Covers "the latest of one lane": ids of attempts sort by time.
CREATE INDEX observations_lane ON observations
    (workload, lane, attempt, seq, side, kind, outcome, elapsed_ns, interval_cpu_ns);

CREATE TABLE refusals (
    number  INTEGER PRIMARY KEY,
    attempt TEXT NOT NULL REFERENCES attempts (id),
    wall_ms INTEGER NOT NULL,
    phase   TEXT NOT NULL,
    reason  TEXT NOT NULL
) STRICT;
CREATE INDEX refusals_attempt ON refusals (attempt);

CREATE TABLE reports (
    attempt        TEXT PRIMARY KEY REFERENCES attempts (id),
    grade          TEXT NOT NULL,
    grade_line     TEXT NOT NULL,
    evidence       TEXT NOT NULL,
    raw_sha256     TEXT NOT NULL,
    summary_sha256 TEXT,
    created_ms     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For people with sqlite3: each observation with the host, the boot and the commit it belongs to.
-- A retry that recorded no sources of its own measured those of the attempt it reuses.
CREATE VIEW measured AS
    SELECT a.job, j.label, h.name AS host, a.boot, a.number AS attempt_number, j.suite_sha256,
           s.commit_id, s.tree_sha256, r.grade, r.raw_sha256, o.*
      FROM observations o
      JOIN attempts a ON a.id = o.attempt
      JOIN jobs j ON j.id = a.job
      JOIN hosts h ON h.number = a.host
      LEFT JOIN sources s
        ON s.side = o.side
       AND s.attempt = iif(EXISTS (SELECT 1 FROM sources WHERE attempt = a.id), a.id, a.reused_from)
      LEFT JOIN reports r ON r.attempt = o.attempt;

-- What was observed is never changed and never removed.
CREATE TRIGGER schema_migrations_no_update BEFORE UPDATE ON schema_migrations
    BEGIN SELECT RAISE(ABORT, 'schema_migrations is append-only'); END;
CREATE TRIGGER schema_migrations_no_delete BEFORE DELETE ON schema_migrations
    BEGIN SELECT RAISE(ABORT, 'schema_migrations is append-only'); END;
CREATE TRIGGER hosts_no_update BEFORE UPDATE ON hosts
    BEGIN SELECT RAISE(ABORT, 'hosts is append-only'); END;
CREATE TRIGGER hosts_no_delete BEFORE DELETE ON hosts
    BEGIN SELECT RAISE(ABORT, 'hosts is append-only'); END;
CREATE TRIGGER suites_no_update BEFORE UPDATE ON suites
    BEGIN SELECT RAISE(ABORT, 'suites is append-only'); END;
CREATE TRIGGER suites_no_delete BEFORE DELETE ON suites
    BEGIN SELECT RAISE(ABORT, 'suites is append-only'); END;
CREATE TRIGGER job_history_no_update BEFORE UPDATE ON job_history
    BEGIN SELECT RAISE(ABORT, 'job_history is append-only'); END;
CREATE TRIGGER job_history_no_delete BEFORE DELETE ON job_history
    BEGIN SELECT RAISE(ABORT, 'job_history is append-only'); END;
CREATE TRIGGER plan_steps_no_update BEFORE UPDATE ON plan_steps
    BEGIN SELECT RAISE(ABORT, 'plan_steps is append-only'); END;
CREATE TRIGGER plan_steps_no_delete BEFORE DELETE ON plan_steps
    BEGIN SELECT RAISE(ABORT, 'plan_steps is append-only'); END;
CREATE TRIGGER inventories_no_update BEFORE UPDATE ON inventories
    BEGIN SELECT RAISE(ABORT, 'inventories is append-only'); END;
CREATE TRIGGER inventories_no_delete BEFORE DELETE ON inventories
    BEGIN SELECT RAISE(ABORT, 'inventories is append-only'); END;
CREATE TRIGGER competitors_no_update BEFORE UPDATE ON competitors
    BEGIN SELECT RAISE(ABORT, 'competitors is append-only'); END;
CREATE TRIGGER competitors_no_delete BEFORE DELETE ON competitors
    BEGIN SELECT RAISE(ABORT, 'competitors is append-only'); END;
CREATE TRIGGER conditions_no_update BEFORE UPDATE ON conditions
    BEGIN SELECT RAISE(ABORT, 'conditions is append-only'); END;
CREATE TRIGGER conditions_no_delete BEFORE DELETE ON conditions
    BEGIN SELECT RAISE(ABORT, 'conditions is append-only'); END;
CREATE TRIGGER facts_no_update BEFORE UPDATE ON facts
    BEGIN SELECT RAISE(ABORT, 'facts is append-only'); END;
CREATE TRIGGER facts_no_delete BEFORE DELETE ON facts
    BEGIN SELECT RAISE(ABORT, 'facts is append-only'); END;
CREATE TRIGGER sources_no_update BEFORE UPDATE ON sources
    BEGIN SELECT RAISE(ABORT, 'sources is append-only'); END;
CREATE TRIGGER sources_no_delete BEFORE DELETE ON sources
    BEGIN SELECT RAISE(ABORT, 'sources is append-only'); END;
CREATE TRIGGER builds_no_update BEFORE UPDATE ON builds
    BEGIN SELECT RAISE(ABORT, 'builds is append-only'); END;
CREATE TRIGGER builds_no_delete BEFORE DELETE ON builds
    BEGIN SELECT RAISE(ABORT, 'builds is append-only'); END;
CREATE TRIGGER artifacts_no_update BEFORE UPDATE ON artifacts
    BEGIN SELECT RAISE(ABORT, 'artifacts is append-only'); END;
CREATE TRIGGER artifacts_no_delete BEFORE DELETE ON artifacts
    BEGIN SELECT RAISE(ABORT, 'artifacts is append-only'); END;
CREATE TRIGGER tools_no_update BEFORE UPDATE ON tools
    BEGIN SELECT RAISE(ABORT, 'tools is append-only'); END;
CREATE TRIGGER tools_no_delete BEFORE DELETE ON tools
    BEGIN SELECT RAISE(ABORT, 'tools is append-only'); END;
CREATE TRIGGER rechecks_no_update BEFORE UPDATE ON rechecks
    BEGIN SELECT RAISE(ABORT, 'rechecks is append-only'); END;
CREATE TRIGGER rechecks_no_delete BEFORE DELETE ON rechecks
    BEGIN SELECT RAISE(ABORT, 'rechecks is append-only'); END;
CREATE TRIGGER observations_no_update BEFORE UPDATE ON observations
    BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER observations_no_delete BEFORE DELETE ON observations
    BEGIN SELECT RAISE(ABORT, 'observations is append-only'); END;
CREATE TRIGGER refusals_no_update BEFORE UPDATE ON refusals
    BEGIN SELECT RAISE(ABORT, 'refusals is append-only'); END;
CREATE TRIGGER refusals_no_delete BEFORE DELETE ON refusals
    BEGIN SELECT RAISE(ABORT, 'refusals is append-only'); END;
CREATE TRIGGER reports_no_update BEFORE UPDATE ON reports
    BEGIN SELECT RAISE(ABORT, 'reports is append-only'); END;
CREATE TRIGGER reports_no_delete BEFORE DELETE ON reports
    BEGIN SELECT RAISE(ABORT, 'reports is append-only'); END;

-- Jobs, attempts and boots change, but not who they are; an attempt not at all once it has ended.
CREATE TRIGGER jobs_no_delete BEFORE DELETE ON jobs
    BEGIN SELECT RAISE(ABORT, 'jobs are never removed'); END;
CREATE TRIGGER jobs_fixed
    BEFORE UPDATE OF number, id, id_reversed, document, policy, suite_sha256, peer_uid, submitted_ms
    ON jobs
    BEGIN SELECT RAISE(ABORT, 'what was submitted never changes'); END;
CREATE TRIGGER attempts_no_delete BEFORE DELETE ON attempts
    BEGIN SELECT RAISE(ABORT, 'attempts are never removed'); END;
CREATE TRIGGER attempts_ended BEFORE UPDATE ON attempts WHEN OLD.ended_ms IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'an ended attempt never changes'); END;
CREATE TRIGGER attempts_fixed
    BEFORE UPDATE OF id, job, number, boot, host, version, policy, started_ms ON attempts
    BEGIN SELECT RAISE(ABORT, 'what an attempt began with never changes'); END;
CREATE TRIGGER boots_no_delete BEFORE DELETE ON boots
    BEGIN SELECT RAISE(ABORT, 'boots are never removed'); END;
CREATE TRIGGER boots_fixed BEFORE UPDATE OF id, boot_wall_ms, first_ms ON boots
    BEGIN SELECT RAISE(ABORT, 'the identity of a boot never changes'); END;
