package sqlview

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/vee"
	"voltbus/store/duckdb/engine"
)

// What views show of a version. End, recorded and the rest of the columns are made of the numbers that stand in files.
const (
	versionColumns = `c.meter, c.number AS channel, c.reading_type, r.day,
	CASE WHEN r.place < 0 THEN d.start + (-1 - r.place) * INTERVAL 1 MILLISECOND
		WHEN d.ends IS NOT NULL THEN d.ends[r.place + 1]
		ELSE least(d.start + (r.place + 1) * d.seconds * INTERVAL 1 SECOND, d.finish) END AS "end",
	r.value, s.stage, s.status, r.recorded, r.relative AND d.delayed AS delayed, s.who, s.rule, s.reason`
	versionJoins = ` r JOIN m.channel c ON c.channel = r.channel JOIN m.span d ON d.day = r.day AND d.seconds = c.seconds JOIN m.source s ON s.number = r.source`
	shownColumns = `meter, channel, reading_type, day, "end", value, stage, status,
	make_timestamp((recorded + CASE WHEN delayed THEN epoch("end")::BIGINT ELSE 0 END) * 1000000) AS recorded, who, rule, reason`

	sealedColumns  = "channel, place, value, recorded, source, verdict"
	versionedTable = "channel, place, value, recorded, source, rowid::BIGINT AS step"

	noSealed = "SELECT NULL::DATE AS day, 0::UINTEGER AS channel, 0 AS place, 0::DOUBLE AS value, 0::BIGINT AS recorded, 0::UINTEGER AS source, 0::UINTEGER AS verdict WHERE false"
	noLoose  = "SELECT NULL::DATE AS day, 0::UINTEGER AS channel, 0 AS place, 0::DOUBLE AS value, 0::BIGINT AS recorded, 0::UINTEGER AS source, 0::BIGINT AS step WHERE false"
)

// What counts of an interval is the version of the highest stage, of these that which was recorded last, of these that which stands
// last. Packed into one number with the number of its source, the engine finds it with the least memory.
const (
	packed = "(s.rank::HUGEINT << 108) + (r.recorded::HUGEINT << 76) + ((r.step + 1)::HUGEINT << 32) + r.source"
	best   = `SELECT day, channel, place, value, (best >> 76 & 4294967295)::BIGINT AS recorded, false AS relative, (best & 4294967295)::UINTEGER AS source
	FROM (SELECT day, channel, place, arg_max(value, best) AS value, max(best) AS best FROM (%s) GROUP BY day, channel, place)`
	verdicts = "SELECT r.day, r.channel, r.place, r.value, v.recorded::BIGINT AS recorded, v.source FROM %s r JOIN m.verdict v ON v.number = r.verdict"
)

// current are the queries of the versions that count. Days that have nothing but rows of the sorted table, or none of them, take less.
func current() []string {
	clean, mixed := fmt.Sprintf(verdicts, "m.clean"), fmt.Sprintf(verdicts, "m.mixed")
	loose := "SELECT r.day, r.channel, r.place, r.value, " + packed + " AS best FROM m.%s r JOIN m.source s ON s.number = r.source"
	return []string{
		"SELECT day, channel, place, value, recorded, false AS relative, source FROM (" + clean + ")",
		"SELECT day, channel, place, value, recorded, false AS relative, source FROM (" + mixed + ") ANTI JOIN m.changed USING (day, channel, place)",
		fmt.Sprintf(best, fmt.Sprintf(loose, "open")),
		fmt.Sprintf(best, fmt.Sprintf(loose, "changed")+" UNION ALL SELECT r.day, r.channel, r.place, r.value, "+packed+
			" FROM (SELECT *, -1::BIGINT AS step FROM ("+mixed+") SEMI JOIN m.changed USING (day, channel, place)) r JOIN m.source s ON s.number = r.source"),
	}
}

const versionsSQL = `SELECT day, channel, place, value, recorded, true AS relative, source FROM m.sealed
UNION ALL SELECT r.day, r.channel, r.place, r.value, v.recorded::BIGINT, false, v.source FROM m.sealed r JOIN m.verdict v ON v.number = r.verdict
UNION ALL SELECT day, channel, place, value, recorded, false, source FROM m.loose`

