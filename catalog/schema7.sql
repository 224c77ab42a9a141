-- Configuration documents, each version a row. Names are without regard to case: folded is the name
-- in lower case.
CREATE TABLE document (
    owner   TEXT    NOT NULL,
    folded  TEXT    NOT NULL,
    version INTEGER NOT NULL,
    name    TEXT    NOT NULL,
    type    TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    by      TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    note    TEXT    NOT NULL,
    deleted INTEGER NOT NULL,    -- this version says that the document is gone
    newest  INTEGER NOT NULL,    -- 1 for the last version of each
    PRIMARY KEY (owner, folded, version)
) STRICT;

CREATE UNIQUE INDEX document_newest ON document (owner, folded) WHERE newest = 1;

CREATE TABLE document_schema (
    owner  TEXT NOT NULL,
    folded TEXT NOT NULL,
    text   TEXT NOT NULL,        -- JSON Schema
    PRIMARY KEY (owner, folded)
) STRICT, WITHOUT ROWID;
