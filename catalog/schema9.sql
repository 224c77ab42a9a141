-- Nodes below this one, and the invitations to become one. Of an invitation's key only the public half
-- is here.
CREATE TABLE child (
    name       TEXT    NOT NULL PRIMARY KEY,
    public     TEXT    NOT NULL UNIQUE,
    state      TEXT    NOT NULL,    -- pending, approved, revoked
    prefix     TEXT    NOT NULL,    -- '' for everywhere
    grants     TEXT    NOT NULL,    -- JSON
    version    TEXT    NOT NULL,
    invitation TEXT    NOT NULL,    -- its id; '' for none
    previous   TEXT    NOT NULL,    -- JSON, a list of public keys
    joined     INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    by         TEXT    NOT NULL
) STRICT;

CREATE TABLE invitation (
    id       TEXT    NOT NULL PRIMARY KEY,
    public   TEXT    NOT NULL UNIQUE,
    approved INTEGER NOT NULL,
    name     TEXT    NOT NULL,      -- '' lets the child choose
    prefix   TEXT    NOT NULL,
    grants   TEXT    NOT NULL,      -- JSON
    created  INTEGER NOT NULL,
    expires  INTEGER NOT NULL,
    by       TEXT    NOT NULL,
    used     INTEGER,
    used_by  TEXT    NOT NULL,
    canceled INTEGER
) STRICT;
