-- The child whose point it is; '' for those of this node. What this node's own configuration
-- says of its devices leaves a child's points alone.
ALTER TABLE point ADD COLUMN child TEXT NOT NULL DEFAULT '';
