-- Receipts of portable-kernel benchmarks, each once, as they came in.
CREATE TABLE kernel_receipts (
    number     INTEGER PRIMARY KEY, -- order of coming in
    id         TEXT NOT NULL UNIQUE,
    sha256     TEXT NOT NULL UNIQUE, -- of the canonical document
    wall_ms    INTEGER NOT NULL,
    peer_uid   INTEGER,
    machine    TEXT, -- as the receipt or who brought it says; NULL: nobody does
    schema     TEXT NOT NULL,
    target     TEXT NOT NULL CHECK (target IN ('native', 'browser')),
    profile    TEXT NOT NULL CHECK (profile IN ('release', 'debug')),
    source     TEXT NOT NULL,
    entry      TEXT NOT NULL,
    workers    INTEGER NOT NULL CHECK (workers BETWEEN 1 AND 256),
    iterations INTEGER NOT NULL CHECK (iterations BETWEEN 1 AND 1000000),
    document   TEXT NOT NULL -- JSON text, whole
) STRICT;

CREATE TRIGGER kernel_receipts_no_update BEFORE UPDATE ON kernel_receipts
    BEGIN SELECT RAISE(ABORT, 'kernel_receipts is append-only'); END;
CREATE TRIGGER kernel_receipts_no_delete BEFORE DELETE ON kernel_receipts
    BEGIN SELECT RAISE(ABORT, 'kernel_receipts is append-only'); END;
