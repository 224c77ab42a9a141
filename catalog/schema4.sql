-- The encoded password of a person; NULL: the user logs in by tokens only.
ALTER TABLE user ADD COLUMN password TEXT;
