-- The state of control, version 2: what package control exports, one row for each record.
CREATE TABLE record (
    kind TEXT NOT NULL, -- "point", "task", "override", "proposal", "answers" or "meta"
    key  TEXT NOT NULL, -- within the kind
    data TEXT NOT NULL, -- JSON
    PRIMARY KEY (kind, key)
) STRICT, WITHOUT ROWID;
