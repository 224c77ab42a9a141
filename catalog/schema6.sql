-- Programs with an identity of their own on the bus.
CREATE TABLE agent (
    name    TEXT    NOT NULL PRIMARY KEY,
    public  TEXT    NOT NULL UNIQUE,         -- nkey
    grants  TEXT    NOT NULL,                -- JSON
    created INTEGER NOT NULL,
    revoked INTEGER                          -- NULL: it may connect
) STRICT, WITHOUT ROWID;
