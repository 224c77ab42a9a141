// Package delivery delivers the readings in a concentrator's log to metering data systems, in bulks over web services. The place in the
// log moves on when a system has answered, so that neither a crash nor a system that is away loses a reading; one that is sent again does
// no harm, as a reading's meter, channel and end are its key.
package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/meter/concentrator"
	"voltbus/meter/setting"
	"voltbus/sink"
)

// Config is what a Delivery needs.
type Config struct {
	Section *setting.Concentrator
	File    string // remembers the place in the log
	Blocks  sink.Log
	Now     func() time.Time
	// Answers is told that a system answers again which did not; nil tells nobody. It must not call the delivery.
	Answers func(system int)
	Log     *slog.Logger
	// Members is there if the only system is another member of the cluster of this one; nil for a concentrator.
	Members *Members
}

// Members says what goes to another member of a cluster.
type Members struct {
	Goes   func(meter string) bool // whether the other one keeps a meter
	Own    string                  // the origin of readings that are sent to this node
	Digest string                  // of the cluster, as this node knows it: the other one takes nothing with another digest
}

// Delivery hands readings on. Status may be called at any time.
type Delivery struct {
	cfg     Config
	clients fleet
	meter   rate

	repeating sync.Mutex // one SendAgain at a time

	mu       sync.Mutex
	targets  *concentrator.Targets
	systems  []System
	progress *concentrator.Progress
	log      string // whose place it is
	refused  []Refused
	waiting  int64 // readings in the log that no system has
	changed  chan struct{}
	unsaved  error // why the place cannot be remembered
}

// Status says what became of readings.
type Status struct {
	concentrator.Counts
	Waiting  uint64    // in the log
	Oldest   time.Time // when the oldest of them that is under way was recorded; zero if none is
	Rate     float64   // sent, readings a second over the last ten
	Requests uint64    // since the start
	Systems  []System
	Refusals []Refused // the newest, the newest first
	Trouble  string    // why the place in the log cannot be remembered
}

// System is the state of a system.
type System struct {
	URL      string
	Requests uint64 // that it answered, since the start
	Sent     uint64 // readings that it took since the start
	Failed   uint64 // requests without a usable answer, since the start
	State    concentrator.Target
}

// New returns a delivery from the place on that its file remembers. It dials nobody.
func New(c Config) (*Delivery, error) {
	d := &Delivery{cfg: c, targets: concentrator.NewTargets(len(c.Section.Systems)), changed: make(chan struct{}, 1)}
	var err error
	if d.clients, err = dial(&c); err != nil {
		return nil, err
	}
	for _, one := range d.clients {
		if c.Members != nil {
			one.digest = c.Members.Digest
		}
		d.systems = append(d.systems, System{URL: one.url})
	}
	s, err := recall(c.File)
	if err != nil {
		c.Log.Warn("the place in the log is forgotten; its readings are sent again, which does no harm", slog.String("file", c.File), slog.Any("err", err))
	}
	d.log, d.refused, d.progress = s.Log, s.Refused, concentrator.NewProgress(s.Place, s.Counts, s.Ends)
	return d, nil
}

func badSystem(i int, err error) error {
	return fault.E("delivery.New", fault.Invalid, fmt.Sprintf("metering.concentrator.systems[%d]", i), err)
}

// Retry says that a system may answer again, so that it is tried at once.
func (d *Delivery) Retry(system int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.targets.Retry(system)
}

// Status returns what became of readings.
func (d *Delivery) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, counts := d.progress.Place()
	s := Status{Counts: counts, Waiting: uint64(max(d.waiting, 0)), Oldest: d.progress.Oldest(), Rate: d.meter.of(d.cfg.Now()), Systems: slices.Clone(d.systems), Refusals: slices.Clone(d.refused)}
	slices.Reverse(s.Refusals)
	for i, t := range d.targets.States() {
		s.Systems[i].State = t
		s.Requests += s.Systems[i].Requests
	}
	if d.unsaved != nil {
		s.Trouble = d.unsaved.Error()
	}
	return s
}

