package bound

import (
	"math"
	"sync"
	"time"
)

// maxQuotas bounds the users whose rate is watched.
const maxQuotas = 4096

// Quotas bounds what each user sends, in requests and samples. It is safe for concurrent use.
type Quotas struct {
	requests, samples float64 // per second

	mu    sync.Mutex
	users map[string]*quota
}

// quota is the account of one user. The balance may be negative: the number of samples in a body is
// known only after reading it, and an excess is paid off before the next one.
type quota struct {
	requests, samples float64 // left
	at                time.Time
}

// NewQuotas returns Quotas of so many requests and samples per second for each user.
func NewQuotas(requests, samples float64) *Quotas {
	return &Quotas{requests: requests, samples: samples, users: map[string]*quota{}}
}

// Admit counts a request and returns 0, or how long its sender has to wait.
func (q *Quotas) Admit(user string, now time.Time) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.account(user, now)
	if u.requests < 1 {
		return seconds((1 - u.requests) / q.requests)
	}
	if u.samples <= 0 {
		return seconds(-u.samples/q.samples) + time.Millisecond
	}
	u.requests--
	return 0
}

// Charge counts samples.
func (q *Quotas) Charge(user string, now time.Time, samples int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.account(user, now).samples -= float64(samples)
}

// account returns the current account of a user, which holds at most two seconds' worth.
func (q *Quotas) account(user string, now time.Time) *quota {
	u := q.users[user]
	if u == nil {
		if len(q.users) >= maxQuotas {
			clear(q.users)
		}
		u = &quota{requests: 2 * q.requests, samples: 2 * q.samples, at: now}
		q.users[user] = u
	}
	passed := max(0, now.Sub(u.at).Seconds())
	u.at = now
	u.requests = min(2*q.requests, u.requests+passed*q.requests)
	u.samples = min(2*q.samples, u.samples+passed*q.samples)
	return u
}

func seconds(s float64) time.Duration {
	return time.Duration(math.Ceil(s * float64(time.Second)))
}
