-- The audit log, version 1; docs/formats/audit.md says how the hashes are made.
CREATE TABLE entry (
    seq     INTEGER NOT NULL PRIMARY KEY,  -- 1, 2, 3 … without gaps within a segment
    segment INTEGER NOT NULL,              -- 1, and one more for each time the chain had to begin anew
    time    INTEGER NOT NULL,              -- microseconds since 1970 UTC
    actor   TEXT    NOT NULL,
    action  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    outcome TEXT    NOT NULL,
    detail  TEXT    NOT NULL,              -- JSON on one line, or ''
    hash    BLOB    NOT NULL               -- 32 bytes
) STRICT;