// Wake has systems tried now that failed before: something says that they are there again.
func (d *Delivery) Wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.clients {
		d.targets.Retry(i)
	}
}

// retry is the pause after the log could not be read.
const retry = time.Second

// Run sends until ctx ends, and returns nil.
func (d *Delivery) Run(ctx context.Context) error {
	var keeping sync.WaitGroup
	kept, end := context.WithCancel(context.WithoutCancel(ctx))
	keeping.Go(func() { d.keep(kept) })
	defer keeping.Wait()
	defer end()
	defer d.clients.close()
	for ctx.Err() == nil {
		err := d.follow(ctx)
		if ctx.Err() != nil {
			break
		}
		d.cfg.Log.WarnContext(ctx, "the log cannot be read for delivery; it is tried again", slog.Any("err", err))
		pause(ctx, retry)
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// follow reads the log from the place on, and sends, until something fails or ctx ends.
func (d *Delivery) follow(ctx context.Context) error {
	from, err := d.start(ctx)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	bulks := make(chan job)
	blocks := make(chan entry, readAhead)
	d.mu.Lock()
	r := &reader{out: blocks, ends: d.progress.Ends()}
	place, _ := d.progress.Place()
	d.mu.Unlock()
	first, skip := place.Next()
	group.Go(func() error {
		defer close(blocks)
		return d.cfg.Blocks.Read(ctx, from, r.deliver(ctx))
	})
	group.Go(func() error { return d.cfg.Blocks.Read(ctx, from, d.count(first, skip)) })
	group.Go(func() error {
		defer close(bulks)
		return d.gather(ctx, blocks, bulks)
	})
	for range d.cfg.Section.Parallel {
		group.Go(func() error {
			for j := range bulks {
				d.carry(ctx, j)
			}
			return nil
		})
	}
	return group.Wait()
}

// start returns the sequence to read from. A place in another log, or beyond the end of this one, means that the log was replaced:
// it is read from its beginning.
func (d *Delivery) start(ctx context.Context) (uint64, error) {
	_, last, err := d.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	place, counts := d.progress.Place()
	ends := d.progress.Ends()
	if d.log != d.cfg.Blocks.ID() || place.Sequence > last {
		place, d.log, ends = concentrator.Place{}, d.cfg.Blocks.ID(), nil
	}
	d.progress = concentrator.NewProgress(place, counts, ends)
	d.waiting = 0
	next, _ := place.Next()
	return next, nil
}

// keepEach is how often the place is written at most, and that of each other member of a cluster. What was answered since goes again after a crash.
const (
	keepEach       = 100 * time.Millisecond
	keepMemberEach = time.Second
)

// keep remembers the place as it moves, until ctx ends, and a last time.
func (d *Delivery) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			d.save()
			return
		case <-d.changed:
			d.save()
			if d.cfg.Members != nil {
				pause(ctx, keepMemberEach)
				continue
			}
			pause(ctx, keepEach)
		}
	}
}

func (d *Delivery) save() {
	d.mu.Lock()
	s := saved{Log: d.log, Refused: slices.Clone(d.refused)}
	s.Place, s.Counts = d.progress.Place()
	s.Ends = d.progress.Ends()
	d.mu.Unlock()
	err := s.save(d.cfg.File)
	d.mu.Lock()
	first := d.unsaved == nil && err != nil
	d.unsaved = err
	d.mu.Unlock()
	if first {
		d.cfg.Log.Warn("the place in the log cannot be remembered; after a restart readings go again, which does no harm", slog.Any("err", err))
	}
	if err != nil {
		d.touch()
	}
}

// touch says that the place moved. The caller may hold mu.
func (d *Delivery) touch() {
	select {
	case d.changed <- struct{}{}:
	default:
	}
}
