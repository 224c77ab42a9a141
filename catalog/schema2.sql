-- When the interval last changed, or the point last came back; NULL: never. Samples are not
-- expected in the present interval before it.
ALTER TABLE point ADD COLUMN since INTEGER;
