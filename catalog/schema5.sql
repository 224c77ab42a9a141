-- Open alerts of agents.
CREATE TABLE alert (
    agent    TEXT    NOT NULL,
    key      TEXT    NOT NULL,
    severity TEXT    NOT NULL,    -- info, warning, critical
    text     TEXT    NOT NULL,
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    PRIMARY KEY (agent, key)
) STRICT, WITHOUT ROWID;
