CREATE TABLE IF NOT EXISTS turn (
    number INTEGER NOT NULL PRIMARY KEY, -- a later one counts more
    data   BLOB    NOT NULL              -- JSON: a list of records, [{"kind":…,"key":…,"data":…}, …]; without data it is gone
) STRICT;
