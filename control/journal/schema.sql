-- The state of control, version 3: what package control exports, one row for each record, and over it what
-- changed last, one row for each time that something was kept.
CREATE TABLE record (
    kind TEXT NOT NULL, -- "point", "task", "override", "proposal", "answers" or "meta"
    key  TEXT NOT NULL, -- within the kind
    data TEXT NOT NULL, -- JSON
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
