package bound

import (
	"context"
	"fmt"
	"sync"
	"time"

	"voltbus/api/exchange"
	"voltbus/fault"
)

// Queues lets each person run a few things at a time; the others wait. It is safe for concurrent use.
type Queues struct {
	what       string        // "queries", for error messages
	all        chan struct{} // an entry for each one running; nil for no total bound
	each, most int           // running, and running or waiting
	patience   time.Duration // longest wait

	mu sync.Mutex
	of map[string]*queue
}

// queue is one person's.
type queue struct {
	free chan struct{}
	n    int // running or waiting
}

// NewQueues returns Queues: each person has at most each running, and most running or waiting; together bounds all that run, 0 for no bound.
func NewQueues(what string, each, most, together int, patience time.Duration) *Queues {
	q := &Queues{what: what, each: each, most: most, patience: patience, of: make(map[string]*queue)}
	if together > 0 {
		q.all = make(chan struct{}, together)
	}
	return q
}

// Wait returns when it is the person's turn; release must follow. It fails with fault.Unavailable, or the cause of ctx.
func (t *Queues) Wait(ctx context.Context, who string) (release func(), err error) {
	p, err := t.join(who)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(t.patience)
	defer late.Stop()
	select {
	case p.free <- struct{}{}:
		if t.all == nil {
			return func() { <-p.free; t.leave(who) }, nil
		}
		select {
		case t.all <- struct{}{}:
			return func() { <-t.all; <-p.free; t.leave(who) }, nil
		case <-late.C:
			err = fault.E("api.queues", fault.Unavailable, t.what, fmt.Errorf("the node has %d %s of others running, which took longer than %v; try again later", cap(t.all), t.what, t.patience))
		case <-ctx.Done():
			err = fault.E("api.queues", fault.KindOf(ctx.Err()), t.what, ctx.Err())
		}
		<-p.free
	case <-late.C:
		err = fault.E("api.queues", fault.Unavailable, t.what, fmt.Errorf(
			"%s has %d %s running, and waited %v for one to end; ask for less at a time", exchange.Clip(who), t.each, t.what, t.patience))
	case <-ctx.Done():
		err = fault.E("api.queues", fault.KindOf(ctx.Err()), t.what, ctx.Err())
	}
	t.leave(who)
	return nil, err
}

func (t *Queues) join(who string) (*queue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of[who]
	if p == nil {
		p = &queue{free: make(chan struct{}, t.each)}
		t.of[who] = p
	}
	if p.n == t.most {
		return nil, exchange.Later(time.Second, fmt.Errorf("%s has %d %s running or waiting, and one person may have so many; wait for some", exchange.Clip(who), t.most, t.what))
	}
	p.n++
	return p, nil
}

func (t *Queues) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.of[who]; p.n > 1 {
		p.n--
	} else {
		delete(t.of, who)
	}
}
