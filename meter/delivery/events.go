package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/internal/atomicfile"
	"voltbus/meter"
	"voltbus/meter/concentrator"
	"voltbus/meter/message"
	"voltbus/meter/store"
	"voltbus/point"
	"voltbus/wire"
)

// Events hands the events in a concentrator's log to metering data systems. It has a place of its own in the log and connections of its own,
// and passes over readings, so that events do not wait for them. Status may be called at any time.
type Events struct {
	cfg     Config
	clients fleet

	mu      sync.Mutex
	targets *concentrator.Targets
	state   eventState
	unsaved error // why the place cannot be remembered
}

// eventState is what is remembered over a restart.
type eventState struct {
	Log      string              `json:"log"`
	Sequence uint64              `json:"sequence"` // of the log up to which all is answered
	Counts   concentrator.Counts `json:"counts"`
	Ends     map[string]uint64   `json:"ends"` // samples of each origin of events, up to the place
	Refused  []Refused           `json:"refused,omitempty"`
}

// EventStatus says what became of events.
type EventStatus struct {
	concentrator.Counts
	Ends     map[string]uint64 // samples of each origin of events that are answered
	Systems  []System
	Refusals []Refused // the newest, the newest first
	Trouble  string    // why the place in the log cannot be remembered
}

// CheckEvents returns what is wrong with the content of the file of a delivery of events.
func CheckEvents(content []byte) error { return json.Unmarshal(content, &eventState{}) }

// NewEvents returns a delivery of events from the place on that its file remembers. It dials nobody.
func NewEvents(c Config) (*Events, error) {
	e := &Events{cfg: c, targets: concentrator.NewTargets(len(c.Section.Systems))}
	var err error
	if e.clients, err = dial(&c); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(c.File)
	if err == nil {
		err = json.Unmarshal(data, &e.state)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		e.state = eventState{}
		c.Log.Warn("the place of events in the log is forgotten; they are sent again, which does no harm", slog.String("file", c.File), slog.Any("err", err))
	}
	if e.state.Ends == nil {
		e.state.Ends = map[string]uint64{}
	}
	return e, nil
}

// Status returns what became of events.
func (e *Events) Status() EventStatus {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := EventStatus{Counts: e.state.Counts, Ends: map[string]uint64{}, Refusals: slices.Clone(e.state.Refused)}
	slices.Reverse(s.Refusals)
	maps.Copy(s.Ends, e.state.Ends)
	for i, t := range e.targets.States() {
		s.Systems = append(s.Systems, System{URL: e.clients[i].told, State: t})
	}
	if e.unsaved != nil {
		s.Trouble = e.unsaved.Error()
	}
	return s
}

// Retry says that a system may answer again, so that it is tried at once.
func (e *Events) Retry(system int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.targets.Retry(system)
}

// Run sends until ctx ends, and returns nil.
func (e *Events) Run(ctx context.Context) error {
	defer e.clients.close()
	defer e.save()
	for ctx.Err() == nil {
		err := e.follow(ctx)
		if ctx.Err() != nil {
			break
		}
		e.cfg.Log.WarnContext(ctx, "the log cannot be read for events; it is tried again", slog.Any("err", err))
		pause(ctx, retry)
	}
	return nil
}

// told is a block of the log with its events; none of a block that holds none.
type told struct {
	sequence uint64
	origin   string
	end      uint64 // samples of the origin up to its end
	lost     uint64 // samples of the origin that the log had dropped before it
	events   []meter.Event
}

// follow reads the log from the place on, and sends, until something fails or ctx ends.
func (e *Events) follow(ctx context.Context) error {
	_, last, err := e.cfg.Blocks.Bounds(ctx)
	if err != nil {
		return err
	}
	e.mu.Lock()
	if e.state.Log != e.cfg.Blocks.ID() || e.state.Sequence > last { // the log was replaced: it is read from its beginning
		e.state.Log, e.state.Sequence, e.state.Ends = e.cfg.Blocks.ID(), 0, map[string]uint64{}
	}
	from := e.state.Sequence + 1
	r := &eventReader{ends: map[string]uint64{}, out: make(chan told, readAhead)}
	maps.Copy(r.ends, e.state.Ends)
	e.mu.Unlock()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(r.out)
		return e.cfg.Blocks.Read(ctx, from, r.deliver(ctx))
	})
	group.Go(func() error { return e.forward(ctx, r.out) })
	return group.Wait()
}

// eventReader finds the blocks with events.
type eventReader struct {
	out     chan told
	decoder wire.Decoder
	ends    map[string]uint64
}

