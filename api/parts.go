package api

import (
	"voltbus/api/exchange"
	"voltbus/api/exposition"
	"voltbus/api/upload"
	"voltbus/identity"
)

// The parts of the API that are small enough to be built for each request, or for the table of routes.

func (s *server) labs() labs { return labs{s.cfg.Lab, s.streams} }

func (s *server) uploads() *upload.Uploads {
	return &upload.Uploads{Processes: s.cfg.Processes, Agents: s.cfg.Agents, Refused: func(r *exchange.Request, needs identity.Role, err error) {
		s.auditor.tellRefusal(r.Request, exchange.Route{Role: needs}, r.User, err)
	}}
}

func (s *server) remoteCalls() remoteCalls { return remoteCalls{s.cfg.Remote, s.cfg.Operations} }

func (s *server) metrics() *exposition.Metrics {
	return &exposition.Metrics{
		Health: s.cfg.Health, Devices: s.cfg.Devices, Stats: s.cfg.Stats, Ledger: s.cfg.Ledger, Nodes: s.cfg.Nodes,
		Intake: s.intake, Streams: s.streams, Requests: s.answered, MQTT: s.cfg.MQTT, Started: s.started, Now: s.cfg.Now,
	}
}

// answered counts requests by the first digit of their status.
func (s *server) answered() (n [6]uint64) {
	for class := range n {
		n[class] = s.requests[class].Load()
	}
	return n
}
