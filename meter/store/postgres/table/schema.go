// Package table is what the tables of a metering store in PostgreSQL hold, and how rows are written and read. They are
// documented in docs/formats/metering.md.
package table

import "strings"

// BucketBits is the binary logarithm of how many channels with consecutive numbers share a row of what arrives.
const BucketBits = 8

// BucketOf returns the bucket of a channel.
func BucketOf(channel uint32) uint32 { return channel >> BucketBits }

// Schema makes the tables.
const Schema = `
CREATE TABLE meter_layout (version int NOT NULL, zone text NOT NULL);
CREATE TABLE meter_state (log text NOT NULL, sequence bigint NOT NULL, newest bigint NOT NULL, exception bigint NOT NULL, number bigint NOT NULL,
	event_log text NOT NULL, event_sequence bigint NOT NULL, event bigint NOT NULL);
INSERT INTO meter_state VALUES ('', 0, 0, 0, 0, '', 0, 0);

CREATE TABLE meter_model (number int PRIMARY KEY, text text NOT NULL);
CREATE TABLE meter_channel (model int NOT NULL, place int NOT NULL, number int NOT NULL, reading_type text NOT NULL, seconds int NOT NULL, PRIMARY KEY (model, place));
CREATE TABLE meter (number int PRIMARY KEY, id text COLLATE "C" NOT NULL UNIQUE, model int NOT NULL, first int NOT NULL, since int NOT NULL, until int NOT NULL);
CREATE TABLE meter_point (point text COLLATE "C" PRIMARY KEY, premises text NOT NULL);
CREATE TABLE meter_installation (point text COLLATE "C" NOT NULL, meter int NOT NULL, since bigint NOT NULL, until bigint NOT NULL);
CREATE INDEX ON meter_installation (point);
CREATE INDEX ON meter_installation (meter);

CREATE TABLE meter_source (number int PRIMARY KEY, stage smallint NOT NULL, status bigint NOT NULL, flags text NOT NULL, reason text NOT NULL, who text NOT NULL, rule text NOT NULL);
CREATE TABLE meter_day (day int PRIMARY KEY, date date NOT NULL, start timestamptz NOT NULL, finish timestamptz NOT NULL,
	rows bigint NOT NULL, waiting bigint NOT NULL, judged boolean NOT NULL, bound bigint NOT NULL);

CREATE TABLE meter_arrived (day int NOT NULL, bucket int NOT NULL, number bigint NOT NULL, recorded bigint NOT NULL, channels smallint[] NOT NULL,
	place int, places int[], source int, sources int[], scale smallint NOT NULL, small smallint[], medium int[], large double precision[])
	WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX ON meter_arrived (day, bucket);

CREATE TABLE meter_intervals (day int NOT NULL, channel int NOT NULL, judged bigint NOT NULL, base bigint NOT NULL, step int NOT NULL,
	source int, verdict int, scale smallint NOT NULL, small smallint[], medium int[], large double precision[],
	delay bytea, delays int[], sources int[], verdicts int[], more double precision[], PRIMARY KEY (day, channel));

CREATE TABLE meter_bucket (day int NOT NULL, bucket int NOT NULL, channels smallint[] NOT NULL, total double precision[] NOT NULL,
	highest double precision[] NOT NULL, lacking int[] NOT NULL, PRIMARY KEY (day, bucket));

CREATE TABLE meter_use (day int NOT NULL, channel int NOT NULL, used int NOT NULL, PRIMARY KEY (used, channel, day));
CREATE TABLE meter_redo (day int NOT NULL, channel int NOT NULL, PRIMARY KEY (day, channel));
CREATE TABLE meter_stray (meter text COLLATE "C" NOT NULL, channel int NOT NULL, ends bigint NOT NULL, value double precision NOT NULL, recorded bigint NOT NULL, source int NOT NULL);
CREATE INDEX ON meter_stray (meter);
CREATE TABLE meter_exception (number bigint PRIMARY KEY, channel int NOT NULL, day int NOT NULL, status bigint NOT NULL, count int NOT NULL, noticed bigint NOT NULL);
CREATE INDEX ON meter_exception (day, channel);
CREATE INDEX ON meter_exception (channel);
CREATE TABLE meter_settled (number bigint PRIMARY KEY, channel int NOT NULL, day int NOT NULL, status bigint NOT NULL, count int NOT NULL, who text NOT NULL, why text NOT NULL, recorded bigint NOT NULL);
CREATE INDEX ON meter_settled (day, channel);
CREATE TABLE meter_event (number bigint PRIMARY KEY, meter text COLLATE "C" NOT NULL, moment bigint NOT NULL, kind smallint NOT NULL, severity smallint NOT NULL, code bigint NOT NULL,
	detail text NOT NULL, recorded bigint NOT NULL, who text NOT NULL);
CREATE INDEX ON meter_event (meter, moment);
CREATE INDEX ON meter_event (moment, number);
`

