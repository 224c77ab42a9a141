package dispatch

import (
	"context"
	"errors"
	"sync/atomic"

	"voltbus/fault"
)

// job is a request on its way to the goroutine of Run.
type job struct {
	do      func(t *turn)
	size    int  // its size, in commands
	changes bool // it changes the state, so it is answered once that is stored
	makes   bool // it creates something that lasts, so it is refused while nothing can be stored
	state   atomic.Int32
	done    chan error
}

// The states of a job.
const (
	jobWaits int32 = iota
	jobTaken
	jobGiven // given up by its waiting caller
)

func (j *job) take() bool       { return j.state.CompareAndSwap(jobWaits, jobTaken) }
func (j *job) giveUp() bool     { return j.state.CompareAndSwap(jobWaits, jobGiven) }
func (j *job) answer(err error) { j.done <- err }

// requests is the queue of requests to the goroutine of Run.
type requests struct {
	jobs  chan *job
	ended chan struct{} // closed when Run no longer accepts requests
}

func newRequests() *requests {
	return &requests{jobs: make(chan *job, queue), ended: make(chan struct{})}
}

var errEnded = errors.New("the node is stopping; ask again when it runs")

var errLate = errors.New("nobody waited for the answer: what was asked may be done, so look at the point, or ask again with the same identifier")

// ask runs a job in the goroutine of Run, and waits for it. After an error the results of do must not be
// used.
func (r *requests) ask(ctx context.Context, j *job) error {
	j.done = make(chan error, 1)
	select {
	case r.jobs <- j:
	case <-ctx.Done():
		return fault.E("dispatch.ask", fault.KindOf(ctx.Err()), "", ctx.Err())
	case <-r.ended:
		return fault.E("dispatch.ask", fault.Unavailable, "", errEnded)
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.giveUp() {
			return fault.E("dispatch.ask", fault.KindOf(ctx.Err()), "", ctx.Err())
		}
		return fault.E("dispatch.ask", fault.KindOf(ctx.Err()), "", errLate)
	case <-r.ended:
		if j.giveUp() {
			return fault.E("dispatch.ask", fault.Unavailable, "", errEnded)
		}
		return <-j.done
	}
}

// look runs a job that changes nothing.
func look[T any](ctx context.Context, r *requests, see func() T) (T, error) {
	var seen T
	if err := r.ask(ctx, &job{size: 1, do: func(*turn) { seen = see() }}); err != nil {
		var none T
		return none, err
	}
	return seen, nil
}
