-- Sessions are never removed; what was opened stays as it was, and a closed or sealed one is final.
-- The jobs' columns of 0004 that say what was submitted are as fixed as the others.
CREATE TRIGGER sessions_no_delete BEFORE DELETE ON sessions
    BEGIN SELECT RAISE(ABORT, 'sessions are never removed'); END;
CREATE TRIGGER sessions_fixed
    BEFORE UPDATE OF number, id, label, document, peer_uid, opened_ms, opened_boot ON sessions
    BEGIN SELECT RAISE(ABORT, 'what was opened never changes'); END;
CREATE TRIGGER sessions_closed BEFORE UPDATE OF closed_ms ON sessions
    WHEN OLD.closed_ms IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a closed session never changes'); END;
CREATE TRIGGER sessions_sealed BEFORE UPDATE OF evidence, sums_sha256 ON sessions
    WHEN OLD.evidence IS NOT NULL
    BEGIN SELECT RAISE(ABORT, 'a sealed session never changes'); END;
CREATE TRIGGER jobs_schedule_fixed BEFORE UPDATE OF session, timed, deadline_ms ON jobs
    BEGIN SELECT RAISE(ABORT, 'what was submitted never changes'); END;
