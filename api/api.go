// Package api is the HTTP interface of a node: it finds the route of a request, authorises the caller, and has the request answered. The
// types of its bodies are those of package answer; openapi.yaml documents them.
package api

import (
	"crypto/x509"
	_ "embed"
	"log/slog"
	"net/http"
	"time"

	"voltbus/api/answer"
	"voltbus/api/bound"
	"voltbus/api/exchange"
	"voltbus/api/exposition"
	"voltbus/api/intake"
	"voltbus/api/login"
	"voltbus/api/stream"
	"voltbus/api/upload"
	"voltbus/control/access"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/point"
)

// Config is what the handler needs. A nil source makes its routes answer that this node has no such part; Auth and Log are required.
type Config struct {
	Auth    login.Auth
	Points  stream.Points // for filtering streams
	Live    stream.Live
	Ledger  stream.Ledger
	Health  exposition.Health
	Devices exposition.Devices
	Stats   exposition.Stats
	// MQTT counts clients and messages of the MQTT broker; nil without one.
	MQTT func() answer.MQTTStatus
	// Processes are the agents installed here.
	Processes upload.Processes
	Lab       Lab
	// Admission records readings from outside, and Repeats remembers those with an idempotency key;
	// without Repeats the key means nothing.
	Admission intake.Admission
	Repeats   intake.Repeats
	// Meters is the web service of a metering data system; nil for a node without one.
	Meters intake.Meters
	Rates  intake.Rates
	// Bounds is the accepted range of times of readings; the zero value accepts all.
	Bounds  point.Bounds
	Version answer.Version

	// Logbook has the newest records of the node's own log; nil for a node that keeps none.
	Logbook stream.Logbook

	// Audit is called with changes by people and with refusals; may be nil.
	Audit exchange.Audit

	Operations *operation.Table // nil: no declared operations
	Control    *access.Access

	Bus    stream.Bus
	People login.People
	Agents upload.Agents // whose grants decide who may change their programs; nil: no role is needed
	Remote exchange.Remote
	Nodes  stream.Nodes
	Node   string // the node's name

	// Prometheus serves /prometheus/api/v1 for authenticated readers.
	Prometheus http.Handler
	// Page serves the web page: all paths outside /api and /metrics.
	Page http.Handler
	// Hosts are the names by which a browser may call this node; empty allows all. A node that
	// listens on loopback sets LoopbackHosts, so that no foreign page reaches it through a DNS name
	// rebound to 127.0.0.1.
	Hosts []string
	Log   *slog.Logger
	Now   func() time.Time // the clock; nil for time.Now

	KeepAlive    time.Duration // between comments of an idle stream; 0 for 15 s
	WriteTimeout time.Duration // how long a reader may block one write; 0 for 10 s
	Gather       time.Duration // how long live messages are collected before a write; 0 for 50 ms
	StreamBuffer int           // bytes that may wait for one reader of a stream; 0 for 1 MiB
	MaxReaders   int           // readers of streams at once; 0 for 1000

	StatementPatience time.Duration // how long an SQL statement waits for its turn; 0 for 30 s
	BodyGrace         time.Duration // how long a body may take to arrive at any speed; 0 for 30 s
	Look              time.Duration // interval at which the rights of a caller are checked during an answer; 0 for 2 s
	// Certified recognises callers with a client certificate and no other secret; nil: client certificates identify nobody.
	Certified  func(chain []*x509.Certificate) (identity.User, error)
	BrowserKey []byte // key for recognising browsers that have logged in; nil: a new one at each start
}

// LoopbackHosts are the host names of a node that listens on loopback.
func LoopbackHosts() []string { return []string{"localhost", "127.0.0.1", "::1"} }

//go:embed openapi.yaml
var description []byte

// New returns the handler. It starts nothing; requests run in the goroutines of the server that
// calls it. The server's base context ends streams when it is cancelled. The server needs a
// ReadHeaderTimeout but no write time-out, because the handler sets a deadline before each write.
func New(cfg Config) http.Handler {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.KeepAlive == 0 {
		cfg.KeepAlive = 15 * time.Second
	}
	if cfg.WriteTimeout == 0 {
		cfg.WriteTimeout = 10 * time.Second
	}
	if cfg.Gather == 0 {
		cfg.Gather = 50 * time.Millisecond
	}
	if cfg.StreamBuffer == 0 {
		cfg.StreamBuffer = 1 << 20
	}
	if cfg.StatementPatience == 0 {
		cfg.StatementPatience = queryPatience
	}
	if cfg.MaxReaders == 0 {
		cfg.MaxReaders = maxReaders
	}
	if cfg.BodyGrace == 0 {
		cfg.BodyGrace = bodyGrace
	}
	if cfg.Look == 0 {
		cfg.Look = lookAgain
	}
	s := &server{
		cfg: cfg, started: cfg.Now(),
		exports: bound.NewPlaces("exports", maxExports, eachExports), queries: bound.NewQueues("queries", eachQueries, eachWaiting, 0, queryPatience),
		bodies:         bound.NewPlaces("bytes of bodies", maxBodies, eachBodies),
		running:        bound.NewPlaces("requests", 0, eachRequests),
		statements:     bound.NewQueues("statements", eachStatements, eachWaitingStatements, maxStatements, cfg.StatementPatience),
		statementTexts: bound.NewQuotas(statementRequests, statementRate),
	}
	s.auditor = &auditor{cfg.Audit, cfg.Node, cfg.Now, s.logProblem}
	s.door = login.New(login.Config{Auth: cfg.Auth, People: cfg.People, Audit: cfg.Audit, Now: cfg.Now, Certified: cfg.Certified, BrowserKey: cfg.BrowserKey})
	s.intake = intake.New(intake.Config{
		Admission: cfg.Admission, Repeats: cfg.Repeats, Meters: cfg.Meters, Rates: cfg.Rates, Bounds: cfg.Bounds, Now: cfg.Now, Works: s.works,
	})
	s.streams = stream.New(stream.Config{
		Points: cfg.Points, Live: cfg.Live, Control: cfg.Control, Bus: cfg.Bus, Nodes: cfg.Nodes, Ledger: cfg.Ledger, Logbook: cfg.Logbook,
		Logs: upload.LogsOf(cfg.Processes), Remote: cfg.Remote, Operations: cfg.Operations, Places: bound.NewPlaces("streams", cfg.MaxReaders, eachReaders),
		Now: cfg.Now, KeepAlive: cfg.KeepAlive, WriteTimeout: cfg.WriteTimeout, Gather: cfg.Gather, Buffer: cfg.StreamBuffer, LogProblem: s.logProblem,
	})
	s.routing = index(s.routes())
	return s
}
