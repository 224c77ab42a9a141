// Package intake receives what programs send for recording: readings of points in several formats, including that of InfluxDB clients,
// and messages of metering systems. Bodies are bounded per sender and in total, and a body with an idempotency key is recorded once.
package intake

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/internal/keymutex"
	"voltbus/point"
)

// Config is what an Intake needs. Without Admission it records nothing; without Repeats an idempotency key means nothing.
type Config struct {
	Admission Admission
	Repeats   Repeats
	Meters    Meters // the web service of a metering data system; nil for a node without one
	Rates     Rates
	Bounds    point.Bounds                   // accepted range of times of readings; the zero value accepts all
	Works     func(ctx context.Context) bool // whether the node is working; nil: it is
	Now       func() time.Time
}

// Intake accepts readings over HTTP. It is safe for concurrent use.
type Intake struct {
	Config

	bodies  inflater
	weights *bound.Places // bytes of the decoded content of messages with meter readings
	quotas  *bound.Quotas
	repeats keymutex.Mutex[[2]string]
	parsers sync.Pool     // of *ingest.Parser
	parsing chan struct{} // one entry for each body being processed

	accepted atomic.Uint64 // samples that were received and are on disk
	refused  atomic.Uint64
	misdated atomic.Uint64
	received atomic.Uint64 // bytes of bodies, inflated
	replayed atomic.Uint64 // repeated requests
}

// New returns an Intake.
func New(c Config) *Intake {
	if c.Rates.Requests == 0 {
		c.Rates.Requests = defaultRequests
	}
	if c.Rates.Samples == 0 {
		c.Rates.Samples = defaultSamples
	}
	s := &Intake{Config: c, parsing: make(chan struct{}, parsing), quotas: bound.NewQuotas(c.Rates.Requests, c.Rates.Samples)}
	s.bodies.shares = bound.NewPlaces("bytes of bodies", ingestMemory, eachIngestion)
	s.weights = bound.NewPlaces("bytes of messages of meters", messageMemory, eachMessages)
	return s
}

// Routes are the routes that accept readings.
func (s *Intake) Routes() []exchange.Route { return slices.Concat(s.readingRoutes(), s.meterRoutes()) }

// Counts are since the start.
type Counts struct {
	Accepted, Refused, Misdated uint64 // readings
	Bytes                       uint64 // of bodies, inflated
	Replayed                    uint64 // repeated requests
}

// Counts returns the counts so far.
func (s *Intake) Counts() Counts {
	return Counts{
		Accepted: s.accepted.Load(), Refused: s.refused.Load(), Misdated: s.misdated.Load(), Bytes: s.received.Load(), Replayed: s.replayed.Load(),
	}
}

// MayRecord counts a recording request of a caller, and returns an error while they exceed their rate.
func (s *Intake) MayRecord(user string) error {
	if wait := s.quotas.Admit(user, s.Now()); wait > 0 {
		return exchange.Later(wait, fault.E("api.record", fault.Unavailable, user, errRate))
	}
	return nil
}

// Charge counts readings sent by a caller.
func (s *Intake) Charge(user string, readings int) { s.quotas.Charge(user, s.Now(), readings) }
