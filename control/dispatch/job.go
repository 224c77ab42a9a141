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
	size    int  // how much it is, in commands
	changes bool // it changes the state, so that it is answered when that is kept
	makes   bool // it makes something that lasts, so that it is refused while nothing can be kept
	state   atomic.Int32
	done    chan error
}

// The states of a job.
const (
	jobWaits int32 = iota
	jobTaken
	jobGiven // up, by who waited for it
)

func (j *job) take() bool       { return j.state.CompareAndSwap(jobWaits, jobTaken) }
func (j *job) giveUp() bool     { return j.state.CompareAndSwap(jobWaits, jobGiven) }
func (j *job) answer(err error) { j.done <- err }

// requests is the way of requests to the goroutine of Run.
type requests struct {
	jobs  chan *job
	ended chan struct{} // closed when Run does not take requests any more
}

func newRequests() *requests {
	return &requests{jobs: make(chan *job, queue), ended: make(chan struct{})}
}

var errEnded = errors.New("the node is stopping; ask again when it runs")

var errLate = errors.New("nobody waited for the answer: what was asked may be done, so look at the point, or ask again with the same identifier")

// ask has the goroutine of Run do a job, and waits for it. With an error what do has made must not be
// looked at.
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

// look has a job done that changes nothing.
func look[T any](ctx context.Context, r *requests, see func() T) (T, error) {
	var seen T
	if err := r.ask(ctx, &job{size: 1, do: func(*turn) { seen = see() }}); err != nil {
		var none T
		return none, err
	}
	return seen, nil
}
