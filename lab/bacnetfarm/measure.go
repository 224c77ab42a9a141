package bacnetfarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/device"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/fault"
	"voltbus/point"
)

// Options say what is read, and how.
type Options struct {
	Devices, Points int
	Controllers     int           // the devices are distributed over them
	Rate            int           // requests a second that a controller takes; 0: all
	Queue           int           // requests that may come faster
	Interval        time.Duration // between two scans
	Scans           int           // that are measured
	Staggered       bool          // over the interval, in place of all at once
	COV             bool          // changes are subscribed to, and each point is read in every fifth interval only
	Changing        float64       // share of the points that change within an interval
	Seed            uint64
	Timeout         time.Duration // of a request
}

// Result is what came of it.
type Result struct {
	Load     Load
	Expected int           // reads of a device, or changes of values with COV
	Good     int           // of them, those that came whole, or that were told
	Scan     time.Duration // from the beginning of the interval until the last device was read; with COV 0
	Age      time.Duration // mean time from a change until it was known
}

// safetyPolls is how many intervals lie between two polls of a device whose changes are subscribed to.
const safetyPolls = 5

// startLimit is how long the devices may take until all were read, or subscribed to, without a limit.
const startLimit = 2 * time.Minute

// Measure reads the devices through the device owner and the driver of a node.
func Measure(ctx context.Context, o Options) (_ Result, err error) {
	f, err := openFarm(ctx, &o)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	l := newListener(f, &o)
	fleet := device.New(l, slog.New(slog.DiscardHandler), device.Limits{})
	configs, err := o.configs(f)
	if err != nil {
		return Result{}, err
	}
	if err := fleet.Apply(configs); err != nil {
		return Result{}, err
	}
	running, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return fleet.Run(running) })
	group.Go(func() error {
		f.change(running, o.Changing*float64(o.Devices*o.Points)/o.Interval.Seconds(), o.Seed)
		return nil
	})
	r, err := o.measure(ctx, f, l)
	stop()
	return r, errors.Join(err, group.Wait())
}

// measure waits until all is known, and then measures from the beginning of an interval on.
func (o *Options) measure(ctx context.Context, f *farm, l *listener) (Result, error) {
	if err := o.start(ctx, f, l); err != nil {
		return Result{}, err
	}
	begin := time.Now().Truncate(o.Interval).Add(o.Interval)
	if err := sleep(ctx, time.Until(begin.Add(-5*time.Millisecond))); err != nil {
		return Result{}, err
	}
	f.limit(o.Rate, o.Queue)
	l.measure(begin)
	end := begin.Add(time.Duration(o.Scans) * o.Interval)
	if err := sleep(ctx, time.Until(end.Add(-5*time.Millisecond))); err != nil {
		return Result{}, err
	}
	r := Result{Load: f.load(), Expected: o.Devices * o.Scans}
	changes := int(f.changes.Load())
	if !o.COV { // what began last may take a request and its repetition
		if err := l.whole(ctx, 2*o.Timeout+5*time.Second); err != nil {
			return Result{}, err
		}
	}
	r.Good, r.Scan, r.Age = l.result(o)
	if o.COV {
		r.Expected = changes
	}
	return r, nil
}

