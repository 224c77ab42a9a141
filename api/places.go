package api

import (
	"fmt"
	"sync"
	"time"

	"voltbus/api/exchange"

	"voltbus/fault"
)

// How many of what lasts or takes memory one person has at a time, with all of their programs, and all together.
const (
	maxReaders    = 1000 // streams
	eachReaders   = 64
	maxExports    = 16
	eachExports   = 4
	eachRequests  = 256 // that are no streams; all together have as many as there are connections
	eachIngestion = ingestMemory / 2
)

// places counts what is held, by person. It is safe for concurrent use.
type places struct {
	what       string // "streams", for words
	most, each int64  // most 0: no bound of all together

	mu   sync.Mutex
	all  int64
	held map[string]int64
}

func newPlaces(what string, most, each int) *places {
	return &places{what: what, most: int64(most), each: int64(each), held: map[string]int64{}}
}

// take holds n places for a person until release is called.
func (p *places) take(who string, n int64) (release func(), err error) {
	if err := p.add(who, n); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { p.release(who, n) }), nil
}

// add holds n more places for a person. An error says whose bound was met: fault.Unavailable that of all together.
func (p *places) add(who string, n int64) error {
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

func (p *places) release(who string, n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all -= n
	if p.held[who] -= n; p.held[who] == 0 {
		delete(p.held, who)
	}
}

// count returns how many are held.
func (p *places) count() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all
}