// views are the statements that make what a statement reads.
func (p *picture) views() []string {
	list := []string{
		"SET parquet_metadata_cache=true", "CREATE SCHEMA m",
		"CREATE VIEW m.model AS " + models(p.models),
		"CREATE VIEW m.meter AS SELECT number, id, model, first, since, until FROM " + p.of("meters", "NULL::UINTEGER AS number, '' AS id, 0::UINTEGER AS model, 0::UINTEGER AS first, 0 AS since, 0 AS until"),
		"CREATE VIEW m.channel AS SELECT (m.first + c.place)::UINTEGER AS channel, m.id AS meter, c.* EXCLUDE (place) FROM m.meter m JOIN m.model c ON c.model = m.model WHERE c.place >= 0",
		`CREATE VIEW channels AS SELECT meter, number AS channel, reading_type, obis, unit, multiplier, seconds FROM m.channel`,
	}
	if p.wants("meters") {
		list = append(list, metersSQL(p.of("points", "'' AS point, '' AS premises"), p.of("installations", "'' AS point, 0::UINTEGER AS meter, 0::BIGINT AS since, 0::BIGINT AS until")))
	}
	if p.wants("meter_events") {
		list = append(list, eventsSQL(p.of("events", "'' AS meter, 0::BIGINT AS moment, 0::UTINYINT AS kind, 0::UTINYINT AS severity, 0::UBIGINT AS code, '' AS detail, 0::UINTEGER AS recorded, '' AS who")))
	}
	if !p.wants("readings") && !p.wants("reading_versions") {
		return list
	}
	return append(list,
		"CREATE VIEW m.source AS SELECT s.number, "+stages+", coalesce(f.text, '') AS status, s.who, s.rule, s.reason FROM "+
			p.of("sources", "0::UINTEGER AS number, 0::UINTEGER AS stage, 0::UINTEGER AS status, '' AS reason, '' AS who, '' AS rule")+
			" s LEFT JOIN (VALUES "+strings.Join(p.flags(), ",")+") f(bits, text) ON f.bits = s.status",
		"CREATE VIEW m.verdict AS SELECT number, recorded, source FROM "+p.of("verdicts", "0::UINTEGER AS number, 0::UINTEGER AS recorded, 0::UINTEGER AS source"),
		"CREATE VIEW m.span AS SELECT day, seconds, start, finish, delayed, ends FROM (VALUES "+strings.Join(p.spans(), ",")+") s(day, seconds, start, finish, delayed, ends)",
		"CREATE VIEW m.clean AS "+union(p.clean, noSealed),
		"CREATE VIEW m.mixed AS "+union(p.mixed, noSealed),
		"CREATE VIEW m.open AS "+union(p.open, noLoose),
		"CREATE VIEW m.changed AS "+union(p.changed, noLoose),
		"CREATE VIEW m.sealed AS FROM m.clean UNION ALL FROM m.mixed",
		"CREATE VIEW m.loose AS FROM m.open UNION ALL FROM m.changed",
		"CREATE VIEW m.reading AS "+union(current(), ""),
		"CREATE VIEW m.version AS "+versionsSQL,
		"CREATE VIEW readings AS SELECT "+shownColumns+" FROM (SELECT "+versionColumns+" FROM m.reading"+versionJoins+")",
		"CREATE VIEW reading_versions AS SELECT "+shownColumns+" FROM (SELECT "+versionColumns+" FROM m.version"+versionJoins+")",
	)
}

const stages = "['raw', 'validated', 'estimated', 'edited'][s.stage + 1] AS stage, [0, 1, 1, 2][s.stage + 1] AS rank"

func union(parts []string, none string) string {
	if len(parts) == 0 {
		return none
	}
	return strings.Join(parts, " UNION ALL ")
}

// metersSQL makes the view of the meters, with where they are installed now.
func metersSQL(points, installations string) string {
	day := func(column string, none store.Day) string {
		return fmt.Sprintf("CASE WHEN m.%s <> %d THEN DATE '1970-01-01' + m.%s END AS %s", column, none, column, column)
	}
	return "CREATE VIEW meters AS SELECT m.id AS meter, k.commodity, " + day("since", directory.Always) + ", " + day("until", directory.Never) +
		", i.point AS service_point, p.premises FROM m.meter m JOIN (SELECT DISTINCT model, commodity FROM m.model) k ON k.model = m.model LEFT JOIN " +
		installations + " i ON i.meter = m.number AND i.until = 0 LEFT JOIN " + points + " p ON p.point = i.point"
}

