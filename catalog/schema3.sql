-- Where a credential may record; '' is anywhere.
ALTER TABLE credential ADD COLUMN under TEXT NOT NULL DEFAULT '';

-- Writes with an idempotency key, so that a repeated one gets the first answer.
CREATE TABLE repeat (
    user   TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    hash   BLOB    NOT NULL,    -- SHA-256 of what was asked
    at     INTEGER NOT NULL,    -- when it was asked first
    status INTEGER NOT NULL,    -- of the answer; 0: there is none yet
    answer BLOB    NOT NULL,
    PRIMARY KEY (user, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX repeat_at ON repeat (at);
