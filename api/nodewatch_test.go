package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/fault"
)

// grove is nodes that a test changes.
type grove struct {
	mu   sync.Mutex
	list answer.Nodes
}

func (g *grove) Nodes(context.Context) (answer.Nodes, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.list
	list.Nodes = append([]answer.Node{}, list.Nodes...)
	return list, nil
}

func (g *grove) Node(_ context.Context, name string) (answer.Node, error) {
	return answer.Node{}, fault.E("grove.Node", fault.NotFound, name, errors.New("is not here"))
}

func (g *grove) change(f func(*answer.Nodes)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f(&g.list)
}

func growing() *grove {
	warm := 41.5
	return &grove{list: answer.Nodes{
		Nodes: []answer.Node{
			{Name: "campus", State: answer.NodeHere, Path: []string{}},
			{Name: "north", State: answer.NodeOnline, Path: []string{"north"}, Parent: "campus", Celsius: &warm, Devices: 3},
			{Name: "south", State: answer.NodeOnline, Path: []string{"south"}, Parent: "campus"},
		},
		Above: []string{}, Refused: []answer.RefusedNode{},
	}}
}

// nextChange reads the next event about nodes.
func nextChange(t *testing.T, lines *bufio.Reader) (c answer.NodesChange) {
	t.Helper()
	name, data := event(t, lines)
	if name != "nodes" {
		t.Fatalf("the event is %s: %s", name, data)
	}
	must(t, json.Unmarshal([]byte(data), &c))
	schema := schemas(t)("NodesChange")
	var told any
	must(t, json.Unmarshal([]byte(data), &told))
	if err := schema.Validate(told); err != nil {
		t.Errorf("the event does not fit its schema: %v", err)
	}
	return c
}

func TestNodesAreSentWholeAndThenOnlyWhatChanged(t *testing.T) {
	g := growing()
	n := start(t, func(c *api.Config) { c.Nodes = g })
	lines, hangUp := n.listen("/api/v1/events/nodes", n.bearer())
	defer hangUp()
	first := nextChange(t, lines)
	if !first.Whole || len(first.Nodes) != 3 || string(first.Nodes[1]["devices"]) != "3" || first.Above == nil || first.Refused == nil {
		t.Fatalf("the first event: %+v", first)
	}
	g.change(func(l *answer.Nodes) { l.Nodes[1].State, l.Nodes[1].Celsius = answer.NodeAway, nil })
	want := answer.NodesChange{Nodes: []map[string]json.RawMessage{{
		"name": json.RawMessage(`"north"`), "state": json.RawMessage(`"away"`), "celsius": json.RawMessage(`null`),
	}}}
	if diff := cmp.Diff(want, nextChange(t, lines)); diff != "" {
		t.Errorf("a node that went away and lost its thermometer (-want +got):\n%s", diff)
	}
	g.change(func(l *answer.Nodes) {
		l.Nodes = append(l.Nodes[:2], answer.Node{Name: "west", State: answer.NodeOnline, Path: []string{"west"}, Devices: 9})
		l.Above = []string{"region"}
	})
	next := nextChange(t, lines)
	if next.Whole || len(next.Nodes) != 1 || string(next.Nodes[0]["devices"]) != "9" || !cmp.Equal(next.Gone, []string{"south"}) ||
		next.Above == nil || !cmp.Equal(*next.Above, []string{"region"}) || next.Refused != nil {
		t.Errorf("one came, one went, and a node is above: %+v", next)
	}
}

func TestTheStreamOfNodesNeedsALoginAndNodes(t *testing.T) {
	n := start(t)
	if r := n.do("GET", "/api/v1/events/nodes", ""); r.StatusCode != 401 {
		t.Errorf("without a login it gives %d", r.StatusCode)
	}
	if p := n.get("/api/v1/events/nodes").problem(t); p.Status != 503 || p.Subject != "other nodes" {
		t.Errorf("a node that knows no others says %+v", p)
	}
}
