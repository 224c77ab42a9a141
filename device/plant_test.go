package device

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"voltbus/device/clock"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a device kind whose devices do what a test tells them. It checks what the owner
// promises to drivers: one call at a time on a line, one session for each device.
type plant struct {
	tb testing.TB

	mu       sync.Mutex
	inUse    map[string]bool // lines that are in a call
	open     map[string]int  // sessions
	cut      map[string]bool // lines that cannot be dialled
	scripts  map[string]script
	reads    map[string][]time.Time // when a device was asked
	dials    map[string][]time.Time
	sessions map[string]int // ever opened
	written  []string
	speakers map[string]*fullSession // devices that are listened to
	takes    int
}

// script is what a device does when it is read; nil is to answer 1 for every point.
type script func(ctx context.Context) error

func newPlant(tb testing.TB) *plant {
	tb.Helper()
	return &plant{
		tb: tb, inUse: make(map[string]bool), open: make(map[string]int), cut: make(map[string]bool),
		scripts: make(map[string]script), reads: make(map[string][]time.Time),
		dials: make(map[string][]time.Time), sessions: make(map[string]int), speakers: make(map[string]*fullSession),
	}
}

// wiring is the configuration of one device of the plant.
type wiring struct {
	plant  *plant
	line   string
	unit   string
	points []string
	flavor string // differs when a test wants another configuration
	plain  bool   // without Write and Subscribe
}

func (w *wiring) Validate() []error         { return nil }
func (w *wiring) Load(driver.Files) []error { return nil }
func (w *wiring) LineName() string          { return w.line }
func (w *wiring) Points() []point.Info {
	infos := make([]point.Info, len(w.points))
	for i, name := range w.points {
		infos[i] = point.Info{Path: point.Path(name), Kind: point.Int}
	}
	return infos
}

func (p *plant) kind() driver.Kind {
	return driver.Kind{Name: "plant", Dial: func(ctx context.Context, cfg driver.Config) (driver.Line, error) {
		w := cfg.(*wiring)
		defer p.enter(w.line)()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.dials[w.line] = append(p.dials[w.line], time.Now())
		if p.cut[w.line] {
			return nil, fmt.Errorf("connection refused: %w", driver.ErrNotConnected)
		}
		return &plantLine{plant: p, name: w.line}, nil
	}}
}

// enter notes that a call on the line begins.
func (p *plant) enter(line string) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inUse[line] {
		p.tb.Errorf("two calls at once on line %s", line)
	}
	p.inUse[line] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.inUse[line] = false
	}
}

func (p *plant) setCut(line string, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut[line] = cut
}

func (p *plant) isCut(line string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cut[line]
}

func (p *plant) script(unit string, s script) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.scripts[unit] = s
}

func (p *plant) asked(unit string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.reads[unit])
}

func (p *plant) dialled(line string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.dials[line])
}

func (p *plant) opened(unit string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sessions[unit]
}

type plantLine struct {
	plant *plant
	name  string
	dead  atomic.Bool
}

func (l *plantLine) Open(_ context.Context, cfg driver.Config) (driver.Session, error) {
	w := cfg.(*wiring)
	defer l.plant.enter(l.name)()
	p := l.plant
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[w.unit]++
	p.sessions[w.unit]++
	if p.open[w.unit] > 1 {
		p.tb.Errorf("two sessions with device %s", w.unit)
	}
	s := &session{line: l, unit: w.unit}
	if w.plain {
		return s, nil
	}
	return &fullSession{session: s}, nil
}

func (l *plantLine) Close() error {
	defer l.plant.enter(l.name)()
	l.dead.Store(true)
	return nil
}

type session struct {
	line *plantLine
	unit string
}

func (s *session) Read(ctx context.Context, names []string) ([]point.Sample, error) {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	p.reads[s.unit] = append(p.reads[s.unit], time.Now())
	script := p.scripts[s.unit]
	p.mu.Unlock()
	if s.line.dead.Load() || p.isCut(s.line.name) {
		return nil, fmt.Errorf("connection reset: %w", driver.ErrNotConnected)
	}
	if script != nil {
		if err := script(ctx); err != nil {
			return nil, err
		}
	}
	samples := make([]point.Sample, len(names))
	for i, name := range names {
		samples[i] = point.Sample{Point: point.Path(name), Value: point.IntOf(1)}
	}
	return samples, nil
}

func (s *session) Close() error {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open[s.unit]--
	return nil
}

// fullSession also writes and reports; its fields are guarded by the plant.
type fullSession struct {
	*session

	names []string
	news  func()
	said  []point.Sample
	lost  uint64
	clock *time.Timer
}

func (s *fullSession) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	script := p.scripts[s.unit]
	p.written = append(p.written, s.unit+"/"+name+"="+v.String())
	p.mu.Unlock()
	if script != nil {
		if err := script(ctx); err != nil {
			return point.Value{}, err
		}
	}
	return v, nil
}

// Subscribe has the device report a value every ten seconds of the wall clock, and whenever the
// test says so.
func (s *fullSession) Subscribe(_ context.Context, names []string, news func()) error {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	defer p.mu.Unlock()
	s.names, s.news = names, news
	p.speakers[s.unit] = s
	s.clock = time.AfterFunc(untilTen(), func() {
		p.speak(s.unit, s.names[0], 2)
		p.mu.Lock()
		defer p.mu.Unlock()
		s.clock.Reset(untilTen())
	})
	return nil
}

