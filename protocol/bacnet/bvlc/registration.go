package bvlc

import "time"

// retryRegistration is the wait after a registration that was refused or not answered.
const retryRegistration = 5 * time.Second

// Registration keeps a foreign device registered with a BBMD (J.5.2.3): it registers again
// when half of the time is over, and every five seconds while the BBMD does not answer. It is
// used by one goroutine. The zero value is not usable; see [NewRegistration].
type Registration struct {
	ttl    time.Duration
	next   time.Time
	valid  time.Time // until then the last success holds
	result ResultCode
	known  bool // the BBMD answered the last time
}

// NewRegistration makes a registration for ttl, which is cut to whole seconds from 10 to 65535.
func NewRegistration(ttl time.Duration) *Registration {
	ttl = min(max(ttl, 10*time.Second), 65535*time.Second).Truncate(time.Second)
	return &Registration{ttl: ttl}
}

// Next returns when Tick has something to do; the zero time means at once.
func (r *Registration) Next() time.Time { return r.next }

// Tick appends the datagram to send to the BBMD at now, or nothing when it is too early.
func (r *Registration) Tick(now time.Time, b []byte) []byte {
	if now.Before(r.next) {
		return b
	}
	r.next = now.Add(retryRegistration)
	return AppendRegister(b, uint16(r.ttl/time.Second))
}

// Receive tells of a result that the BBMD sent.
func (r *Registration) Receive(now time.Time, code ResultCode) {
	if code != Success && code != RegisterRefuse {
		return // of another request
	}
	r.result, r.known = code, true
	if code == Success {
		r.valid, r.next = now.Add(r.ttl), now.Add(r.ttl/2)
	}
}

// Registered reports whether the BBMD forwards broadcasts at now.
func (r *Registration) Registered(now time.Time) bool { return now.Before(r.valid) }

// Refused reports whether the BBMD refused the last registration.
func (r *Registration) Refused() bool { return r.known && r.result != Success }
