package dnp3

import (
	"context"
	"runtime"
	"sync"

	"voltbus/protocol/dnp3/channel"
)

// engine is shared by all lines of the driver: buffers, a timer, and the workers that serve connections. It runs as
// long as there is a line. The zero value serves each connection with its own goroutine.
type engine struct {
	workers int

	mu      sync.Mutex
	lines   int
	hub     *channel.Hub
	stop    context.CancelFunc
	running sync.WaitGroup
}

// newEngine returns an engine with one worker per processor.
func newEngine() *engine { return &engine{workers: runtime.GOMAXPROCS(0)} }

// enter returns the hub for a further line.
func (e *engine) enter() *channel.Hub {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lines++; e.lines > 1 {
		return e.hub
	}
	ctx, stop := context.WithCancel(context.Background())
	hub := channel.NewHub(channel.HubConfig{Workers: e.workers, HandOver: true})
	e.hub, e.stop = hub, stop
	e.running.Go(func() { _ = hub.Run(ctx) })
	return hub
}

// leave undoes enter.
func (e *engine) leave() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lines--; e.lines == 0 {
		e.stop()
		e.running.Wait()
	}
}
