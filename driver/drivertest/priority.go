package drivertest

import (
	"testing"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func prioritizer(t *testing.T, s driver.Session) driver.Prioritizer {
	t.Helper()
	p, ok := s.(driver.Prioritizer)
	if !ok {
		t.Fatal("the session is no driver.Prioritizer")
	}
	return p
}

// command commands the point of the harness and requires the value that it then reports.
func command(t *testing.T, h Harness, p driver.Prioritizer, c driver.Command, want point.Value) {
	t.Helper()
	if got, err := p.Command(t.Context(), h.Prioritized, c); err != nil || got != want {
		t.Errorf("%+v returned %v, %v, want %v", c, got, err, want)
	}
}

// mustHave requires the levels at which the point of the harness is commanded.
func mustHave(t *testing.T, h Harness, p driver.Prioritizer, want map[int]point.Value) {
	t.Helper()
	array, err := p.Priorities(t.Context(), h.Prioritized)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range array.Levels {
		if v != want[i+1] {
			t.Errorf("level %d has %v, want %v", i+1, v, want[i+1])
		}
	}
}

func commands(t *testing.T, h Harness) {
	cfg := h.Config(t, h.Peer)
	_, s, done := open(t, h, cfg)
	defer done()
	p := prioritizer(t, s)
	before := mustRead(t, s, []string{h.Prioritized})[0].Value
	mustHave(t, h, p, nil)
	if array, err := p.Priorities(t.Context(), h.Prioritized); err != nil || array.Default != before {
		t.Errorf("the relinquish default is %v, %v, want the value %v of the point that nobody commands", array.Default, err, before)
	}
	command(t, h, p, driver.Command{Value: h.Priority, Level: 8}, h.Priority)
	mustHave(t, h, p, map[int]point.Value{8: h.Priority})
	command(t, h, p, driver.Command{Value: h.Priority, Level: 12, Back: driver.LevelsOf(8, 12)}, h.Priority)
	mustHave(t, h, p, map[int]point.Value{12: h.Priority})
	command(t, h, p, driver.Command{Back: driver.LevelsOf(5, 12)}, before)
	mustHave(t, h, p, nil)
	command(t, h, p, driver.Command{Level: 9}, before) // nothing was commanded there
	for i, info := range cfg.Points() {
		if string(info.Path) == h.Prioritized {
			if known, ok := cfg.(driver.Prioritizing); !ok || known.Priority(i) == 0 {
				t.Errorf("the configuration does not say that %s has a priority array", h.Prioritized)
			}
		}
	}
}

func commandsBelow(t *testing.T, h Harness) {
	_, s, done := open(t, h, h.Config(t, h.Peer))
	defer done()
	p := prioritizer(t, s)
	before := mustRead(t, s, []string{h.Prioritized})[0].Value
	command(t, h, p, driver.Command{Value: h.Priority, Level: 6}, h.Priority)
	command(t, h, p, driver.Command{Value: before, Level: 10}, h.Priority)
	mustHave(t, h, p, map[int]point.Value{6: h.Priority, 10: before})
	command(t, h, p, driver.Command{Back: driver.LevelsOf(6)}, before)
	command(t, h, p, driver.Command{Back: driver.LevelsOf(10)}, before)
	mustHave(t, h, p, nil)
}

func refusesRelinquish(t *testing.T, h Harness) {
	_, s, done := open(t, h, h.Config(t, h.Peer))
	defer done()
	p := prioritizer(t, s)
	if got, err := p.Command(t.Context(), h.Unprioritized, driver.Command{Back: driver.LevelsOf(8)}); fault.KindOf(err) != fault.Refused {
		t.Errorf("to relinquish gives %v, %v, want the kind refused", got, err)
	}
	if got, err := p.Priorities(t.Context(), h.Unprioritized); fault.KindOf(err) != fault.Refused {
		t.Errorf("its priority array is %v, %v, want the kind refused", got, err)
	}
	if got, err := p.Command(t.Context(), unknown, driver.Command{Level: 8}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("to relinquish an unknown point gives %v, %v, want the kind not-found", got, err)
	}
}
