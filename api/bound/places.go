// Package bound limits the resources that one person and all persons together may use: concurrent places, queues and rates.
package bound

import (
	"fmt"
	"sync"
	"time"

	"voltbus/api/exchange"
	"voltbus/fault"
)

// Places counts the places in use, by person. It is safe for concurrent use.
type Places struct {
	what       string // "streams", for error messages
	most, each int64  // most 0: no total bound

	mu   sync.Mutex
	all  int64
	held map[string]int64
}

// NewPlaces returns places: at most most in total, and each per person. Errors name them by what.
func NewPlaces(what string, most, each int) *Places {
	return &Places{what: what, most: int64(most), each: int64(each), held: map[string]int64{}}
}

// Take holds n Places for a person until release is called.
func (p *Places) Take(who string, n int64) (release func(), err error) {
	if err := p.Add(who, n); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { p.Release(who, n) }), nil
}

// Add holds n more places for a person. The kind of the error tells which bound was met: fault.Unavailable is the total one.
func (p *Places) Add(who string, n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.held[who]+n > p.each:
		return exchange.Later(time.Second, fmt.Errorf("%s has %d %s at this moment, and one person may have %d; end one, or try again later", exchange.Clip(who), p.held[who], p.what, p.each))
	case p.most > 0 && p.all+n > p.most:
		return fault.E("api.places", fault.Unavailable, p.what, fmt.Errorf("the node has too many %s at this moment; end one, or try again later", p.what))
	}
	p.all += n
	p.held[who] += n
	return nil
}

// Account returns a function that holds further places for a person, to be called by one goroutine, and one that releases all of them.
func (p *Places) Account(who string) (more func(n int64) error, end func()) {
	var held int64
	more = func(n int64) error {
		err := p.Add(who, n)
		if err == nil {
			held += n
		}
		return err
	}
	return more, func() { p.Release(who, held) }
}

// Release returns places that Add took.
func (p *Places) Release(who string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all -= n
	if p.held[who] -= n; p.held[who] == 0 {
		delete(p.held, who)
	}
}

// Count returns how many places are held.
func (p *Places) Count() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