// start waits until each device was read once, or subscribed to.
func (o *Options) start(ctx context.Context, f *farm, l *listener) error {
	late := time.NewTimer(startLimit + safetyPolls*o.Interval)
	defer late.Stop()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !l.all() || (o.COV && f.subscriptions() < o.Devices*o.Points) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return fault.E("bacnetfarm.Measure", fault.Timeout, "", fmt.Errorf("of %d devices only some were read, and %d points subscribed to; the machine is too slow for as many", o.Devices, f.subscriptions()))
		case <-ticker.C:
		}
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// configs describes the devices as a configuration would.
func (o *Options) configs(f *farm) ([]device.Config, error) {
	var configs []device.Config
	for i, at := range f.addresses {
		c := bacnet.NewConfig()
		c.Local, c.Address, c.Timeout = "127.0.0.1/32:0", at.String(), o.Timeout
		for n := range o.Points {
			e := pointlist.Entry{Name: fmt.Sprintf("p%d", n+1), Object: fmt.Sprintf("analog-input:%d", n+1)}
			if o.COV {
				e.COV = "true"
			}
			c.Registry.Entries = append(c.Registry.Entries, e)
		}
		if problems := c.Validate(); len(problems) > 0 {
			return nil, errors.Join(problems...)
		}
		d := device.Config{
			Path: point.Path(fmt.Sprintf("campus/device%d", i)), Kind: bacnet.Kind(), Driver: c, Interval: o.Interval, Timeout: 4 * o.Timeout, ReadAtStart: true,
		}
		switch {
		case o.COV:
			d.Subscribe, d.Interval = true, safetyPolls*o.Interval
			d.Group, d.Stagger = "campus", d.Interval
		case o.Staggered:
			d.Group, d.Stagger = "campus", o.Interval
		}
		configs = append(configs, d)
	}
	return configs, nil
}

// listener hears what devices report.
type listener struct {
	farm *farm
	want int // devices

	mu      sync.Mutex
	heard   map[point.Path]bool
	known   map[point.Path]float64 // the newest value of each point
	begin   time.Time              // of what is measured; zero before
	good    int
	reads   int
	last    time.Time // when the last read ended
	ages    time.Duration
	changes int
	wanted  int // reads
	done    chan struct{}
}

func newListener(f *farm, o *Options) *listener {
	return &listener{
		farm: f, want: o.Devices, wanted: o.Devices * o.Scans, heard: map[point.Path]bool{}, known: map[point.Path]float64{}, done: make(chan struct{}),
	}
}

// measure begins to count reads of slots from a time on.
func (l *listener) measure(begin time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin = begin
}

// all reports whether each device was read.
func (l *listener) all() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.heard) == l.want
}

// Hear implements device.Outlet.
func (l *listener) Hear(scan *point.Scan) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	good := len(scan.Samples) > 0
	for i := range scan.Samples {
		s := &scan.Samples[i]
		if !s.Quality.IsGood() {
			good = false
			continue
		}
		l.learn(s, now)
	}
	if good {
		l.heard[scan.Device] = true
	}
	if l.begin.IsZero() || scan.Slot.IsZero() || scan.Slot.Before(l.begin) || l.reads == l.wanted {
		return
	}
	l.reads++
	l.last = now
	if good {
		l.good++
	}
	if l.reads == l.wanted {
		close(l.done)
	}
}

// learn notes a value. The lock is held.
func (l *listener) learn(s *point.Sample, now time.Time) {
	v, _ := s.Value.Number()
	if v == l.known[s.Point] {
		return
	}
	l.known[s.Point] = v
	changed := l.farm.began.Add(time.Duration(v * float64(time.Second)))
	if l.begin.IsZero() || changed.Before(l.begin) {
		return
	}
	l.changes++
	l.ages += max(0, now.Sub(changed))
}

// whole waits until each read that was due has ended, well or not.
func (l *listener) whole(ctx context.Context, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
	case <-timer.C: // what is left out counts as lost
	}
	return nil
}

// result returns what was counted.
func (l *listener) result(o *Options) (good int, scan, age time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes > 0 {
		age = l.ages / time.Duration(l.changes)
	}
	if o.COV {
		return l.changes, 0, age
	}
	if !l.last.IsZero() {
		scan = l.last.Sub(l.begin.Add(time.Duration(o.Scans-1) * o.Interval))
	}
	return l.good, scan, age
}

// Live implements device.Outlet.
func (l *listener) Live(*point.Scan, device.Forms) {}

// Record implements device.Outlet.
func (l *listener) Record([]point.Sample) bool { return true }

// Settle implements device.Outlet.
func (l *listener) Settle(kept func()) { kept() }
