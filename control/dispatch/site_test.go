package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/control/journal"
	"voltbus/device"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is what lies behind the drivers: devices with points, which tests look into and disturb.
type plant struct {
	mu     sync.Mutex
	values map[point.Path]point.Value
	writes []device.Setting
	ask    func(ctx context.Context, path point.Path, write bool) error // a disturbance; nil for none
	report func(point.Value) point.Value                                // what is read back after a write
}

func (p *plant) kind() driver.Kind {
	return driver.Kind{
		Name: "plant", NewConfig: func() driver.Config { return &plantConfig{} },
		Dial: func(context.Context, driver.Config) (driver.Line, error) { return &plantLine{p}, nil },
	}
}

type plantConfig struct {
	line   string
	points []point.Info
	path   point.Path
}

func (c *plantConfig) Validate() []error         { return nil }
func (c *plantConfig) Load(driver.Files) []error { return nil }
func (c *plantConfig) LineName() string          { return c.line }
func (c *plantConfig) Points() []point.Info      { return c.points }

type plantLine struct{ plant *plant }

func (l *plantLine) Close() error { return nil }

func (l *plantLine) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	c, ok := cfg.(*plantConfig)
	if !ok {
		return nil, errors.New("not a plant")
	}
	return &plantSession{l.plant, c}, nil
}

type plantSession struct {
	plant *plant
	cfg   *plantConfig
}

func (s *plantSession) Close() error { return nil }

func (s *plantSession) disturb(ctx context.Context, name string, write bool) error {
	s.plant.mu.Lock()
	ask := s.plant.ask
	s.plant.mu.Unlock()
	if ask == nil {
		return nil
	}
	return ask(ctx, s.cfg.path.Join(name), write)
}

func (s *plantSession) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	samples := make([]point.Sample, len(names))
	for i, name := range names {
		if err := s.disturb(ctx, name, false); err != nil {
			return nil, err
		}
		samples[i] = point.Sample{Point: point.Path(name), Value: s.plant.value(s.cfg.path.Join(name))}
	}
	return samples, nil
}

func (s *plantSession) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	if err := s.disturb(ctx, name, true); err != nil {
		return point.Value{}, err
	}
	return s.plant.take(s.cfg.path.Join(name), v), nil
}

func (p *plant) take(path point.Path, v point.Value) point.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.values[path] = v
	p.writes = append(p.writes, device.Setting{Point: path, Value: v})
	if p.report != nil {
		return p.report(v)
	}
	return v
}

func (p *plant) value(path point.Path) point.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	if v, ok := p.values[path]; ok {
		return v
	}
	return point.FloatOf(0)
}

func (p *plant) written() []device.Setting {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]device.Setting(nil), p.writes...)
}

func (p *plant) disturb(ask func(ctx context.Context, path point.Path, write bool) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ask = ask
}

// site is a dispatcher over a fleet, a journal and an audit log in a directory.
type site struct {
	t        testing.TB
	dir      string
	plant    *plant
	points   []dispatch.Point
	interval time.Duration
	cfg      dispatch.Config // what tests change before start

	auditOver func(*audit.Log) dispatch.Audit // what stands before the log; nil for nothing

	*dispatch.Dispatcher
	fleet   *device.Fleet
	journal *journal.Journal
	audit   *audit.Log
	stop    func()
}

// newSite returns a site of devices d0, d1 … with the points sp (10 to 30, default 20), plain, and
// reading, which is read-only; two devices share a line.
func newSite(t testing.TB, devices int) *site { return newSiteIn(t, t.TempDir(), devices) }

func newSiteIn(t testing.TB, dir string, devices int) *site {
	s := &site{t: t, dir: dir, interval: time.Hour, plant: &plant{values: map[point.Path]point.Value{}}}
	low, high := 10.0, 30.0
	for i := range devices {
		at := point.Path(fmt.Sprint("b/d", i))
		s.points = append(s.points,
			dispatch.Point{Spec: control.Spec{
				Point: at.Join("sp"), Device: at, Unit: "degC", Kind: point.Float, Writable: true, Default: point.FloatOf(20),
				Policy: &control.Policy{Range: control.Range{Min: &low, Max: &high}},
			}},
			dispatch.Point{Spec: control.Spec{Point: at.Join("plain"), Device: at, Kind: point.Float, Writable: true}},
			dispatch.Point{Spec: control.Spec{Point: at.Join("reading"), Device: at, Kind: point.Float}})
	}
	return s
}

