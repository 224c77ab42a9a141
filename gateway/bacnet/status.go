package bacnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Status says how a gateway is doing.
type Status struct {
	Device        int    `json:"device"`        // instance
	Serving       bool   `json:"serving"`       // the socket is open
	Node          bool   `json:"node"`          // the node answers
	Objects       int    `json:"objects"`       // points that are served
	Faulty        int    `json:"faulty"`        // of them with the flag fault
	Unserved      int    `json:"unserved"`      // points that patterns select and that came after the start
	Commandable   int    `json:"commandable"`   // of them that accept commands
	Subscriptions int    `json:"subscriptions"` // to changes, now
	Reads         uint64 `json:"reads"`         // requests to read, and for subscriptions
	Writes        uint64 `json:"writes"`        // requests to write
	Refused       uint64 `json:"refused"`       // requests of both kinds that were answered with an error
	Commands      uint64 `json:"commands"`      // values that control accepted
	Declined      uint64 `json:"declined"`      // values that were not accepted
	Received      uint64 `json:"received"`      // datagrams
	Malformed     uint64 `json:"malformed"`     // of them without a readable header
	Strangers     uint64 `json:"strangers"`     // of them from stations that are not allowed
	Sent          uint64 `json:"sent"`          // datagrams
}

// Status returns how the gateway is doing.
func (g *Gateway) Status() Status {
	s := Status{
		Device: g.mapping.Device, Node: g.answers.Load(), Objects: len(g.objects), Commands: g.commands.accepted.Load(), Declined: g.commands.refused.Load(),
	}
	s.Unserved = int(g.unserved.Load())
	for _, o := range g.objects {
		if o.writes {
			s.Commandable++
		}
		if o.point.Flags().Fault {
			s.Faulty++
		}
	}
	g.mu.Lock()
	d := g.device
	g.mu.Unlock()
	if d == nil {
		return s
	}
	counts, port := d.Counts(), d.Client().Port().Counts()
	s.Serving, s.Subscriptions, s.Reads, s.Writes, s.Refused = true, counts.Subscriptions, counts.Reads, counts.Writes, counts.Refused
	s.Received, s.Malformed, s.Strangers, s.Sent = port.Received, port.Malformed, port.Refused, port.Sent
	return s
}

// metrics writes the status in the text format of Prometheus.
func (s *Status) metrics(w io.Writer) {
	truth := map[bool]int{true: 1}
	for _, m := range []struct {
		name, kind, help string
		value            any
	}{
		{"node_up", "gauge", "1 while the node answers.", truth[s.Node]},
		{"objects", "gauge", "Points that are served.", s.Objects},
		{"objects_faulty", "gauge", "Objects with the status flag fault.", s.Faulty},
		{"points_unserved", "gauge", "Points that patterns select and that came after the start.", s.Unserved},
		{"objects_commandable", "gauge", "Objects that accept commands.", s.Commandable},
		{"subscriptions", "gauge", "COV subscriptions.", s.Subscriptions},
		{"reads_total", "counter", "Requests to read, and for subscriptions.", s.Reads},
		{"writes_total", "counter", "Requests to write.", s.Writes},
		{"refused_total", "counter", "Requests that were answered with an error.", s.Refused},
		{"commands_total", "counter", "Values that control accepted.", s.Commands},
		{"commands_declined_total", "counter", "Values that were not accepted.", s.Declined},
		{"datagrams_received_total", "counter", "Datagrams received.", s.Received},
		{"datagrams_malformed_total", "counter", "Datagrams received without a readable header.", s.Malformed},
		{"datagrams_not_allowed_total", "counter", "Datagrams received from stations that are not allowed.", s.Strangers},
		{"datagrams_sent_total", "counter", "Datagrams sent.", s.Sent},
	} {
		name := "voltbus_bacnet_gateway_" + m.name
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s %v\n", name, m.help, name, m.kind, name, m.value)
	}
}

// ServeStatus answers /health with the status as JSON, with 503 while the node does not answer, and /metrics with figures for Prometheus,
// on a listener, which it closes, until ctx ends.
func (g *Gateway) ServeStatus(ctx context.Context, listener net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		s := g.Status()
		w.Header().Set("Content-Type", "application/json")
		if !s.Node || !s.Serving {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(s)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s := g.Status()
		s.metrics(w)
	})
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