// An arm of the view of versions: where they stand is put in place of FROM.
const arm = `
SELECT m.id AS meter, c.number AS channel, c.reading_type, d.date AS day,
	CASE WHEN x.place < 0 THEN d.start + (-1 - x.place) * interval '1 millisecond'
		WHEN c.seconds > 3600 THEN least((d.date + (x.place + 1) * c.seconds * interval '1 second') AT TIME ZONE l.zone, d.finish)
		ELSE least(d.start + (x.place + 1) * c.seconds * interval '1 second', d.finish) END AS "end",
	x.value, (ARRAY['raw', 'validated', 'estimated', 'edited'])[s.stage + 1] AS stage, s.flags AS status, to_timestamp(x.recorded) AS recorded,
	s.who, s.rule, s.reason, (ARRAY[0, 1, 1, 2])[s.stage + 1] AS rank, x.step
FROM meter m JOIN meter_channel c ON c.model = m.model CROSS JOIN meter_layout l CROSS JOIN meter_day d FROM
JOIN meter_source s ON s.number = x.source`

const cell = `JOIN meter_intervals r ON r.day = d.day AND r.channel = m.first + c.place
	CROSS JOIN LATERAL unnest(r.small, r.medium, r.large, r.sources, r.verdicts, r.delays) WITH ORDINALITY u(small, medium, large, source, verdict, delay, n)
	CROSS JOIN LATERAL (SELECT (u.n - 1)::int AS place, coalesce(u.large, coalesce(u.small, u.medium) / 10::float8 ^ r.scale) AS value, `

// Views makes what people and programs read: all versions of readings, and those that count now.
func Views() string {
	arms := []string{
		cell + `coalesce(u.source, r.source) AS source, r.base + (u.n * r.step) + coalesce(get_byte(r.delay, u.n::int - 1), u.delay, 0) AS recorded, 0::bigint AS step
		WHERE coalesce(u.small, u.medium, u.large) IS NOT NULL) x`,
		cell + `coalesce(u.verdict, r.verdict) AS source, r.judged AS recorded, 1::bigint AS step WHERE coalesce(u.small, u.medium, u.large) IS NOT NULL) x`,
		`JOIN meter_intervals r ON r.day = d.day AND r.channel = m.first + c.place
	CROSS JOIN LATERAL (SELECT r.more[g]::int AS place, r.more[g + 1] AS value, r.more[g + 2]::bigint AS recorded, r.more[g + 3]::int AS source, 1 + g::bigint AS step
		FROM generate_series(1, cardinality(r.more), 4) g) x`,
		`JOIN meter_arrived a ON a.day = d.day AND a.bucket = (m.first + c.place) >> 8
	CROSS JOIN LATERAL (SELECT coalesce(u.place, a.place) AS place, coalesce(u.large, coalesce(u.small, u.medium) / 10::float8 ^ a.scale) AS value, a.recorded,
		coalesce(u.source, a.source) AS source, 1000000000 + a.number * 1000 + u.n AS step
		FROM unnest(a.channels, a.places, a.sources, a.small, a.medium, a.large) WITH ORDINALITY u(channel, place, source, small, medium, large, n)
		WHERE u.channel = (m.first + c.place) & 255) x`,
	}
	for i, from := range arms {
		arms[i] = strings.Replace(arm, "d FROM\n", "d "+from+"\n", 1)
	}
	return "CREATE OR REPLACE VIEW meter_version AS" + strings.Join(arms, "\nUNION ALL") + `;
CREATE OR REPLACE VIEW reading_versions AS SELECT meter, channel, reading_type, day, "end", value, stage, status, recorded, who, rule, reason FROM meter_version;
CREATE OR REPLACE VIEW readings AS SELECT DISTINCT ON (meter, channel, day, "end") meter, channel, reading_type, day, "end", value, stage, status, recorded, who, rule, reason
	FROM meter_version ORDER BY meter, channel, day, "end", rank DESC, recorded DESC, step DESC;
` + registered()
}
