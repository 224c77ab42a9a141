package acquisition_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"voltbus/device/acquisition"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// wiring is the configuration of a driver.
type wiring struct {
	line   string
	points []string
}

func (*wiring) Validate() []error         { return nil }
func (*wiring) Load(driver.Files) []error { return nil }
func (w *wiring) LineName() string        { return w.line }

func (w *wiring) Points() []point.Info {
	infos := make([]point.Info, len(w.points))
	for i, p := range w.points {
		infos[i].Path = point.Path(p)
	}
	return infos
}

// meter returns a configuration that can be used, after change.
func meter(path string, change func(*acquisition.Config)) acquisition.Config {
	c := acquisition.Config{
		Path: point.Path(path), Interval: time.Minute, Driver: &wiring{line: "l", points: []string{"p"}},
		Kind: driver.Kind{Name: "k", Dial: func(context.Context, driver.Config) (driver.Line, error) { return nil, nil }}, //nolint:nilnil // never dialled
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestAllConfigurationsAreCheckedAtOnce(t *testing.T) {
	_, err := acquisition.Check([]acquisition.Config{
		meter("b/good", nil),
		meter("b/twice", nil),
		meter("b/twice", nil),
		meter("b/fast", func(c *acquisition.Config) { c.Interval = time.Microsecond }),
		meter("b/bare", func(c *acquisition.Config) { c.Driver = nil }),
		meter("b/back", func(c *acquisition.Config) { c.Stagger = -time.Second }),
		meter("b/reports", func(c *acquisition.Config) { c.Interval, c.Subscribe = 0, true }),
	})
	if !fault.Is(err, fault.Invalid) {
		t.Fatalf("got %v, want Invalid", err)
	}
	for _, want := range []string{"b/twice", "b/fast", "b/bare", "b/back"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
	for _, good := range []string{"b/good", "b/reports"} {
		if strings.Contains(err.Error(), good) {
			t.Errorf("%v names %s, which is good", err, good)
		}
	}
}

func TestDefaultsAreFilledIn(t *testing.T) {
	given := meter("b/m", nil)
	checked, err := acquisition.Check([]acquisition.Config{given, meter("b/n", func(c *acquisition.Config) { c.Timeout, c.StaleAfter = time.Second, time.Hour })})
	if err != nil {
		t.Fatal(err)
	}
	if c := checked[0]; c.Timeout != 10*time.Second || c.StaleAfter != 3*time.Minute {
		t.Errorf("time-out %v, stale after %v; want 10 s and three intervals", c.Timeout, c.StaleAfter)
	}
	if c := checked[1]; c.Timeout != time.Second || c.StaleAfter != time.Hour {
		t.Errorf("time-out %v, stale after %v; want what was given", c.Timeout, c.StaleAfter)
	}
	if given.Timeout != 0 {
		t.Error("the caller's configuration was changed")
	}
}

func TestADeviceIsRestartedForWhateverOfItsConfigurationChanges(t *testing.T) {
	before := meter("b/m", nil)
	if !before.Same(meter("b/m", nil)) {
		t.Error("an equal configuration is not the same")
	}
	for name, change := range map[string]func(*acquisition.Config){
		"driver's settings": func(c *acquisition.Config) { c.Driver = &wiring{line: "l", points: []string{"p", "q"}} },
		"driver":            func(c *acquisition.Config) { c.Kind.Name = "other" },
		"interval":          func(c *acquisition.Config) { c.Interval = time.Hour },
		"offset":            func(c *acquisition.Config) { c.Offset = time.Second },
		"group":             func(c *acquisition.Config) { c.Group = "g" },
		"stagger":           func(c *acquisition.Config) { c.Stagger = time.Second },
		"time-out":          func(c *acquisition.Config) { c.Timeout = time.Second },
		"stale":             func(c *acquisition.Config) { c.StaleAfter = time.Second },
		"forms":             func(c *acquisition.Config) { c.Publish = acquisition.FormScan },
		"record":            func(c *acquisition.Config) { c.Record = true },
		"read at start":     func(c *acquisition.Config) { c.ReadAtStart = true },
		"subscribe":         func(c *acquisition.Config) { c.Subscribe = true },
		"disabled":          func(c *acquisition.Config) { c.Disabled = true },
	} {
		if before.Same(meter("b/m", change)) {
			t.Errorf("another %s is the same", name)
		}
	}
}

func TestADeviceWithoutALineHasOneOfItsOwn(t *testing.T) {
	c := meter("b/m", func(c *acquisition.Config) { c.Driver = &wiring{} })
	if got := c.LineName(); got != "b/m" {
		t.Errorf("its line is %q, want its path", got)
	}
}
