package master

import (
	"sync"
	"sync/atomic"
)

// Inbox is what other goroutines leave for an association until the one that drives it comes by.
type Inbox struct {
	mu        sync.Mutex
	requests  []*pending
	most      int // requests
	wake      func()
	kept      []uint64 // tokens of confirmations to be sent
	accepting bool
	anew      bool // the start-up read is to be made again
}

// SetWake implements [station.Machine].
func (i *Inbox) SetWake(wake func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.wake = wake
}

// ReadAnew has everything of Config.Startup read again, for a later subscriber: again
// until it is answered, as at the start. It does not wait. While the line is closed it does
// nothing, as opening it reads that anyway.
func (i *Inbox) ReadAnew() {
	i.mu.Lock()
	i.anew = i.accepting
	i.mu.Unlock()
	i.poke()
}

// Kept has the confirmation sent for which Config.Keep got the token. It may be called from any goroutine, and does
// nothing if the line was closed or KeepMost has passed since.
func (i *Inbox) Kept(token uint64) {
	i.mu.Lock()
	i.kept = append(i.kept, token)
	i.mu.Unlock()
	i.poke()
}

// put leaves a request.
func (i *Inbox) put(p *pending) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case !i.accepting:
		return ErrClosed
	case len(i.requests) >= i.most:
		return ErrFull
	}
	i.requests = append(i.requests, p)
	return nil
}

// take returns the requests, and whether everything is to be read anew: not while it is being read.
func (i *Inbox) take(reads bool) (requests []*pending, anew bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	requests, anew = i.requests, i.anew && !reads
	i.requests, i.anew = nil, i.anew && reads
	return requests, anew
}

// settled returns the tokens of confirmations that may be sent.
func (i *Inbox) settled() []uint64 {
	i.mu.Lock()
	defer i.mu.Unlock()
	kept := i.kept
	i.kept = nil
	return kept
}

func (i *Inbox) accept(on bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.accepting, i.anew, i.kept = on, false, nil
}

func (i *Inbox) poke() {
	i.mu.Lock()
	wake := i.wake
	i.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// pending is a request that waits or is being carried out.
type pending struct {
	request  *Request
	done     func(Result, error)
	own      task // what the association requested on its own
	result   Result
	canceled atomic.Bool
}

// queue holds requests by priority, then by arrival.
type queue []*pending

func (q *queue) add(p *pending) {
	at := len(*q)
	for at > 0 && (*q)[at-1].request.priority < p.request.priority {
		at--
	}
	*q = append(*q, nil)
	copy((*q)[at+1:], (*q)[at:])
	(*q)[at] = p
}

// head returns the priority of the first request that was not cancelled; false if there is none.
func (q *queue) head() (Priority, bool) {
	for len(*q) > 0 && (*q)[0].canceled.Load() {
		*q = (*q)[1:]
	}
	if len(*q) == 0 {
		return 0, false
	}
	return (*q)[0].request.priority, true
}

func (q *queue) pop() *pending {
	p := (*q)[0]
	(*q)[0] = nil
	*q = (*q)[1:]
	return p
}
