-- Until when a key of a child is taken that came in a bundle, as long as nobody has used it. By key, so that
-- it says nothing of the key that follows.
CREATE TABLE IF NOT EXISTS bundle_key (
    public  TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT;
