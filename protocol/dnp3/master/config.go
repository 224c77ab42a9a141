package master

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
)

// Config describes an association. The zero value of every switch is what the standard
// asks for.
type Config struct {
	// Outstation is the outstation's link address, given to the handler and in errors.
	Outstation link.Address
	// DisableFirst are the classes whose unsolicited reports are disabled at the start,
	// so that nothing comes before the integrity poll; usually EventClasses.
	DisableFirst app.Classes
	// Startup are the classes read at the start and after a restart; usually Integrity.
	Startup app.Classes
	// Enable are the classes whose unsolicited reports are enabled after that.
	Enable app.Classes
	// TimeSync says how the clock is set when the outstation asks for it.
	TimeSync TimeSync
	// Polls are read periodically.
	Polls []Poll
	// OnEvents are the classes that are read when the outstation says that events wait.
	OnEvents app.Classes
	// IntegrityOnOverflow reads everything when the outstation says that it lost events.
	IntegrityOnOverflow bool
	// LeaveEvents is for inspecting an outstation that has another master: only submitted requests are made,
	// and unrequested events are neither confirmed nor passed to the handler, so that the outstation keeps
	// them for that master. Of the fields above only Outstation may then be set.
	LeaveEvents bool

	// ResponseTimeout is how long an answer may take; 0 means 5 s.
	ResponseTimeout time.Duration
	// Retries is how often a request is repeated when no answer comes. Commands, restarts
	// and freezes that clear are never repeated.
	Retries int
	// RetryDelay is the pause before a failed request of the start-up sequence is made
	// again, doubled each time up to RetryDelayMax; 0 means 2 s and 60 s.
	RetryDelay, RetryDelayMax time.Duration
	// MaxQueue bounds the requests that wait; 0 means 256.
	MaxQueue int

	// Tolerance are switches for outstations that do not keep to the standard.
	Tolerance Tolerance
	// Turn, if several associations share it, lets only one of them wait for an answer
	// at a time, as a half-duplex line needs.
	Turn *Turn
	// Notify, if not nil, is called with what happens. It must not block.
	Notify func(n Notice)
	// Keep, if not nil, is asked for each fragment that wants a confirmation, behind Handler.End, whether that waits
	// until what it brought is kept. If it returns true, Association.Kept is called with the token then, and the
	// outstation gets no other request before, for KeepMost at most.
	Keep func(token uint64) bool
}

// Poll is a read that is repeated.
type Poll struct {
	Classes  app.Classes
	Interval time.Duration
}

// Tolerance are switches for outstations that do not keep to the standard.
type Tolerance struct {
	// IgnoreEarly leaves unsolicited events unconfirmed until the start-up read is done,
	// for outstations that count on it.
	IgnoreEarly bool
	// KeepRestart leaves IIN1.7 alone, for outstations that refuse the write.
	KeepRestart bool
	// LoosePartial accepts a fragment that is not the last one and asks for no
	// confirmation.
	LoosePartial bool
	// NarrowIndexes sends commands with indexes of one octet (qualifier 0x17).
	NarrowIndexes bool
}

// TimeSync says how a clock is set.
type TimeSync uint8

// Ways to set a clock.
const (
	// NoTimeSync leaves the clock alone.
	NoTimeSync TimeSync = iota
	// LAN records the time (FC 24) and then writes what it was (g50v3); for IP.
	LAN
	// NonLAN measures the delay (FC 23) and writes the time plus it (g50v1); for serial lines.
	NonLAN
	// DirectWrite just writes the time (g50v1), for outstations that know neither.
	DirectWrite
)

// Defaults.
const (
	defaultTimeout  = 5 * time.Second
	defaultRetry    = 2 * time.Second
	defaultRetryMax = time.Minute
	defaultQueue    = 256
)

var (
	errNegative = errors.New("times, retries and the queue's bound must not be negative")
	errPoll     = errors.New("a poll needs classes and an interval above zero")
	errEnable   = errors.New("class 0 makes no events: leave it out of Enable, DisableFirst and OnEvents")
	errLeave    = errors.New("LeaveEvents is for an association that does nothing by itself: leave DisableFirst, Startup, Enable, TimeSync, Polls, OnEvents and IntegrityOnOverflow out")
	errHandler  = errors.New("needs a handler")
)

func (c *Config) validate() error {
	fail := func(err error) error { return fmt.Errorf("master: outstation %v: %w", c.Outstation, err) }
	if c.ResponseTimeout < 0 || c.Retries < 0 || c.RetryDelay < 0 || c.RetryDelayMax < 0 || c.MaxQueue < 0 {
		return fail(errNegative)
	}
	if (c.Enable|c.DisableFirst|c.OnEvents)&app.Class0 != 0 {
		return fail(errEnable)
	}
	if c.LeaveEvents && c.active() {
		return fail(errLeave)
	}
	for _, p := range c.Polls {
		if p.Interval <= 0 || p.Classes == 0 {
			return fail(errPoll)
		}
	}
	return nil
}

// active reports whether an association does anything by itself, beside clearing a restart.
func (c *Config) active() bool {
	return c.DisableFirst|c.Startup|c.Enable|c.OnEvents != 0 || c.TimeSync != NoTimeSync || len(c.Polls) > 0 || c.IntegrityOnOverflow
}

func (c *Config) setDefaults() {
	if c.ResponseTimeout == 0 {
		c.ResponseTimeout = defaultTimeout
	}
	if c.RetryDelay == 0 {
		c.RetryDelay = defaultRetry
	}
	if c.RetryDelayMax == 0 {
		c.RetryDelayMax = max(defaultRetryMax, c.RetryDelay)
	}
	if c.MaxQueue == 0 {
		c.MaxQueue = defaultQueue
	}
}
