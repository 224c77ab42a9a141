package system_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/setting"
	"voltbus/meter/store"
	"voltbus/meter/system"
	"voltbus/point"
)

func now() time.Time { return time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) }

func open(t *testing.T, dir string, change func(*setting.Section)) *system.System {
	t.Helper()
	section := setting.Default()
	section.Role = "mds"
	change(&section)
	s, err := system.Open(t.Context(), system.Config{
		Dir: dir, Section: section, Origin: "campus", Now: now,
		Document: func(context.Context, string) (json.RawMessage, int, error) {
			return nil, 0, fault.E("test", fault.NotFound, "rules", errors.New("none"))
		},
		Forward: func(context.Context, *point.Block, []byte) (func(context.Context) error, error) {
			return func(context.Context) error { return nil }, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestANodeOfAnotherRoleHasNoSystem(t *testing.T) {
	s := open(t, t.TempDir(), func(c *setting.Section) { c.Role = "off" })
	if s != nil {
		t.Fatal("it has one")
	}
	if err := errors.Join(s.Fits(block("b1", 1, 9), nil), s.Close()); err != nil || len(s.Problems()) != 0 {
		t.Errorf("%v, problems %q", err, s.Problems())
	}
}

// block is n readings of a meter that nobody registered.
func block(node string, sequence uint64, n int) *point.Block {
	b := &point.Block{Origin: "campus/" + node + "#", Sequence: sequence, Points: []point.Path{"meters/stray/1"}}
	for i := range n {
		b.Append(0, &point.Sample{Time: now().Add(-time.Duration(i+1) * 15 * time.Minute), Value: point.FloatOf(1)})
	}
	return b
}

func TestReadingsOfMetersThatNobodyRegisteredHaveBoundedRoom(t *testing.T) {
	s := open(t, t.TempDir(), func(c *setting.Section) { c.Unregistered = 100 })
	from := func(node string) func(string) bool {
		return func(origin string) bool { return strings.HasPrefix(origin, "campus/"+node) }
	}
	fits := func(node string, sequence uint64, n int, want bool) {
		t.Helper()
		err := s.Fits(block(node, sequence, n), from(node))
		if (err == nil) != want || (err != nil && !fault.Is(err, fault.Refused)) {
			t.Errorf("%s, block %d of %d: %v", node, sequence, n, err)
		}
	}
	fits("b1", 1, 25, true)
	fits("b1", 1, 25, true) // again, as it was not answered
	fits("b1", 2, 1, false)
	for i := range 3 {
		fits(fmt.Sprintf("b%d", i+2), 1, 25, true)
	}
	fits("b5", 1, 1, false) // all of it is taken
	profile, err := meter.ParseReadingType("0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0")
	if err != nil {
		t.Fatal(err)
	}
	part := s.Part()
	r, err := part.Store.Register(t.Context(), []store.Registration{{Meter: meter.Meter{ID: "stray", Commodity: meter.Electricity, Channels: []meter.Channel{{Number: 1, ReadingType: profile, Interval: 15 * time.Minute, Multiplier: 1}}}}})
	if err != nil || r.Added != 1 {
		t.Fatal(r, err)
	}
	fits("b5", 1, 1000, true) // they are of a meter now
}

func TestADamagedStoreIsToldAndDoesNotKeepTheNodeFromStarting(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, func(*setting.Section) {}).Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "metering.duckdb"), []byte(strings.Repeat("noise", 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, func(*setting.Section) {})
	if p := s.Problems(); len(p) != 1 || !strings.HasPrefix(p[0], "the metering store was damaged and is set aside as metering/metering.duckdb.damaged-") {
		t.Errorf("problems %q", p)
	}
}

func TestAStoreKeepsItsZone(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, func(c *setting.Section) { c.Zone = "Europe/Berlin" }).Close(); err != nil {
		t.Fatal(err)
	}
	section := setting.Default()
	section.Role = "mds"
	if s, err := system.Open(t.Context(), system.Config{Dir: dir, Section: section, Origin: "campus", Now: now}); err == nil || !strings.Contains(err.Error(), "its days are those of Europe/Berlin") {
		t.Errorf("%v, %v", s, err)
	}
}
