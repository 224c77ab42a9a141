// Package stream sends events as they happen: live values, events of control, the bus and nodes, and log lines. The number of readers is
// bounded; one that falls behind is disconnected with the reason.
package stream

import (
	"net/http"
	"sync/atomic"
	"time"

	"voltbus/agent/journal"
	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/control/access"
	"voltbus/operation"
	"voltbus/operation/transport"
)

// Config holds the sources of events. A nil source makes its routes answer that this node has no such part.
type Config struct {
	Points     Points // for filtering streams
	Live       Live
	Control    *access.Access
	Bus        Bus
	Nodes      Nodes
	Ledger     Ledger
	Logbook    Logbook                                      // the newest records of the node's own log
	Logs       func(agent string) (*journal.Journal, error) // of the agents installed here
	Remote     exchange.Remote
	Operations *operation.Table // for requests to other nodes

	Places       *bound.Places // of readers
	Now          func() time.Time
	KeepAlive    time.Duration // between comments of an idle stream
	WriteTimeout time.Duration // how long a client may block one write
	Gather       time.Duration // how long live messages are collected before a write
	Buffer       int           // bytes that may be pending for one reader of a stream
	LogProblem   func(r *http.Request, status int, err error)
}

// Streams sends events to clients. It is safe for concurrent use.
type Streams struct {
	Config
	feeds       *feeds
	nodeWatch   nodeWatch
	ledgerWatch *ledgerWatch
	cut         atomic.Uint64
}

// New returns Streams.
func New(c Config) *Streams {
	return &Streams{Config: c, feeds: newFeeds(c.Buffer), ledgerWatch: newLedgerWatch()}
}

// Cut returns how many readers were cut off because they were too slow.
func (s *Streams) Cut() uint64 { return s.cut.Load() }

// Routes are the routes of streams.
func (s *Streams) Routes() []exchange.Route {
	return []exchange.Route{
		exchange.Carried(transport.Values, s.stream), exchange.Carried(transport.Control, s.controlEvents),
		exchange.Carried(transport.Nodes, s.nodeEvents), exchange.Carried(transport.Bus, s.busStream),
		exchange.Carried(transport.NodeLog, logs{s}.followLog), exchange.Carried(transport.AgentLog, logs{s}.followLogs),
	}
}

// logs sends lines of logs.
type logs struct{ *Streams }