// untilTen returns how long it is to the next full ten seconds.
func untilTen() time.Duration {
	now := time.Now()
	return now.Truncate(10 * time.Second).Add(10 * time.Second).Sub(now)
}

// speak has a device report a value by itself, if somebody listens.
func (p *plant) speak(unit, name string, v int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.speakers[unit]; s != nil {
		s.said = append(s.said, point.Sample{Point: point.Path(name), Value: point.IntOf(v)})
		s.news()
	}
}

func (s *fullSession) Take(_ context.Context, emit func(point.Sample)) error {
	p := s.line.plant
	defer p.enter(s.line.name)()
	p.mu.Lock()
	said := s.said
	s.said = nil
	p.takes++
	p.mu.Unlock()
	if p.isCut(s.line.name) {
		return driver.ErrNotConnected
	}
	for _, sample := range said {
		emit(sample)
	}
	return nil
}

func (s *fullSession) Close() error {
	p := s.line.plant
	p.mu.Lock()
	if s.clock != nil {
		s.clock.Stop()
		delete(p.speakers, s.unit)
	}
	p.mu.Unlock()
	return s.session.Close()
}

// takes is a script that answers after a while.
func takes(d time.Duration) script {
	return func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

// timesOut is a script that gives no answer for a while.
func timesOut(after time.Duration) script {
	return func(ctx context.Context) error {
		if err := takes(after)(ctx); err != nil {
			return err
		}
		return fault.E("plant.Read", fault.Timeout, "", errors.New("no answer"))
	}
}

// hangs is a script that ignores its context until released.
func hangs(release <-chan struct{}) script {
	return func(context.Context) error {
		<-release
		return nil
	}
}

// seen is one scan or one recorded run of samples, in a form that tests compare.
type seen struct {
	Device  point.Path
	At      time.Duration // Slot since the start; reports: -1
	Quality point.Quality
}

// collector is an outlet that remembers.
type collector struct {
	start time.Time

	mu       sync.Mutex
	live     []seen
	times    []time.Duration // of live scans, since the start
	recorded []point.Sample
	forms    Forms
}

func (c *collector) Live(scan *point.Scan, forms Forms) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := seen{Device: scan.Device, At: -1}
	if !scan.Slot.IsZero() {
		s.At = scan.Slot.Sub(c.start)
	}
	if len(scan.Samples) > 0 {
		s.Quality = scan.Samples[0].Quality
	}
	c.live = append(c.live, s)
	c.times = append(c.times, scan.Time.Sub(c.start))
	c.forms = forms
}

func (c *collector) Hear(*point.Scan) {}

func (c *collector) Record(samples []point.Sample) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorded = append(c.recorded, samples...)
	return true
}

func (*collector) Settle(kept func()) { kept() }

// scansOf returns the live scans of one device.
func (c *collector) scansOf(device point.Path) []seen {
	c.mu.Lock()
	defer c.mu.Unlock()
	var scans []seen
	for _, s := range c.live {
		if s.Device == device {
			scans = append(scans, s)
		}
	}
	return scans
}

// recordedOf returns "age quality" of the recorded samples of a point.
func (c *collector) recordedOf(path point.Path) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var lines []string
	for _, s := range c.recorded {
		if s.Point == path {
			lines = append(lines, fmt.Sprintf("%v %v", s.Time.Sub(c.start), s.Quality))
		}
	}
	return lines
}

// site is a fleet over a plant.
type site struct {
	*Fleet
	plant *plant
	out   *collector
	log   *journal
	skew  atomic.Int64 // of the wall clock
}

func newSite(tb testing.TB, limits Limits) *site {
	tb.Helper()
	s := &site{plant: newPlant(tb), out: &collector{start: time.Now().UTC()}, log: &journal{}}
	s.Fleet = New(s.out, slog.New(slog.NewTextHandler(s.log, nil)), limits)
	s.clock.Wall = func(now time.Time) time.Time { return clock.OnWall(now).Add(time.Duration(s.skew.Load())) }
	return s
}

// device returns the configuration of a device "b/<unit>" that is read every ten seconds.
func (s *site) device(line, unit string, change ...func(*Config)) Config {
	c := Config{
		Path: point.Path("b/" + unit), Kind: s.plant.kind(), Interval: 10 * time.Second, Timeout: time.Second,
		Driver:  &wiring{plant: s.plant, line: line, unit: unit, points: []string{"p", "q"}},
		Publish: FormScan, Record: true,
	}
	for _, f := range change {
		f(&c)
	}
	return c
}

func every(d time.Duration) func(*Config) {
	return func(c *Config) { c.Interval = d }
}

// apply sets devices, which must be right.
func (s *site) apply(devices ...Config) {
	s.plant.tb.Helper()
	if err := s.Apply(devices); err != nil {
		s.plant.tb.Error(err)
	}
}

// runFor runs the fleet for so long, and returns what Run returned.
func (s *site) runFor(d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return s.Run(ctx)
}

// start runs the fleet until stop is called, which waits for it.
func (s *site) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-done; err != nil {
			s.plant.tb.Errorf("Run: %v", err)
		}
	}
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.After(d) }

// stateOf returns one device's state.
func (s *site) stateOf(path point.Path) State {
	for _, state := range s.Devices() {
		if state.Path == path {
			return state
		}
	}
	s.plant.tb.Errorf("no state of %s", path)
	return State{}
}

// journal keeps what was logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

// count returns how many log lines contain the text.
func (j *journal) count(text string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for line := range strings.Lines(j.text.String()) {
		if strings.Contains(line, text) {
			n++
		}
	}
	return n
}
