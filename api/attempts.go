package api

import (
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	attemptBurst = 10              // wrong secrets that one address may show at once
	attemptEvery = 3 * time.Second // and then one each
	retryAfter   = "3"             // the same, as the header wants it
	maxAddresses = 4096            // that are watched
)

// Wrong passwords for one name, from wherever they come. Enough that nobody is locked out by a
// stranger's guesses from one address.
const (
	nameBurst = 30
	nameEvery = 10 * time.Second
)

var errAttempts = errors.New("too many wrong tokens or passwords; wait a few seconds")

// attempts counts what was wrong, by address or by name. It is safe for concurrent use.
type attempts struct {
	every time.Duration
	burst int

	mu        sync.Mutex
	addresses map[string]*rate.Limiter
}

func newAttempts(every time.Duration, burst int) *attempts {
	return &attempts{every: every, burst: burst, addresses: make(map[string]*rate.Limiter)}
}

// addressOf returns the address without the port.
func addressOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}

// allow counts a wrong secret and reports whether the address or name may go on.
func (a *attempts) allow(who string, now time.Time) bool {
	return a.limiter(who).AllowN(now, 1)
}

// exhausted reports whether the address or name has to wait.
func (a *attempts) exhausted(who string, now time.Time) bool {
	return a.limiter(who).TokensAt(now) < 1
}

func (a *attempts) limiter(remote string) *rate.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.addresses[remote]
	if l == nil {
		if len(a.addresses) >= maxAddresses {
			clear(a.addresses) // bounded; who tries from so many addresses guesses 256 bits still
		}
		l = rate.NewLimiter(rate.Every(a.every), a.burst)
		a.addresses[remote] = l
	}
	return l
}
