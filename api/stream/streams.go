// Package stream sends events as they happen: live values, what happens in control, on the bus and to nodes, and lines of logs. Each
// reader has a place; one that falls behind is cut off and told so.
package stream

import (
	"net/http"
	"sync/atomic"
	"time"

	"voltbus/agent/journal"
	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/control/access"
	"voltbus/identity"
	"voltbus/operation"
)

// Config is where events come from. A source that is nil makes its routes answer that this node does not have it.
type Config struct {
	Points     Points // by which streams are filtered
	Live       Live
	Control    *access.Access
	Bus        Bus
	Nodes      Nodes
	Ledger     Ledger
	Logbook    Logbook                                      // the newest records of the node's own log
	Logs       func(agent string) (*journal.Journal, error) // of the agents that are installed here
	Remote     exchange.Remote
	Operations *operation.Table // by which other nodes are asked

	Places       *bound.Places // of readers
	Now          func() time.Time
	KeepAlive    time.Duration // between comments of an idle stream
	WriteTimeout time.Duration // how long a reader may block one write
	Gather       time.Duration // how long live messages are collected before they are written
	Buffer       int           // bytes that may wait for one reader of a stream
	LogProblem   func(r *http.Request, status int, err error)
}

// Streams sends events to readers. It is safe for concurrent use.
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

// Routes are the addresses of streams, and what is asked of the bus.
func (s *Streams) Routes() []exchange.Route {
	const viewer, engineer = identity.Viewer, identity.Engineer
	lines := []string{"level", "search", "since", "after", "limit"}
	list := []exchange.Route{
		{Path: "/stream", Role: viewer, Serve: s.stream, Params: []string{"pattern", "unit", "tag", "control", "node"}},
		{Path: "/control/events", Role: viewer, Serve: s.controlEvents, Params: []string{"pattern"}},
		{Path: "/events/nodes", Role: viewer, Serve: s.nodeEvents, Params: []string{"ledger"}},
		{Path: "/bus/stream", Role: engineer, Serve: s.busStream, Params: []string{"subject"}},
		{Path: "/log/follow", Role: engineer, Serve: logs{s}.followLog, Params: append([]string{"node"}, lines...), Watched: "log.read"},
		{Path: "/agents/{name}/logs/follow", Role: viewer, Serve: logs{s}.followLogs, Params: []string{"level", "search", "since", "limit", "node"}},
	}
	for i := range list {
		list[i].Stream = true
	}
	list = append(list, exchange.Route{Path: "/bus", Role: engineer, Serve: s.bus})
	for i := range list {
		list[i].Method, list[i].Path = http.MethodGet, exchange.Prefix+list[i].Path
	}
	return list
}

// logs sends lines of logs.
type logs struct{ *Streams }
