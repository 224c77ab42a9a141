package stream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
)

// Bounds of the ledger's events for a reader: one each ledgerEvery, and after a large one none until
// ledgerRate, in bytes a second, has made up for it.
const (
	ledgerEvery = time.Second
	ledgerRate  = 256 << 10
)

// books is the ledger at one moment, part by part. It is immutable.
type books struct {
	fields map[string]json.RawMessage // without the nodes
	nodes  []answer.LedgerNode
	texts  map[string][]byte // the nodes by path, in the form compared
}

// ledgerWatch reads the ledger once for all readers.
type ledgerWatch struct {
	turn chan struct{} // holds one entry while a goroutine looks; that one may use the other fields
	at   time.Time
	last *books
}

func newLedgerWatch() *ledgerWatch { return &ledgerWatch{turn: make(chan struct{}, 1)} }

// look returns the ledger as it is now, or was at most ledgerEvery before the call. A caller that cannot wait any longer gets the
// error of ctx. It is safe for concurrent use.
func (l *ledgerWatch) look(ctx context.Context, of Ledger) (*books, error) {
	asked := time.Now()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case l.turn <- struct{}{}:
	}
	defer func() { <-l.turn }()
	if l.last != nil && asked.Sub(l.at) < ledgerEvery*9/10 {
		return l.last, nil
	}
	ledger, err := of.LedgerBelow(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err() // others get the complete one
	}
	if err != nil {
		return nil, err
	}
	b, err := takeBooks(&ledger)
	if err != nil {
		return nil, err
	}
	l.at, l.last = time.Now(), b
	return b, nil
}

// takeBooks splits a ledger into its parts.
func takeBooks(l *answer.Ledger) (*books, error) {
	const op = "api.ledgerEvents"
	b := &books{nodes: l.Nodes, texts: make(map[string][]byte, len(l.Nodes))}
	l.Origins, l.Gaps, l.Damaged, l.Nodes = exchange.NotNil(l.Origins), exchange.NotNil(l.Gaps), exchange.NotNil(l.Damaged), nil
	text, err := json.Marshal(l)
	if err == nil {
		err = json.Unmarshal(text, &b.fields)
	}
	if err != nil {
		return nil, fault.E(op, fault.Internal, "", err)
	}
	delete(b.fields, "nodes")
	for i := range b.nodes {
		n := b.nodes[i]
		if n.State == "here" || n.State == "current" {
			n.AsOf = time.Time{} // a new time alone is no news
		}
		if text, err = json.Marshal(&n); err != nil {
			return nil, fault.E(op, fault.Internal, n.Node, err)
		}
		b.texts[pathKey(n.Path)] = text
	}
	return b, nil
}

// pathKey identifies a node of a tree: names contain no line break.
func pathKey(path []string) string { return fmt.Sprintf("%q", path) }

// since returns what changed since other books, nil for all; false if nothing did.
func (b *books) since(before *books) (answer.LedgerChange, bool) {
	out := answer.LedgerChange{Ledger: map[string]json.RawMessage{}, Nodes: []answer.LedgerNode{}}
	if before == nil {
		before, out.Whole = &books{}, true
	}
	for name, value := range b.fields {
		if !bytes.Equal(value, before.fields[name]) {
			out.Ledger[name] = value
		}
	}
	for i := range b.nodes {
		if key := pathKey(b.nodes[i].Path); !bytes.Equal(b.texts[key], before.texts[key]) {
			out.Nodes = append(out.Nodes, b.nodes[i])
		}
	}
	for i := range before.nodes {
		if path := before.nodes[i].Path; b.texts[pathKey(path)] == nil {
			out.Gone = append(out.Gone, path)
		}
	}
	return out, out.Whole || len(out.Ledger)+len(out.Nodes)+len(out.Gone) > 0
}

// ledgerNews is the next item of the ledger's stream: an event, or the reason why there are no more.
type ledgerNews struct {
	event []byte
	err   error
}

// followLedger sends the whole ledger to one reader, and then its changes, until stop. A slow reader skips
// intermediate states: it gets the difference to the last one that it got.
func (s *Streams) followLedger(ctx context.Context) (news <-chan ledgerNews, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan ledgerNews)
	var following sync.WaitGroup
	following.Go(func() {
		for last := (*books)(nil); ctx.Err() == nil; {
			now, err := s.ledgerWatch.look(ctx, s.Ledger)
			var event []byte
			if err == nil {
				event, err = ledgerEvent(now, last)
			}
			last = now
			if len(event) > 0 || err != nil {
				select {
				case <-ctx.Done():
					return
				case told <- ledgerNews{event, err}:
				}
			}
			if err != nil || !pause(ctx, max(ledgerEvery, time.Duration(len(event))*time.Second/ledgerRate)) {
				return
			}
		}
	})
	return told, func() {
		cancel()
		following.Wait()
	}
}

// ledgerEvent writes what changed since the last books as an event; nil if nothing did.
func ledgerEvent(now, last *books) ([]byte, error) {
	change, is := now.since(last)
	if !is {
		return nil, nil
	}
	b, err := json.Marshal(change)
	if err != nil {
		return nil, fmt.Errorf("write what changed in the ledger: %w", err)
	}
	return exchange.AppendEvent(nil, "ledger", b), nil
}