// eventsSQL makes the view of what meters reported.
func eventsSQL(events string) string {
	return "CREATE VIEW meter_events AS SELECT meter, make_timestamp(moment * 1000) AS time, " + names("kind", func(n int) string { return meter.EventKind(n).String() }) + ", " +
		names("severity", func(n int) string { return meter.Severity(n).String() }) +
		", concat_ws('.', code >> 48, code >> 32 & 65535, code >> 16 & 65535, code & 65535) AS code, detail, make_timestamp(recorded::BIGINT * 1000000) AS recorded, who FROM " + events
}

// names turns the small numbers of a column into words. Numbers without a word are like those of a newer program.
func names(column string, of func(int) string) string {
	b := strings.Builder{}
	b.WriteString("CASE " + column)
	for n := range 16 {
		fmt.Fprintf(&b, " WHEN %d THEN %s", n, engine.Quote(of(n)))
	}
	return b.String() + " END AS " + column
}

// models are the channels of each description, as a query.
func models(list []*directory.Model) string {
	rows := make([]string, 0, len(list))
	for n, m := range list {
		if len(m.Channels) == 0 {
			rows = append(rows, fmt.Sprintf("(%d, %s, -1, 0, '', '', '', 1::DOUBLE, 0)", n, engine.Quote(m.Commodity.String())))
		}
		for place, c := range m.Channels {
			obis := ""
			if c.OBIS != (meter.OBIS{}) {
				obis = c.OBIS.String()
			}
			rows = append(rows, fmt.Sprintf("(%d, %s, %d, %d, %s, %s, %s, %s::DOUBLE, %d)", n, engine.Quote(m.Commodity.String()), place, c.Number,
				engine.Quote(c.ReadingType.String()), engine.Quote(obis), engine.Quote(c.Unit()), strconv.FormatFloat(c.Multiplier, 'g', -1, 64), int(c.Interval/time.Second)))
		}
	}
	from := "FROM (VALUES " + strings.Join(rows, ",") + ")"
	if len(rows) == 0 {
		from = "FROM (SELECT 0, '', 0, 0, '', '', '', 1::DOUBLE, 0 WHERE false)"
	}
	return "SELECT model::UINTEGER AS model, commodity, place, number, reading_type, nullif(obis, '') AS obis, unit, multiplier, seconds " + from +
		" t(model, commodity, place, number, reading_type, obis, unit, multiplier, seconds)"
}

// flags are the words of each status that a version has.
func (p *picture) flags() []string {
	seen := map[uint32]bool{}
	list := []string{"(0::UINTEGER, '')"}
	for _, s := range p.sources {
		if s.Status != 0 && !seen[s.Status] {
			seen[s.Status] = true
			list = append(list, fmt.Sprintf("(%d, %s)", s.Status, engine.Quote(vee.Status(s.Status).String())))
		}
	}
	return list
}

// spans are, for each day and length of intervals, when the day begins and ends, and the ends of intervals that are longer than an hour:
// these are not all equally long on a day with a clock change.
func (p *picture) spans() []string {
	list := []string{"(NULL::DATE, 0, NULL::TIMESTAMP, NULL::TIMESTAMP, false, NULL::TIMESTAMP[])"}
	for _, d := range p.days {
		bounds := p.calendar.Bounds(d.Key)
		for _, seconds := range p.lengths() {
			ends := "NULL"
			if length := time.Duration(seconds) * time.Second; length > time.Hour {
				var all []string
				for _, end := range p.calendar.Ends(nil, d.Key, length) {
					all = append(all, stamp(end))
				}
				ends = "[" + strings.Join(all, ",") + "]"
			}
			list = append(list, fmt.Sprintf("(%s, %d, %s, %s, %t, %s)", date(d.Key), seconds, stamp(bounds.Start), stamp(bounds.End), d.Delayed, ends))
		}
	}
	return list
}

// lengths are those of the intervals of all channels, in seconds.
func (p *picture) lengths() (list []int) {
	for _, m := range p.models {
		for _, c := range m.Channels {
			if n := int(c.Interval / time.Second); !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
	}
	return list
}

func date(d store.Day) string { return "DATE '" + d.String() + "'" }

func stamp(micros int64) string { return "make_timestamp(" + strconv.FormatInt(micros, 10) + ")" }

// dayOf returns the day of a bound, which may be outside of all days.
func dayOf(n int64) store.Day { return store.Day(min(max(n, math.MinInt32), math.MaxInt32)) }
