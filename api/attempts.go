package api

import (
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	attemptBurst = 10              // wrong tokens that one address may show at once
	attemptEvery = 3 * time.Second // and then one each
	retryAfter   = "3"             // the same, as the header wants it
	maxAddresses = 4096            // that are watched
)

var errAttempts = errors.New("too many wrong tokens from this address; wait a few seconds")

// attempts counts wrong tokens by address. It is safe for concurrent use.
type attempts struct {
	mu        sync.Mutex
	addresses map[string]*rate.Limiter
}

func newAttempts() *attempts { return &attempts{addresses: make(map[string]*rate.Limiter)} }

// allow counts a wrong token and reports whether the address may go on.
func (a *attempts) allow(remote string, now time.Time) bool {
	return a.limiter(remote).AllowN(now, 1)
}

// exhausted reports whether the address has to wait.
func (a *attempts) exhausted(remote string, now time.Time) bool {
	return a.limiter(remote).TokensAt(now) < 1
}

func (a *attempts) limiter(remote string) *rate.Limiter {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		remote = host
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.addresses[remote]
	if l == nil {
		if len(a.addresses) >= maxAddresses {
			clear(a.addresses) // bounded; who tries from so many addresses guesses 256 bits still
		}
		l = rate.NewLimiter(rate.Every(attemptEvery), attemptBurst)
		a.addresses[remote] = l
	}
	return l
}
