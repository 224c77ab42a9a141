package statement_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/store/duckdb/statement"
)

// asked is a Source that notes what is needed of it.
type asked struct{ needs []statement.Need }

func (*asked) Folder() string { return os.TempDir() }

func (*asked) Tables() []statement.Dated {
	return []statement.Dated{{Name: "readings", Day: "day", End: "end"}, {Name: "meters"}}
}

func (a *asked) Views(_ context.Context, n statement.Need) ([]string, func(), error) {
	slices.Sort(n.Tables)
	a.needs = append(a.needs, n)
	return []string{
		"CREATE VIEW readings AS SELECT '' AS meter, DATE '2026-03-01' AS day, TIMESTAMP '2026-03-01 00:15:00' AS \"end\", 1.0 AS value",
		"CREATE VIEW meters AS SELECT '' AS meter",
	}, func() {}, nil
}

func dayNumber(text string) int64 {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return at.Unix() / 86400
}

// TestAStatementNeedsTheDaysThatItsConditionsBound judges which days are copied: too few would be a wrong answer.
func TestAStatementNeedsTheDaysThatItsConditionsBound(t *testing.T) {
	first, last, day := "2026-03-01", "2026-03-04", int64(1)
	const all = int64(statement.AllDays)
	for text, want := range map[string][2]int64{
		"SELECT 1":                      {0, -1}, // nothing of it
		"SELECT count(*) FROM readings": {-all, all},
		"SELECT count(*) FROM readings WHERE day >= '2026-03-01' AND day <= '2026-03-04'":                                           {dayNumber(first), dayNumber(last)},
		"SELECT count(*) FROM readings r WHERE r.day BETWEEN DATE '2026-03-01' AND DATE '2026-03-04'":                               {dayNumber(first), dayNumber(last)},
		"SELECT count(*) FROM READINGS WHERE '2026-03-01' = Day":                                                                    {dayNumber(first), dayNumber(first)},
		"SELECT count(*) FROM readings WHERE day IN ('2026-03-04', '2026-03-01')":                                                   {dayNumber(first), dayNumber(last)},
		"SELECT count(*) FROM readings WHERE day >= DATE '2026-03-08' - 7 AND '2026-03-04' >= day":                                  {dayNumber(first), dayNumber(last)},
		`SELECT count(*) FROM readings WHERE "end" > '2026-03-01T00:00:00' AND "end" <= '2026-03-04'`:                               {dayNumber(first) - 2*day, dayNumber(last) + day},
		"SELECT count(*) FROM readings WHERE day >= '2026-03-01' OR day <= '2026-03-04'":                                            {-all, all},
		"SELECT count(*) FROM readings WHERE NOT (day < '2026-03-01')":                                                              {dayNumber(first), all}, // the parser turns it round
		"SELECT count(*) FROM readings WHERE NOT (day < '2026-03-01' AND value > 1)":                                                {-all, all},
		"SELECT count(*) FROM readings WHERE day = (SELECT max(day) FROM readings WHERE day > '2026-03-01')":                        {-all, all},
		"SELECT count(*) FROM readings WHERE day >= '2026-03-01' UNION ALL SELECT count(*) FROM readings":                           {-all, all},
		"SELECT count(*) FROM readings a JOIN readings b USING (meter) WHERE a.day = '2026-03-01'":                                  {-all, all},
		"SELECT count(*) FROM readings a JOIN readings b USING (meter) WHERE a.day = '2026-03-01' AND b.day = '2026-03-04'":         {dayNumber(first), dayNumber(last)},
		"SELECT count(*) FROM meters m LEFT JOIN readings r USING (meter) WHERE r.day = '2026-03-01'":                               {dayNumber(first), dayNumber(first)},
		"SELECT count(*) FROM meters m ASOF JOIN readings r ON m.meter = r.meter AND m.meter >= r.meter WHERE r.day = '2026-03-01'": {-all, all},
		"SELECT count(*) FROM readings POSITIONAL JOIN meters WHERE day = '2026-03-01'":                                             {-all, all},
		"SELECT count(*) FROM readings r(day, meter) WHERE day = '2026-03-01'":                                                      {-all, all},
		"SELECT count(*) FROM readings WHERE day >= DATE '2026-03-01' + (random() * 5)::INTEGER":                                    {-all, all},
		"WITH d AS (SELECT * FROM readings WHERE day = '2026-03-01') SELECT count(*) FROM d WHERE day > '2026-03-04'":               {dayNumber(first), dayNumber(first)},
		"SELECT (SELECT sum(value) FROM readings r WHERE r.meter = m.meter) FROM meters m":                                          {-all, all},
		"DESCRIBE readings":  {all, -all},
		"SUMMARIZE readings": {-all, all},
		"SHOW TABLES":        {all, -all},
		"SELECT * FROM readings WHERE day >= '2026-03-04' AND day < '2026-03-01'": {dayNumber(last), dayNumber(first)},
	} {
		source := &asked{}
		task := &statement.Task{Statement: text, Source: source, Others: source.Tables(), Memory: 128 << 20, Threads: 1, Time: time.Minute, Spill: 1 << 20}
		err := statement.Run(t.Context(), []string{os.Args[0]}, task, func([]string) error { return nil }, func([]any) error { return nil })
		if err != nil && want != [2]int64{-all, all} { // a condition may not fit the types of the views here
			t.Errorf("%s: %v", text, err)
		}
		switch {
		case want == [2]int64{0, -1}:
			if len(source.needs) != 0 {
				t.Errorf("%s: needs %+v", text, source.needs)
			}
		case len(source.needs) != 1:
			t.Errorf("%s: asked %d times: %v", text, len(source.needs), err)
		case source.needs[0].From != want[0] || source.needs[0].To != want[1]:
			t.Errorf("%s: needs days %d to %d, want %d to %d", text, source.needs[0].From, source.needs[0].To, want[0], want[1])
		}
	}
}

// full is a Source that cannot do what it is asked for.
type full struct{ asked }

var errFull = fault.E("test", fault.Unavailable, "", errors.New("the disk is full"))

func (*full) Views(context.Context, statement.Need) ([]string, func(), error) {
	return nil, nil, errFull
}

func TestAStatementFailsWithTheErrorOfItsSource(t *testing.T) {
	source := &full{}
	task := &statement.Task{Statement: "SELECT * FROM readings", Source: source, Others: source.Tables(), Memory: 128 << 20, Threads: 1, Time: time.Minute, Spill: 1 << 20}
	err := statement.Run(t.Context(), []string{os.Args[0]}, task, func([]string) error { return nil }, func([]any) error { return nil })
	if !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
}
