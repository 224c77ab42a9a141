package device_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/device"
	"voltbus/driver"
	"voltbus/driver/dnp3"
	"voltbus/internal/folder"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// longAgo is when events of a relay begin, by its clock.
var longAgo = time.Now().UTC().Add(-30 * 24 * time.Hour).Truncate(time.Second)

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

// relay is an outstation of our own library with two analog inputs. It forgets what is confirmed.
type relay struct {
	*outstation.Outstation

	address   string
	port      *station.Port
	confirmed atomic.Int64 // events
	news      chan struct{}
	hangUp    func()
}

// newRelay makes a relay that has not been switched on.
func newRelay(t *testing.T, events int) *relay {
	t.Helper()
	r := &relay{news: make(chan struct{}, 1)}
	point := func(index uint32) outstation.PointConfig {
		return outstation.PointConfig{Kind: object.KindAnalogInput, Index: index, Class: app.Class1, Static: object.G30V5, Event: object.G32V7}
	}
	var err error
	r.Outstation, err = outstation.New(outstation.Config{
		Points:      []outstation.PointConfig{point(0), point(1)},
		EventLimits: map[object.Kind]int{object.KindAnalogInput: events},
		Callbacks: outstation.Callbacks{Confirmed: func(_ *outstation.Tx, _ link.Address, n int) {
			r.confirmed.Add(int64(n))
			select {
			case r.news <- struct{}{}:
			default:
			}
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.Update(func(tx *outstation.Tx) {
		for index := range uint32(2) {
			tx.Set(object.KindAnalogInput, object.Point{Index: index, Flags: object.FlagOnline}, outstation.Suppress)
		}
	})
	session, err := r.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.port, err = station.NewPort(station.Config{Local: 10, Remote: 1}, session); err != nil {
		t.Fatal(err)
	}
	return r
}

// serve switches the relay on.
func (r *relay) serve(t *testing.T) {
	t.Helper()
	hub := channel.NewHub(channel.HubConfig{})
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: []*station.Port{r.port}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := channel.Listen(t.Context(), "127.0.0.1:0", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { _ = server.Run(ctx, listener) })
	r.hangUp = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	t.Cleanup(r.hangUp)
}

// happen makes events of a point, with the values from to to-1.
func (r *relay) happen(index uint32, from, to int) {
	r.Update(func(tx *outstation.Tx) {
		for i := from; i < to; i++ {
			at := longAgo.Add(time.Duration(i) * time.Second)
			tx.Set(object.KindAnalogInput, object.Point{
				Index: index, Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(at),
			}, outstation.Force)
		}
	})
}

// await waits until so many events were confirmed.
func (r *relay) await(t *testing.T, n int) {
	t.Helper()
	late := time.After(patience)
	for r.confirmed.Load() < int64(n) {
		select {
		case <-r.news:
		case <-late:
			t.Errorf("%d events were confirmed, want %d", r.confirmed.Load(), n)
			return
		}
	}
}

// half returns a device that has one of the relay's points.
func (r *relay) half(t *testing.T, path point.Path, index int) device.Config {
	t.Helper()
	c := dnp3.NewConfig()
	c.Address = r.address
	if err := yaml.Unmarshal(fmt.Appendf(nil, "[{name: p%d, type: analog_input, index: %d}]", index, index), &c.Registry); err != nil {
		t.Fatal(err)
	}
	if problems := append(c.Load(folder.Any(t.TempDir())), c.Validate()...); len(problems) > 0 {
		t.Fatal(errors.Join(problems...))
	}
	return device.Config{Path: path, Kind: dnp3.Kind(), Driver: c, Timeout: time.Minute, Record: true, Subscribe: true}
}

// logbook is an outlet that keeps what is recorded.
type logbook struct {
	mu   sync.Mutex
	kept map[point.Path][]point.Sample
	news chan struct{}
	disk func(kept func()) // nil for one that is done at once
}

func newLogbook() *logbook {
	return &logbook{kept: make(map[point.Path][]point.Sample), news: make(chan struct{}, 1)}
}

func (*logbook) Hear(*point.Scan)               {}
func (*logbook) Live(*point.Scan, device.Forms) {}

func (b *logbook) Record(samples []point.Sample) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range samples {
		b.kept[s.Point] = append(b.kept[s.Point], s)
	}
	select {
	case b.news <- struct{}{}:
	default:
	}
	return true
}

// Settle says that all is on disk, unless the disk is slow: then it is once that is over.
func (b *logbook) Settle(kept func()) {
	if b.disk == nil {
		kept()
		return
	}
	b.disk(kept)
}

// events returns the values of the events of a point: they have the device's time, long ago.
func (b *logbook) events(path point.Path) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	var values []int
	for _, s := range b.kept[path] {
		if v, _ := s.Value.Number(); s.Time.Before(longAgo.Add(24 * time.Hour)) {
			values = append(values, int(v))
		}
	}
	return values
}

// has reports whether a sample of a point fits.
func (b *logbook) has(path point.Path, fits func(point.Sample) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.kept[path], fits)
}

// await waits until something holds.
func (b *logbook) await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(patience)
	for !holds() {
		select {
		case <-b.news:
		case <-late:
			t.Errorf("never: %s", what)
			return
		}
	}
}

