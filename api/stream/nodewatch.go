package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
)

// nodesEvery is the interval between reads of the nodes' state while a client follows it.
const nodesEvery = time.Second

// snapshot is the state of the nodes at one moment, field by field. It is immutable.
type snapshot struct {
	order          []string // names, each node before its descendants
	texts          map[string][]byte
	nodes          map[string]map[string]json.RawMessage
	above, refused []byte
	list           *answer.Nodes
}

// nodeWatch reads the state of the nodes once for all readers. It is safe for concurrent use.
type nodeWatch struct {
	mu   sync.Mutex
	at   time.Time
	last *snapshot
}

// look returns the state of the nodes, at most nodesEvery old.
func (n *nodeWatch) look(ctx context.Context, of Nodes) (*snapshot, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last != nil && time.Since(n.at) < nodesEvery*9/10 {
		return n.last, nil
	}
	list, err := of.Nodes(ctx)
	if err != nil {
		return nil, err
	}
	s, err := take(&list, n.last)
	if err != nil {
		return nil, err
	}
	n.at, n.last = time.Now(), s
	return s, nil
}

// take takes a snapshot. What did not change is shared with the previous one.
func take(list *answer.Nodes, before *snapshot) (*snapshot, error) {
	const op = "api.nodeEvents"
	s := &snapshot{
		order: make([]string, len(list.Nodes)), list: list,
		texts: make(map[string][]byte, len(list.Nodes)), nodes: make(map[string]map[string]json.RawMessage, len(list.Nodes)),
	}
	if before == nil {
		before = &snapshot{}
	}
	for i := range list.Nodes {
		name := list.Nodes[i].Name
		text, err := json.Marshal(&list.Nodes[i])
		if err != nil {
			return nil, fault.E(op, fault.Internal, name, err)
		}
		s.order[i], s.texts[name], s.nodes[name] = name, text, before.nodes[name]
		if bytes.Equal(text, before.texts[name]) {
			continue
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			return nil, fault.E(op, fault.Internal, name, err)
		}
		s.nodes[name] = fields
	}
	var err error
	if s.above, err = json.Marshal(list.Above); err == nil {
		s.refused, err = json.Marshal(list.Refused)
	}
	if err != nil {
		return nil, fault.E(op, fault.Internal, "", err)
	}
	return s, nil
}

// since returns what changed since another snapshot, nil for all; false if nothing did.
func (s *snapshot) since(before *snapshot) (answer.NodesChange, bool) {
	out := answer.NodesChange{Nodes: []map[string]json.RawMessage{}}
	if before == nil {
		before, out.Whole = &snapshot{}, true
	}
	for _, name := range s.order {
		if bytes.Equal(s.texts[name], before.texts[name]) {
			continue
		}
		out.Nodes = append(out.Nodes, changed(s.nodes[name], before.nodes[name]))
	}
	for _, name := range before.order {
		if s.nodes[name] == nil {
			out.Gone = append(out.Gone, name)
		}
	}
	if !bytes.Equal(s.above, before.above) {
		out.Above = &s.list.Above
	}
	if !bytes.Equal(s.refused, before.refused) {
		out.Refused = &s.list.Refused
	}
	return out, len(out.Nodes)+len(out.Gone) > 0 || out.Above != nil || out.Refused != nil
}

// changed returns the name of a node, and its fields that changed.
func changed(now, before map[string]json.RawMessage) map[string]json.RawMessage {
	if before == nil {
		return now
	}
	out := map[string]json.RawMessage{"name": now["name"]}
	maps.Copy(out, now)
	maps.DeleteFunc(out, func(field string, value json.RawMessage) bool {
		return field != "name" && bytes.Equal(value, before[field])
	})
	for field := range before {
		if _, still := now[field]; !still {
			out[field] = json.RawMessage("null")
		}
	}
	return out
}

// nodeEvents sends the state of the nodes, with the ledger if requested, and then the changes, until the client
// disconnects or its login ends. A slow reader skips intermediate states: it gets the difference to the last one
// that it got.
func (s *Streams) nodeEvents(w http.ResponseWriter, r *exchange.Request) error {
	in := exchange.Read(r)
	withLedger := in.Truth("ledger")
	switch {
	case in.Err != nil:
		return in.Err
	case s.Nodes == nil:
		return exchange.Absent(noNodes)
	case withLedger && s.Ledger == nil:
		return exchange.Absent("ledger")
	}
	release, err := s.Reader(r)
	if err != nil {
		return err
	}
	defer release()
	now, err := s.nodeWatch.look(r.Context(), s.Nodes)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer it
	p := exchange.NewPatient(w, s.WriteTimeout)
	defer p.Limit() // for the server's final writes
	first, err := nodesEvent(now, nil)
	if err != nil {
		return err
	}
	if p.Send([]byte(": connected\n\n"), first) != nil {
		return nil // the client has disconnected, which is how streams end
	}
	var ledger <-chan ledgerNews // nil if it was not requested
	if withLedger {
		news, stop := s.followLedger(r.Context())
		defer stop()
		ledger = news
	}
	return s.sendNodes(p, r, now, ledger)
}

// sendNodes sends the changes since the last snapshot, and the ledger's news.
func (s *Streams) sendNodes(p *exchange.Patient, r *exchange.Request, last *snapshot, ledger <-chan ledgerNews) error {
	tick, alive := time.NewTicker(nodesEvery), time.NewTicker(s.KeepAlive)
	defer tick.Stop()
	defer alive.Stop()
	for {
		var part []byte
		var err error
		select {
		case <-r.Context().Done():
			return s.LastEvent(p, r, r.Context().Err())
		case <-alive.C:
			part = []byte(": alive\n\n")
		case <-tick.C:
			var now *snapshot
			if now, err = s.nodeWatch.look(r.Context(), s.Nodes); err == nil {
				part, err = nodesEvent(now, last)
				last = now
			}
		case news := <-ledger:
			part, err = news.event, news.err
		}
		switch {
		case r.Context().Err() != nil || err != nil:
			return s.LastEvent(p, r, err)
		case len(part) > 0 && p.Send(part) != nil:
			return nil // the client has disconnected
		}
	}
}

// nodesEvent writes what changed since the last snapshot as an event; nil if nothing did.
func nodesEvent(now, last *snapshot) ([]byte, error) {
	change, is := now.since(last)
	if !is {
		return nil, nil
	}
	b, err := json.Marshal(change)
	if err != nil {
		return nil, fmt.Errorf("write how the nodes are: %w", err)
	}
	return exchange.AppendEvent(nil, "nodes", b), nil
}
