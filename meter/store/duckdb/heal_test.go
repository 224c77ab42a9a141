package duckdb_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/store/duckdb/engine"
)

func TestADatabaseThatIsDamagedIsSetAsideAndTheMetersStay(t *testing.T) {
	for name, damage := range map[string]func(t *testing.T, file string){
		"its header is noise": func(t *testing.T, file string) {
			t.Helper()
			overwrite(t, file, 0)
		},
		"its tables are noise": func(t *testing.T, file string) {
			t.Helper()
			overwrite(t, file, 12<<10)
		},
		"it is cut short": func(t *testing.T, file string) {
			t.Helper()
			if err := os.Truncate(file, 20<<10); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, zone := filepath.Join(t.TempDir(), "it's here"), time.UTC
			clock := time.Date(2026, 3, 28, 6, 0, 0, 0, time.UTC)
			now := func() time.Time { return clock }
			s := open(t, dir, zone, now, 0)
			profile, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
			if err != nil {
				t.Fatal(err)
			}
			m := meter.Meter{ID: "m1", Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}}}
			if _, err := s.Register(t.Context(), []store.Registration{{Meter: m, ServicePoint: "sp", From: clock.AddDate(0, -1, 0)}}); err != nil {
				t.Fatal(err)
			}
			put := func(s store.Store) {
				b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"c"}, Log: "L", Sequence: 7}
				b.Add(clock.AddDate(0, 0, -1).UnixMicro(), 3)
				if r, err := s.Append(t.Context(), b); err != nil || r.Stored != 1 {
					t.Fatalf("%+v, %v", r, err)
				}
			}
			put(s)
			if _, err := s.Judge(t.Context(), store.DayOf(2026, 3, 27), func(*store.ChannelDay) error { return nil }); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			damage(t, filepath.Join(dir, "metering.duckdb"))
			s = open(t, dir, zone, now, 0)
			if log, sequence, err := s.Cursor(t.Context()); err != nil || log != "" || sequence != 0 {
				t.Errorf("the log is read from %q %d on, %v", log, sequence, err)
			}
			put(s) // as the log has it still
			if list, err := s.Installations(t.Context(), "sp"); err != nil || len(list) != 1 || list[0].Meter != "m1" {
				t.Errorf("installations %+v, %v", list, err)
			}
			told := func(s store.Store) {
				t.Helper()
				if d := s.(*duckdb.Store).Damage(); len(d) != 1 || !strings.Contains(d[0], "set aside as metering/metering.duckdb.damaged-20260328T060000") {
					t.Errorf("damage %q", d)
				}
			}
			told(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, dir, zone, now, 0) // it is told until somebody removes the file
			told(s)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// overwrite writes noise into a file.
func overwrite(t *testing.T, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 300<<10)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	if _, err := f.WriteAt(noise, at); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// A store of the first layout, which had no batches, sums and dependants, is brought to the newest one.
func TestAStoreOfTheFirstLayoutGoesOn(t *testing.T) {
	dir, clock := t.TempDir(), time.Date(2026, 3, 28, 6, 0, 0, 0, time.UTC)
	now := func() time.Time { clock = clock.Add(time.Second); return clock }
	s := open(t, dir, time.UTC, now, 0)
	profile, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		t.Fatal(err)
	}
	m := meter.Meter{ID: "m1", Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}}}
	if _, err := s.Register(t.Context(), []store.Registration{{Meter: m}}); err != nil {
		t.Fatal(err)
	}
	put := func(values ...float64) {
		t.Helper()
		b := &store.Batch{Keys: []store.ChannelKey{{Meter: "m1", Channel: 1}}, Senders: []string{"c"}}
		for i, v := range values {
			b.Add(time.Date(2026, 3, 27, 0, 15*(i+1), 0, 0, time.UTC).UnixMicro(), v)
		}
		if _, err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	judge := func() store.Judgement {
		t.Helper()
		j, err := s.Judge(t.Context(), store.DayOf(2026, 3, 27), func(c *store.ChannelDay) error { c.Rule = "r"; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	put(1, 2)
	judge()
	put(1, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	toFirst(t, filepath.Join(dir, "metering.duckdb"))
	s = open(t, dir, time.UTC, now, 0)
	defer func() { _ = s.Close() }()
	if j := judge(); j.Channels != 1 || j.Validated != 2 {
		t.Errorf("judged %+v", j)
	}
	put(1, 2, 4)
	if j := judge(); j.Validated != 3 {
		t.Errorf("judged then %+v", j)
	}
	h, err := s.History(t.Context(), store.ChannelKey{Meter: "m1", Channel: 1}, time.Unix(0, 0), clock)
	if err != nil {
		t.Fatal(err)
	}
	var got []float64
	for _, v := range h.AsKnown(nil, time.Unix(0, 0), clock, clock) {
		got = append(got, v.Value)
	}
	if !slices.Equal(got, []float64{1, 2, 4}) {
		t.Errorf("known are %v", got)
	}
}

// toFirst takes from a store what the first layout did not have.
func toFirst(t *testing.T, file string) {
	t.Helper()
	db, err := engine.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	statements := []string{"UPDATE layout SET version = 1", "DROP TABLE uses", "DROP TABLE redo", "DROP TABLE t_20539", "ALTER TABLE settled DROP COLUMN count", "ALTER TABLE o_20539_1 RENAME TO o_20539"}
	for _, column := range []string{"generation", "taken", "takenWaiting", "done", "totals"} {
		statements = append(statements, "ALTER TABLE days DROP COLUMN "+column)
	}
	for _, one := range statements {
		if err := c.Exec(t.Context(), one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
}