// expect waits until the events from to to-1 of a point are there, in order and once.
func (b *logbook) expect(t *testing.T, path point.Path, from, to int) {
	t.Helper()
	var want []int
	for i := from; i < to; i++ {
		want = append(want, i)
	}
	b.await(t, fmt.Sprintf("%d events of %s", to-from, path), func() bool { return len(b.events(path)) >= len(want) })
	if got := b.events(path); !slices.Equal(got, want) {
		t.Errorf("%s: %d events were recorded, want %d in order and once: %v", path, len(got), len(want), got)
	}
}

// fleet runs devices, until stop is called, which does not wait.
func fleet(t *testing.T, book *logbook, devices ...device.Config) (f *device.Fleet, stop context.CancelFunc) {
	t.Helper()
	f = device.New(book, slog.New(slog.DiscardHandler), device.Limits{RedialFirst: 10 * time.Millisecond})
	if err := f.Apply(devices); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- f.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the fleet ended with %v", err)
		}
	})
	return f, cancel
}

// through has a device's line dialled through a wrapper.
func through(c device.Config, wrap func(driver.Line) driver.Line) device.Config {
	dial := c.Kind.Dial
	c.Kind.Dial = func(ctx context.Context, cfg driver.Config) (driver.Line, error) {
		line, err := dial(ctx, cfg)
		if err != nil {
			return nil, err
		}
		return wrap(line), nil
	}
	return c
}

// slowLine opens sessions, but for the first ones, when some events were confirmed: what is opened before
// the line hears is there in time.
type slowLine struct {
	driver.Line
	driver.Pauser

	paused, resumed bool
	opened          int
	first           func() // called when the first session is opened
	wait            func()
}

func (l *slowLine) Pause() {
	if l.resumed {
		l.wait()
	}
	l.paused = true
	l.Pauser.Pause()
}

func (l *slowLine) Resume() {
	l.paused, l.resumed = false, true
	l.Pauser.Resume()
}

func (l *slowLine) Open(ctx context.Context, cfg driver.Config) (driver.Session, error) {
	l.opened++
	switch {
	case l.opened == 1:
		l.first()
	case !l.paused:
		l.wait()
	}
	return l.Line.Open(ctx, cfg)
}

// gate keeps the owner of a line busy with the first device, once it is shut.
type gate struct {
	shut    atomic.Bool
	entered chan struct{}
	open    chan struct{}
	told    chan struct{} // that the first device has news
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}), open: make(chan struct{}), told: make(chan struct{}, 1000)}
}

func (g *gate) before(c device.Config) device.Config {
	return through(c, func(l driver.Line) driver.Line {
		return &gatedLine{Line: l, Pauser: l.(driver.Pauser), gate: g}
	})
}

type gatedLine struct {
	driver.Line
	driver.Pauser

	gate *gate
}

func (l *gatedLine) Open(ctx context.Context, cfg driver.Config) (driver.Session, error) {
	s, err := l.Line.Open(ctx, cfg)
	switch {
	case err != nil:
		return s, err
	case cfg.Points()[0].Path != "p0":
		return hasty{s, s.(driver.Subscriber)}, nil
	}
	return &gatedSession{Session: s, Subscriber: s.(driver.Subscriber), gate: l.gate}, nil
}

// hasty is a session that tells its device at once that its reports arrived.
type hasty struct {
	driver.Session
	driver.Subscriber
}

type gatedSession struct {
	driver.Session
	driver.Subscriber

	gate *gate
}

func (s *gatedSession) Subscribe(ctx context.Context, names []string, news func()) error {
	return s.Subscriber.Subscribe(ctx, names, func() {
		select {
		case s.gate.told <- struct{}{}:
		default:
		}
		news()
	})
}

func (s *gatedSession) Take(ctx context.Context, emit func(point.Sample)) error {
	if s.gate.shut.CompareAndSwap(true, false) {
		close(s.gate.entered)
		<-s.gate.open
	}
	return s.Subscriber.Take(ctx, emit)
}

