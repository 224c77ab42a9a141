package destination

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/sink"
	"voltbus/sink/setting"
)

// Destinations are all destinations of a node. Its methods are safe for concurrent use.
type Destinations struct {
	cfg  Config
	wake chan struct{} // the list has changed

	change sync.Mutex // held while the list is changed
	mu     sync.Mutex // guards the rest
	list   []*one
}

// one is a destination with what sends to it.
type one struct {
	*target

	sink    *sink.Sink
	stop    func()        // has it end
	stopped chan struct{} // closed by stop
	ended   chan struct{} // closed when it has ended
	begun   bool          // guarded by Destinations
}

// Open creates the destinations. None is connected yet.
func Open(ctx context.Context, cfg Config) (*Destinations, error) {
	d := &Destinations{cfg: cfg, wake: make(chan struct{}, 1)}
	for _, entry := range cfg.Sinks {
		next, err := d.open(ctx, entry)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.list = append(d.list, next)
	}
	return d, nil
}

func (d *Destinations) open(ctx context.Context, entry setting.Sink) (*one, error) {
	t, err := open(ctx, &d.cfg, entry)
	if err != nil {
		return nil, err
	}
	next := &one{target: t, stopped: make(chan struct{}), ended: make(chan struct{})}
	next.stop = sync.OnceFunc(func() { close(next.stopped) })
	config := sink.Config{Leaves: point.IsMeterOrigin, Every: t.Every, Collect: t.Every > 0, Log: slog.New(slog.DiscardHandler)} // the target tells what fails
	if t.Files {
		config.Samples = t.Batch
	}
	next.sink = sink.New(config, d.cfg.Blocks, t)
	return next, nil
}

// current returns the destinations, in the order of the configuration.
func (d *Destinations) current() []*one {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.list
}

// Close ends connections, for a node that does not run.
func (d *Destinations) Close() (err error) {
	for _, one := range d.current() {
		err = errors.Join(err, one.close())
	}
	return err
}

// Run sends until ctx ends.
func (d *Destinations) Run(ctx context.Context) error {
	var all errgroup.Group
	for {
		for _, one := range d.fresh() {
			all.Go(func() error { return one.run(ctx) })
		}
		select {
		case <-d.wake:
			continue
		case <-ctx.Done():
		}
		break
	}
	return errors.Join(all.Wait(), d.Close())
}

// fresh returns the destinations that nothing is sent to yet, which its caller begins.
func (d *Destinations) fresh() (list []*one) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.list {
		if !one.begun {
			one.begun = true
			list = append(list, one)
		}
	}
	return list
}

// run sends to a destination until ctx ends, or it is stopped.
func (o *one) run(ctx context.Context) error {
	defer close(o.ended)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var both errgroup.Group
	both.Go(func() error { return o.sink.Run(ctx) })
	both.Go(func() error {
		o.runHistory(ctx)
		return nil
	})
	select {
	case <-ctx.Done():
	case <-o.stopped:
		cancel()
	}
	return errors.Join(both.Wait(), o.close())
}

// end ends a destination, and returns when nothing of it is under way.
func (d *Destinations) end(o *one) error {
	o.stop()
	d.mu.Lock()
	begun := o.begun
	o.begun = true // nobody begins it any more
	d.mu.Unlock()
	if begun {
		<-o.ended
	}
	o.work.Lock() // nobody sends again what was refused
	defer o.work.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = errChanged
	return o.close()
}

var errChanged = errors.New("the destination was just changed or removed; look at voltbus sinks list, and ask again")

// Adopt takes other entries: those that are new are begun, those that are no more are ended and leave the position behind, and those
// that differ are ended and go on from the position in the new way. When an entry cannot be used, nothing changes.
func (d *Destinations) Adopt(ctx context.Context, entries []setting.Sink) error {
	return d.adopt(ctx, entries, func(now *one, entry *setting.Sink) bool {
		next := entry.Completed()
		return reflect.DeepEqual(now.entry, next)
	})
}

// Reopen has a destination begin anew where it is, for files that it was made with and that have changed.
func (d *Destinations) Reopen(ctx context.Context, name string) error {
	var entries []setting.Sink
	for _, one := range d.current() {
		entries = append(entries, one.entry)
	}
	return d.adopt(ctx, entries, func(now *one, _ *setting.Sink) bool { return now.entry.Name != name })
}

func (d *Destinations) adopt(ctx context.Context, entries []setting.Sink, stays func(*one, *setting.Sink) bool) error {
	d.change.Lock()
	defer d.change.Unlock()
	if err := d.usable(entries); err != nil {
		return err
	}
	now := d.current()
	list := make([]*one, len(entries))
	for _, old := range now {
		at := slices.IndexFunc(entries, func(s setting.Sink) bool { return s.Name == old.entry.Name })
		if at >= 0 && stays(old, &entries[at]) {
			list[at] = old
			continue
		}
		if err := d.end(old); err != nil {
			d.cfg.Log.WarnContext(ctx, "the connection to a destination did not end well", slog.String("destination", old.entry.Name), slog.Any("err", err))
		}
	}
	var failed error
	for i := range list {
		if list[i] == nil {
			var err error
			if list[i], err = d.open(ctx, entries[i]); err != nil {
				failed = errors.Join(failed, err)
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(list, func(o *one) bool { return o == nil })
	select {
	case d.wake <- struct{}{}:
	default:
	}
	return failed
}

// usable reports whether a destination can be made of each entry.
func (d *Destinations) usable(entries []setting.Sink) error {
	for i := range entries {
		entry := entries[i].Completed()
		w, err := d.make(&entry)
		if err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (d *Destinations) make(entry *setting.Sink) (Writer, error) {
	return d.cfg.Kinds[entry.Kind].Make(entry, Environment{Node: d.cfg.Node, Dir: d.cfg.Dir})
}

// Prober is a Writer that finds out whether its destination can be used, without sending a reading.
type Prober interface {
	Probe(ctx context.Context) error
}

// Try connects to a destination as an entry says, and returns what is wrong: the address, the certificate, the password. Nothing is sent,
// and nothing is kept. A kind that cannot be tried is not found wrong.
func (d *Destinations) Try(ctx context.Context, entry setting.Sink) (err error) {
	entry = entry.Completed()
	w, err := d.make(&entry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if p, can := w.(Prober); can {
		return p.Probe(ctx)
	}
	return nil
}

// Remembered reports whether a position is kept for a name, of a destination that is there or was.
func (d *Destinations) Remembered(name string) bool {
	if !setting.IsName(name) {
		return false
	}
	_, err := os.Stat(positionFile(d.cfg.Dir, name))
	return err == nil
}

// Forget removes the position of a destination that was removed, and the readings that it refused or that rules withheld.
func (d *Destinations) Forget(name string) error {
	const op = "sinks.forget"
	d.change.Lock()
	defer d.change.Unlock()
	if !setting.IsName(name) {
		return fault.E(op, fault.Invalid, name, errors.New("is not the name of a destination"))
	}
	if _, err := d.find(op, name); err == nil {
		return fault.E(op, fault.Conflict, name, errors.New("it is still a destination; remove it first"))
	}
	var all error
	for _, file := range []string{positionFile(d.cfg.Dir, name), refusedName(d.cfg.Dir, name), withheldName(d.cfg.Dir, name), memoryFile(d.cfg.Dir, name)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			all = errors.Join(all, fault.E(op, fault.Unavailable, file, err))
		}
	}
	return all
}
