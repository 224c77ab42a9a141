package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/fault"
)

// accounts is a ledger that a test changes.
type accounts struct {
	mu     sync.Mutex
	ledger answer.Ledger
	err    error
	looks  int
	looked chan struct{} // gets one each time that somebody looks
}

func (a *accounts) Ledger(ctx context.Context) (answer.Ledger, error) { return a.LedgerBelow(ctx) }

func (a *accounts) LedgerBelow(context.Context) (answer.Ledger, error) {
	select {
	case a.looked <- struct{}{}:
	default:
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looks++
	l := a.ledger
	l.Nodes = slices.Clone(l.Nodes)
	for i := range l.Nodes {
		l.Nodes[i].AsOf = noon().Add(time.Duration(a.looks) * time.Second) // each is asked when somebody looks
	}
	return l, a.err
}

func (a *accounts) change(f func(*answer.Ledger)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.ledger)
}

func keeping() *accounts {
	account := func(name string, path ...string) answer.LedgerNode {
		return answer.LedgerNode{Node: name, Path: append([]string{}, path...), State: "current", Ledger: "ok", Origins: []answer.Hop{}, Gaps: []answer.Gap{}}
	}
	return &accounts{looked: make(chan struct{}, 1), ledger: answer.Ledger{
		State: "ok", Sum: answer.LedgerSum{Nodes: 3, Samples: 10, Stored: 10},
		Nodes: []answer.LedgerNode{account("campus"), account("north", "north"), account("south", "south")},
	}}
}

// nextBooks reads the next event about the ledger.
func nextBooks(t *testing.T, lines *bufio.Reader) (c answer.LedgerChange) {
	t.Helper()
	name, data := event(t, lines)
	for name == "nodes" {
		name, data = event(t, lines)
	}
	if name != "ledger" {
		t.Fatalf("the event is %s: %s", name, data)
	}
	must(t, json.Unmarshal([]byte(data), &c))
	var told any
	must(t, json.Unmarshal([]byte(data), &told))
	if err := schemas(t)("LedgerChange").Validate(told); err != nil {
		t.Errorf("the event does not fit its schema: %v", err)
	}
	return c
}

func TestTheLedgerIsSentWholeAndThenOnlyWhatChanged(t *testing.T) {
	a := keeping()
	n := start(t, func(c *api.Config) { c.Nodes, c.Ledger = growing(), a })
	lines, hangUp := n.listen("/api/v1/events/nodes?ledger=true", n.bearer())
	defer hangUp()
	first := nextBooks(t, lines)
	if !first.Whole || len(first.Nodes) != 3 || string(first.Ledger["origins"]) != "[]" || len(first.Ledger["sum"]) == 0 || first.Ledger["nodes"] != nil {
		t.Fatalf("the first event: %+v", first)
	}
	a.change(func(l *answer.Ledger) {
		l.Sum.Samples, l.Nodes[2].Origins = 12, []answer.Hop{{Origin: answer.Origin{Origin: "south~1"}}}
	})
	next := nextBooks(t, lines)
	if next.Whole || len(next.Nodes) != 1 || next.Nodes[0].Node != "south" || len(next.Ledger) != 1 || !strings.Contains(string(next.Ledger["sum"]), `"samples":12`) {
		t.Errorf("the south counted on: %+v", next)
	}
	a.change(func(l *answer.Ledger) { l.Nodes = l.Nodes[:2] })
	if next = nextBooks(t, lines); len(next.Gone) != 1 || !slices.Equal(next.Gone[0], []string{"south"}) || len(next.Nodes)+len(next.Ledger) != 0 {
		t.Errorf("the south is no more: %+v", next)
	}
	a.change(func(l *answer.Ledger) { l.Nodes[1].State = "old" })
	if next = nextBooks(t, lines); len(next.Nodes) != 1 || next.Nodes[0].State != "old" {
		t.Errorf("the north went away: %+v", next)
	}
}

func TestThatTheLedgerWasLookedAtIsNoNews(t *testing.T) {
	a := keeping()
	n := start(t, func(c *api.Config) { c.Nodes, c.Ledger = growing(), a })
	lines, hangUp := n.listen("/api/v1/events/nodes?ledger=true", n.bearer())
	defer hangUp()
	nextBooks(t, lines)
	for range 3 { // the first time, and twice all nodes were asked anew
		<-a.looked
	}
	a.change(func(l *answer.Ledger) { l.State = "backlog" })
	if next := nextBooks(t, lines); string(next.Ledger["state"]) != `"backlog"` || len(next.Nodes) != 0 {
		t.Errorf("what came first is %+v", next)
	}
}

func TestTheStreamSaysWhyThereIsNoLedger(t *testing.T) {
	a := keeping()
	n := start(t, func(c *api.Config) { c.Nodes, c.Ledger = growing(), a })
	lines, hangUp := n.listen("/api/v1/events/nodes?ledger=true", n.bearer())
	defer hangUp()
	nextBooks(t, lines)
	a.mu.Lock()
	a.err = fault.E("test", fault.Unavailable, "store", errors.New("the history is being opened"))
	a.mu.Unlock()
	name, data := event(t, lines)
	for name == "nodes" {
		name, data = event(t, lines)
	}
	if name != "error" || !strings.Contains(data, "the history is being opened") {
		t.Errorf("the stream ends with %s %s", name, data)
	}
	if p := n.get("/api/v1/events/nodes?ledger=perhaps").problem(t); p.Status != 400 {
		t.Errorf("a wrong parameter gives %+v", p)
	}
	n = start(t, func(c *api.Config) { c.Nodes, c.Ledger = growing(), nil })
	if p := n.get("/api/v1/events/nodes?ledger=true").problem(t); p.Status != 503 || p.Subject != "ledger" {
		t.Errorf("a node without a ledger says %+v", p)
	}
}
