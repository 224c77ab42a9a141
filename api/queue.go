package api

import (
	"context"
	"fmt"
	"sync"
	"time"

	"voltbus/fault"
)

// Bounds of the queries in PromQL of one person: a screen of Grafana asks many at once.
const (
	eachQueries   = 2 // that run; the node runs four
	eachWaiting   = 64
	queryPatience = 30 * time.Second
)

// queues has each person do a few things at a time; the others wait. It is safe for concurrent use.
type queues struct {
	each, most int           // that run, and that run or wait
	patience   time.Duration // that one waits

	mu sync.Mutex
	of map[string]*queue
}

// queue is one person's.
type queue struct {
	free chan struct{}
	n    int // that run or wait
}

func newQueues(each, most int, patience time.Duration) *queues {
	return &queues{each: each, most: most, patience: patience, of: make(map[string]*queue)}
}

// wait returns when it is the person's turn; release must follow. It fails with fault.Unavailable, or what ended ctx.
func (t *queues) wait(ctx context.Context, who string) (release func(), err error) {
	p, err := t.join(who)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(t.patience)
	defer late.Stop()
	select {
	case p.free <- struct{}{}:
		return func() { <-p.free; t.leave(who) }, nil
	case <-late.C:
		err = fault.E("api.queues", fault.Unavailable, "queries", fmt.Errorf(
			"%s has %d queries running, and waited %v for one to end; ask for less at a time", clip(who), t.each, t.patience))
	case <-ctx.Done():
		err = fault.E("api.queues", fault.KindOf(ctx.Err()), "queries", ctx.Err())
	}
	t.leave(who)
	return nil, err
}

func (t *queues) join(who string) (*queue, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.of[who]
	if p == nil {
		p = &queue{free: make(chan struct{}, t.each)}
		t.of[who] = p
	}
	if p.n == t.most {
		return nil, &waitError{time.Second, fmt.Errorf("%s has %d queries running or waiting, and one person may have so many; wait for some", clip(who), t.most)}
	}
	p.n++
	return p, nil
}

func (t *queues) leave(who string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.of[who]; p.n > 1 {
		p.n--
	} else {
		delete(t.of, who)
	}
}
