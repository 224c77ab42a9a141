package runs

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/lab/regulate"
	"voltbus/operation/lab"
)

// worlds keeps a world in virtual time. Its time passes while somebody looks at it, so that one that is forgotten costs nothing. The zero value
// has none.
type worlds struct {
	mu       sync.Mutex
	compared *regulate.Comparison
	pace     float64
	then     time.Time // when it was looked at last
	owed     float64   // virtual seconds that have not passed yet
	now      func() time.Time
}

var errNoWorld = errors.New("there is none; start one (world.start)")

// budget is how long a request lets the world catch up; what it does not reach is given up.
const budget = 250 * time.Millisecond

// StartWorld implements lab.World.
func (w *worlds) StartWorld(_ context.Context, o lab.WorldOrder) (lab.WorldState, error) {
	if o.Nodes > o.Units {
		return lab.WorldState{}, fault.E("runs.StartWorld", fault.Invalid, "nodes", errors.New("are more than the units; write at most as many"))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.compared, w.owed = regulate.NewComparison(o), 0
	w.set(o.Pace)
	return w.state(), nil
}

// set changes the pace from now on.
func (w *worlds) set(pace float64) {
	if w.now == nil {
		w.now = time.Now
	}
	w.pace, w.then, w.owed = pace, w.now(), 0
}

func (w *worlds) state() lab.WorldState {
	s := w.compared.State()
	s.Pace = w.pace
	return s
}

// at does something with the world as it is now.
func (w *worlds) at(do func(d *regulate.Comparison)) (lab.WorldState, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.compared == nil {
		return lab.WorldState{}, fault.E("runs.World", fault.NotFound, "world", errNoWorld)
	}
	w.catchUp()
	do(w.compared)
	return w.state(), nil
}

// catchUp lets the time pass that has passed outside.
func (w *worlds) catchUp() {
	now := w.now()
	w.owed += now.Sub(w.then).Seconds() * w.pace
	w.then = now
	began := time.Now()
	for ; w.owed >= regulate.Tick.Seconds(); w.owed -= regulate.Tick.Seconds() {
		if !w.compared.Pass() || time.Since(began) > budget {
			w.owed = 0
			return
		}
	}
}

// World implements lab.World.
func (w *worlds) World(context.Context) (lab.WorldState, error) {
	return w.at(func(*regulate.Comparison) {})
}

// Pace implements lab.World.
func (w *worlds) Pace(_ context.Context, pace float64) (lab.WorldState, error) {
	return w.at(func(*regulate.Comparison) { w.set(pace) })
}

// Step implements lab.World.
func (w *worlds) Step(_ context.Context, span time.Duration) (lab.WorldState, error) {
	return w.at(func(d *regulate.Comparison) {
		for range int(span / regulate.Tick) {
			d.Pass()
		}
	})
}

// KillLeader implements lab.World.
func (w *worlds) KillLeader(context.Context) (lab.WorldState, error) {
	return w.at((*regulate.Comparison).Kill)
}

// Lose implements lab.World.
func (w *worlds) Lose(_ context.Context, share float64) (lab.WorldState, error) {
	return w.at(func(d *regulate.Comparison) { d.Lose(share) })
}

// StopWorld implements lab.World.
func (w *worlds) StopWorld(context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.compared == nil {
		return fault.E("runs.StopWorld", fault.NotFound, "world", errNoWorld)
	}
	w.compared = nil
	return nil
}