func TestDevicesThatShareAnOutstationMissNoEventThatWaitedForTheStart(t *testing.T) {
	const each = 300
	r, book := newRelay(t, 2*each), newLogbook()
	r.happen(0, 0, each)
	r.happen(1, 0, each) // its buffers are full
	r.serve(t)
	slow := func(l driver.Line) driver.Line {
		return &slowLine{Line: l, Pauser: l.(driver.Pauser), first: func() {}, wait: func() { r.await(t, 2*each) }}
	}
	fleet(t, book, through(r.half(t, "a", 0), slow), through(r.half(t, "b", 1), slow))
	book.expect(t, "a/p0", 0, each)
	book.expect(t, "b/p1", 0, each)
}

func TestADeviceThatIsChangedWhileItsLineIsOpenedMissesNoEvent(t *testing.T) {
	const each = 300
	r, book := newRelay(t, 2*each), newLogbook()
	r.happen(0, 0, each)
	r.happen(1, 0, each)
	r.serve(t)
	fleets := make(chan *device.Fleet, 1)
	var a, b device.Config
	slow := func(l driver.Line) driver.Line {
		change := sync.OnceFunc(func() {
			changed := b
			changed.StaleAfter = time.Hour
			apply(t, <-fleets, a, changed)
		})
		return &slowLine{Line: l, Pauser: l.(driver.Pauser), first: change, wait: func() { r.await(t, 2*each) }}
	}
	a, b = through(r.half(t, "a", 0), slow), through(r.half(t, "b", 1), slow)
	f, _ := fleet(t, book, a, b)
	fleets <- f
	book.expect(t, "a/p0", 0, each)
	book.expect(t, "b/p1", 0, each)
}

// What was confirmed while the owner of the line was busy is not said again.
func TestWhatADeviceSaidBeforeItsSessionIsClosedIsRecorded(t *testing.T) {
	const events = 400
	type scene struct {
		f    *device.Fleet
		r    *relay
		a, b device.Config
		gate *gate
		stop func()
	}
	for name, end := range map[string]func(t *testing.T, s scene){
		"one of two is removed": func(t *testing.T, s scene) { t.Helper(); apply(t, s.f, s.a) },
		"both are removed":      func(t *testing.T, s scene) { t.Helper(); apply(t, s.f) },
		"one of two is disabled": func(t *testing.T, s scene) {
			t.Helper()
			s.b.Disabled = true
			apply(t, s.f, s.a, s.b)
		},
		"one of two is changed": func(t *testing.T, s scene) {
			t.Helper()
			s.b.StaleAfter = time.Hour
			apply(t, s.f, s.a, s.b)
		},
		"the connection is lost": func(_ *testing.T, s scene) {
			for len(s.gate.told) > 0 {
				<-s.gate.told
			}
			s.r.hangUp()
			<-s.gate.told
		},
		"the node stops": func(_ *testing.T, s scene) { s.stop() },
	} {
		t.Run(name, func(t *testing.T) {
			r, book, gate := newRelay(t, events+1), newLogbook(), newGate()
			r.serve(t)
			a, b := gate.before(r.half(t, "a", 0)), gate.before(r.half(t, "b", 1))
			f, stop := fleet(t, book, a, b)
			book.awaitBoth(t)
			gate.shut.Store(true)
			r.happen(0, 0, 1)
			<-gate.entered
			r.happen(1, 0, events)
			r.await(t, 1+events)
			end(t, scene{f, r, a, b, gate, stop})
			close(gate.open)
			book.expect(t, "b/p1", 0, events)
		})
	}
}

// awaitBoth waits until both devices were heard.
func (b *logbook) awaitBoth(t *testing.T) {
	t.Helper()
	good := func(s point.Sample) bool { return s.Quality.IsGood() }
	b.await(t, "both are heard", func() bool { return b.has("a/p0", good) && b.has("b/p1", good) })
}

// apply makes devices those of a fleet.
func apply(t *testing.T, f *device.Fleet, devices ...device.Config) {
	t.Helper()
	if err := f.Apply(devices); err != nil {
		t.Error(err)
	}
}

func TestADeviceIsChangedWhileEventsFlowAndNoneIsMissedOrRepeated(t *testing.T) {
	const rounds, each = 20, 50
	r, book := newRelay(t, rounds*each), newLogbook()
	r.serve(t)
	a, b := r.half(t, "a", 0), r.half(t, "b", 1)
	f, _ := fleet(t, book, a, b)
	book.awaitBoth(t)
	for i := range rounds {
		r.happen(1, i*each, i*each+each/2)
		b.StaleAfter = time.Duration(i+1) * time.Hour
		apply(t, f, a, b)
		r.happen(1, i*each+each/2, (i+1)*each)
	}
	book.expect(t, "b/p1", 0, rounds*each)
}
