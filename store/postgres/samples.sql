
CREATE OR REPLACE VIEW samples AS
SELECT p.path AS point, s.time, s.value, s.exact, s.text,
	(ARRAY['none', 'float', 'int', 'bool', 'text'])[(s.tag >> 8) + 1] AS kind,
	s.tag & 255 AS quality
FROM sample s JOIN point p USING (id);
