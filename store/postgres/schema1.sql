CREATE TABLE schema_version (version int NOT NULL);
INSERT INTO schema_version VALUES (0);

CREATE TABLE point (
	id   int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	path text COLLATE "C" NOT NULL UNIQUE
);

-- The columns stand in this order so that a row of numbers takes 52 bytes.
CREATE TABLE sample (
	time   timestamptz NOT NULL,
	value  double precision,
	id     int NOT NULL,
	tag    smallint NOT NULL,
	exact  bigint,
	text   text,
	octets bytea,
	PRIMARY KEY (id, time)
) PARTITION BY RANGE (time);
CREATE INDEX sample_time ON sample USING brin (time);

CREATE TABLE day (
	day    date PRIMARY KEY,
	closed boolean NOT NULL DEFAULT false
);

CREATE TABLE tally (
	day     date NOT NULL,
	writer  text NOT NULL,
	samples bigint NOT NULL,
	newest  timestamptz NOT NULL,
	PRIMARY KEY (day, writer)
);

CREATE TABLE writer (
	name     text PRIMARY KEY,
	log      text NOT NULL DEFAULT '',
	sequence bigint NOT NULL DEFAULT 0,
	replaced bigint NOT NULL DEFAULT 0,
	expired  bigint NOT NULL DEFAULT 0
);

CREATE TABLE position (
	origin   text PRIMARY KEY,
	sequence bigint NOT NULL,
	samples  bigint NOT NULL,
	stored   bigint NOT NULL,
	repeated bigint NOT NULL,
	missing  bigint NOT NULL,
	refused  bigint NOT NULL,
	time     timestamptz NOT NULL
);

CREATE TABLE gap (
	number  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	origin  text NOT NULL,
	first   bigint NOT NULL,
	last    bigint NOT NULL,
	samples bigint NOT NULL,
	reason  text NOT NULL,
	noticed timestamptz NOT NULL
);

CREATE VIEW points AS SELECT id, path FROM point;