func (r *eventReader) deliver(ctx context.Context) func(uint64, []byte) error {
	return func(sequence uint64, data []byte) error {
		t := told{sequence: sequence}
		var b point.Block
		origin, err := r.decoder.Origin(data)
		if err == nil && point.IsMeterEventOrigin(origin) && r.decoder.DecodeBlock(data, &b) == nil {
			var batch store.EventBatch
			batch.Take(&b, b.Origin, b.Created)
			for i := range batch.Events {
				t.events = append(t.events, batch.Events[i].Event)
			}
			if before := r.ends[origin]; b.Before > before {
				t.lost = b.Before - before
			}
			r.ends[origin], t.origin, t.end = b.End(), origin, b.End()
		}
		select {
		case r.out <- t:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mostEvents is how many events go in one request at least if they wait; a request has whole blocks.
const mostEvents = 5_000

// mostPassed is how many blocks of readings may lie behind the place that is remembered.
const mostPassed = 10_000

// forward sends what the log has: as much at once as waits, and without waiting for more.
func (e *Events) forward(ctx context.Context, in <-chan told) error {
	passed := 0
	for first := range in {
		list, bulk := waitingWith(first, in)
		var a *message.Answer
		if len(bulk) > 0 {
			if a = e.carry(ctx, bulk); a == nil {
				return ctx.Err()
			}
		}
		e.settle(list, bulk, a)
		if passed += len(list); len(bulk) > 0 || passed >= mostPassed {
			e.save()
			passed = 0
		}
	}
	return ctx.Err()
}

// waitingWith returns a block with those that wait behind it, and their events.
func waitingWith(first told, in <-chan told) (list []told, bulk reports) {
	list, bulk = []told{first}, first.events
	for len(bulk) < mostEvents {
		select {
		case t, open := <-in:
			if !open {
				return list, bulk
			}
			list, bulk = append(list, t), append(bulk, t.events...)
		default:
			return list, bulk
		}
	}
	return list, bulk
}

// carry sends events until a system has answered; nil when ctx ends.
func (e *Events) carry(ctx context.Context, list reports) *message.Answer {
	for ctx.Err() == nil {
		e.mu.Lock()
		at, trial, wait := e.targets.Pick(e.cfg.Now())
		e.mu.Unlock()
		if at < 0 {
			pause(ctx, min(wait, longestWait))
			continue
		}
		a, err := e.clients.attempt(ctx, at, trial, list)
		switch {
		case err == nil:
			e.answered(ctx, at, list, a)
			return a
		case ctx.Err() == nil:
			e.failed(ctx, at, err)
		}
	}
	return nil
}

func (e *Events) failed(ctx context.Context, at int, err error) {
	asked := time.Duration(0)
	if t, is := errors.AsType[*trouble](err); is {
		asked = t.pause
	}
	e.mu.Lock()
	first := e.targets.Failed(at, e.cfg.Now(), err.Error(), asked)
	e.mu.Unlock()
	if first {
		e.cfg.Log.WarnContext(ctx, "a metering data system does not take events", slog.String("system", e.clients[at].told), slog.Any("err", err))
	}
}

func (e *Events) answered(ctx context.Context, at int, list reports, a *message.Answer) {
	again := false
	defer func() {
		if again && e.cfg.Answers != nil {
			e.cfg.Answers(at)
		}
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	if again = e.targets.Answered(at); again {
		e.cfg.Log.InfoContext(ctx, "a metering data system takes events again", slog.String("system", e.clients[at].told))
	}
	for _, r := range a.Refused {
		one := &list[r.Index]
		e.state.Refused = append(e.state.Refused, Refused{
			Meter: one.Meter, Event: one.Kind.String(), End: one.At, Reason: clip(r.Reason), System: e.clients[at].told, At: e.cfg.Now(),
		})
	}
	e.state.Refused = e.state.Refused[max(len(e.state.Refused)-mostRefused, 0):]
}

// settle moves the place behind blocks whose events are answered.
func (e *Events) settle(list []told, bulk reports, a *message.Answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range list {
		t := &list[i]
		e.state.Sequence = t.sequence
		if t.origin != "" {
			e.state.Ends[t.origin] = t.end
			e.state.Counts.Lost += t.lost
		}
	}
	if a != nil {
		e.state.Counts.Add(concentrator.Counts{Sent: uint64(len(bulk) - len(a.Refused)), Refused: uint64(len(a.Refused))})
	}
}

// save remembers the place.
func (e *Events) save() {
	e.mu.Lock()
	data, err := json.Marshal(&e.state)
	e.mu.Unlock()
	if err == nil {
		err = atomicfile.Writer{}.Write(e.cfg.File, data, 0o600)
	}
	e.mu.Lock()
	first := e.unsaved == nil && err != nil
	e.unsaved = err
	e.mu.Unlock()
	if first {
		e.cfg.Log.Warn("the place of events in the log cannot be remembered; after a restart they go again, which does no harm", slog.Any("err", err))
	}
}
