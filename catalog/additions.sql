-- Until when a key of a child is taken that came in a bundle, as long as nobody has used it. By key, so that
-- it says nothing of the key that follows.
CREATE TABLE IF NOT EXISTS bundle_key (
    public  TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT;
-- Where audit logs ended: that of this node ('') and, as they told, those of its children by name.
CREATE TABLE IF NOT EXISTS audit_head (
    node   TEXT    NOT NULL PRIMARY KEY,
    joined INTEGER NOT NULL,  -- when the child joined; 0 for this node
    head   TEXT    NOT NULL
) STRICT;
-- What the documents of an owner take, all versions and notes, so that a bound costs no sum over them. Each
-- version counts 256 bytes beside its texts.
CREATE TABLE IF NOT EXISTS document_use (
    owner  TEXT    NOT NULL PRIMARY KEY,
    octets INTEGER NOT NULL
) STRICT;
INSERT INTO document_use
    SELECT owner, sum(octet_length(text) + octet_length(note) + 256) FROM document
    WHERE NOT EXISTS (SELECT 1 FROM document_use) GROUP BY owner;
CREATE TRIGGER IF NOT EXISTS document_added AFTER INSERT ON document BEGIN
    INSERT INTO document_use VALUES (NEW.owner, octet_length(NEW.text) + octet_length(NEW.note) + 256)
        ON CONFLICT (owner) DO UPDATE SET octets = octets + excluded.octets;
END;
CREATE TRIGGER IF NOT EXISTS document_gone AFTER DELETE ON document BEGIN
    UPDATE document_use SET octets = octets - (octet_length(OLD.text) + octet_length(OLD.note) + 256) WHERE owner = OLD.owner;
END;

-- Points stand in blocks: a point is what the newest block says that names it. Each block is a JSON array of
-- groups of points that differ in their paths only:
-- [kind,writable,unit,interval,tags,removed,since,child,device,description,first_seen,[path,…]]
-- with the columns of the view below; removed and since are 0 for never.
CREATE TABLE IF NOT EXISTS point_block (
    id     INTEGER NOT NULL PRIMARY KEY,
    points TEXT    NOT NULL
) STRICT;

-- The newest block when the rows of the table point were written, for programs that know those only.
CREATE TABLE IF NOT EXISTS point_row (
    block INTEGER NOT NULL
) STRICT;

-- The points one by one, to be looked at.
CREATE VIEW IF NOT EXISTS point_now AS
SELECT path.value AS path, line.value ->> 0 AS kind, line.value ->> 1 AS writable, line.value ->> 2 AS unit,
    line.value ->> 3 AS interval, line.value -> 4 AS tags, nullif(line.value ->> 5, 0) AS removed,
    nullif(line.value ->> 6, 0) AS since, line.value ->> 7 AS child, line.value ->> 8 AS device,
    line.value ->> 9 AS description, line.value ->> 10 AS first_seen, max(block.id) AS block
FROM point_block AS block, json_each(block.points) AS line, json_each(line.value, '$[11]') AS path
GROUP BY path.value;