// nobody wants to know what devices say but the dispatcher.
type nobody struct{ *site }

func (n nobody) Hear(scan *point.Scan) {
	if n.Dispatcher != nil {
		n.Dispatcher.Hear(scan)
	}
}

func (nobody) Live(*point.Scan, device.Forms) {}
func (nobody) Record([]point.Sample) bool     { return true }
func (nobody) Settle(kept func())             { kept() }

// start opens and runs everything; the second call runs it again on the same directory.
func (s *site) start() *site {
	s.t.Helper()
	log := slog.New(slog.DiscardHandler)
	s.fleet = device.New(nobody{s}, log, device.Limits{})
	var configs []device.Config
	for i := 0; i < len(s.points); i++ {
		at := s.points[i].Device
		c := &plantConfig{line: fmt.Sprint("l", len(configs)/2), path: at}
		for ; i < len(s.points) && s.points[i].Device == at; i++ {
			c.points = append(c.points, point.Info{Path: s.points[i].Point[len(at)+1:], Kind: point.Float, Writable: s.points[i].Writable})
		}
		i--
		configs = append(configs, device.Config{Path: at, Kind: s.plant.kind(), Driver: c, Interval: s.interval, Timeout: 10 * time.Second})
	}
	s.must(s.fleet.Apply(configs))
	var err error
	s.audit, err = audit.Open(context.Background(), s.dir, time.Now)
	s.must(err)
	s.journal = journal.Open(s.dir, time.Now)
	cfg := s.cfg
	cfg.Points, cfg.Log = s.points, log
	cfg.Devices, cfg.Journal, cfg.Audit = s.fleet, s.journal, s.audit
	if s.auditOver != nil {
		cfg.Audit = s.auditOver(s.audit)
	}
	s.Dispatcher, err = dispatch.Open(context.Background(), cfg)
	s.must(err)
	ctx, end := context.WithCancel(context.Background())
	fleetCtx, fleetEnd := context.WithCancel(context.Background())
	var fleet, all sync.WaitGroup
	fleet.Go(func() { s.must(s.fleet.Run(fleetCtx)) })
	all.Go(func() { s.must(s.Dispatcher.Run(ctx)) })
	s.stop = sync.OnceFunc(func() {
		end()
		all.Wait()
		fleetEnd()
		fleet.Wait()
		s.must(errors.Join(s.journal.Close(), s.audit.Close()))
	})
	return s
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
	}
}

var count = struct {
	sync.Mutex
	n int
}{}

// wish returns a command of an agent at level 10.
func wish(who string, path point.Path, value float64) control.Command {
	count.Lock()
	defer count.Unlock()
	count.n++
	return control.Command{ID: fmt.Sprint("c", count.n), Point: path, Requester: "agent:" + who, Level: 10, Value: point.FloatOf(value)}
}

// set commands a point and waits for the outcome.
func (s *site) set(c control.Command) dispatch.Result {
	s.t.Helper()
	r, err := s.Command(s.t.Context(), c, time.Minute)
	s.must(err)
	return r
}

// told returns what the audit log says about a subject, the oldest first: action and outcome.
func (s *site) told(subject string) []string {
	s.t.Helper()
	var list []string
	s.must(s.audit.Export(context.Background(), audit.Filter{Subject: point.Pattern(subject)}, func(e *audit.Entry) error {
		list = append(list, e.Action+" "+e.Outcome)
		return nil
	}))
	return list
}

// says demands that the audit log has an entry about a subject.
func (s *site) says(subject, action, outcome string) {
	s.t.Helper()
	for _, line := range s.told(subject) {
		if strings.HasPrefix(line, action+" ") && strings.Contains(line, outcome) {
			return
		}
	}
	s.t.Errorf("the audit log does not say %s %q about %s, but %q", action, outcome, subject, s.told(subject))
}

// kind says which fault an error must be.
func (s *site) kind(err error, kind fault.Kind) {
	s.t.Helper()
	if !fault.Is(err, kind) {
		s.t.Errorf("got %v, want %v", err, kind)
	}
}
