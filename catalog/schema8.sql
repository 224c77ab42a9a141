-- Tokens that people make for programs: how they are named, and the most they may do; '' for what
-- their user may.
ALTER TABLE credential ADD COLUMN id   TEXT NOT NULL DEFAULT '';
ALTER TABLE credential ADD COLUMN name TEXT NOT NULL DEFAULT '';
ALTER TABLE credential ADD COLUMN most TEXT NOT NULL DEFAULT '';
