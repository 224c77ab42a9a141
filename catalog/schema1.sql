-- Times are microseconds since 1970 UTC. Paths compare byte by byte: that is path order.

CREATE TABLE point (
    path        TEXT    NOT NULL PRIMARY KEY,
    kind        INTEGER NOT NULL,            -- point.Kind
    unit        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    writable    INTEGER NOT NULL,
    device      TEXT    NOT NULL,
    interval    INTEGER NOT NULL,            -- microseconds, 0: unknown
    tags        TEXT    NOT NULL,            -- JSON object of strings
    first_seen  INTEGER NOT NULL,
    removed     INTEGER                      -- when it left the configuration; NULL: it is there
) STRICT, WITHOUT ROWID;

CREATE INDEX point_device ON point (device);
CREATE INDEX point_removed ON point (path) WHERE removed IS NOT NULL;

CREATE TABLE user (
    name    TEXT    NOT NULL PRIMARY KEY,
    role    TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE credential (
    hash    BLOB    NOT NULL PRIMARY KEY,    -- SHA-256 of the secret
    user    TEXT    NOT NULL REFERENCES user (name) ON DELETE CASCADE,
    purpose TEXT    NOT NULL,                -- token, session
    parent  BLOB    REFERENCES credential (hash) ON DELETE CASCADE,
    created INTEGER NOT NULL,
    expires INTEGER                          -- NULL: never
) STRICT, WITHOUT ROWID;

CREATE INDEX credential_user   ON credential (user);
CREATE INDEX credential_parent ON credential (parent);

CREATE TABLE member (
    public  TEXT    NOT NULL PRIMARY KEY,    -- nkey
    name    TEXT    NOT NULL,
    role    TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
