package bacnet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
)

// node is a node's interface in memory, with a point "site/ahu/setpoint" that is commanded by levels.
type node struct {
	live      chan string
	following chan struct{}
	gone      string         // a point that it does not have any more
	more      []answer.Point // that it has in addition

	mu      sync.Mutex
	array   [17]answer.Slot // by level; without a requester it is free
	control func(json.RawMessage) error
	asked   []answer.NewCommand
	answer  *answer.Commanded // to the next commands, if not nil
	fail    error
}

func (n *node) points() []answer.Point {
	return []answer.Point{
		{Path: "site/ahu/supply_temp", Kind: "float", Unit: "degC", Description: "supply air"},
		{Path: "site/ahu/setpoint", Kind: "float", Unit: "degC", Writable: true},
		{Path: "site/ahu/fan", Kind: "bool", Writable: true},
		{Path: "site/ahu/mode", Kind: "int", Writable: true},
		{Path: "site/ahu/note", Kind: "text"},
		{Path: "site/ahu/flow", Kind: "float", Unit: "L/s"},
	}
}

func (n *node) Points(_ context.Context, f client.Filter) (answer.Points, error) {
	all := slices.DeleteFunc(append(n.points(), n.more...), func(p answer.Point) bool {
		return p.Path == n.gone || p.Path != f.Pattern && !strings.HasPrefix(p.Path, f.Pattern+"/")
	})
	return answer.Points{Points: all}, nil
}

func (n *node) Latest(_ context.Context, s client.Span) (l answer.Latest, err error) {
	values := map[string]string{
		"site/ahu/supply_temp": "14.5", "site/ahu/setpoint": "20", "site/ahu/fan": "true", "site/ahu/mode": "2", "site/ahu/note": `"grün"`,
		"site/ahu/flow": "120.25",
	}
	kinds := map[string]string{"site/ahu/fan": "bool", "site/ahu/mode": "int", "site/ahu/note": "text"}
	for _, p := range s.Points {
		if values[p] == "" {
			return answer.Latest{}, fault.E("history.Latest", fault.NotFound, p, errors.New("the node has no such point"))
		}
		kind := kinds[p]
		if kind == "" {
			kind = "float"
		}
		value := values[p]
		if winner := n.winner(); p == "site/ahu/setpoint" && winner != "" {
			value = winner
		}
		l.Samples = append(l.Samples, answer.Sample{Point: p, Kind: kind, Value: json.RawMessage(value), Quality: "good", Time: time.Now()})
	}
	return l, nil
}

func (n *node) winner() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for level := 1; level <= 16; level++ {
		if n.array[level].Requester != "" {
			return string(n.array[level].Value)
		}
	}
	return ""
}

// began is when the history of supply_temp begins: 1000 minutes ago.
func began() time.Time { return time.Now().Truncate(time.Minute).Add(-1000 * time.Minute) }

func (n *node) Range(_ context.Context, s client.Span, limit int, newest bool) (answer.Range, error) {
	first := answer.Tuple{Millis: float64(began().Add(time.Second).UnixMilli()), Value: json.RawMessage("1")}
	return answer.Range{Series: []answer.Series{{Point: s.Points[0], Samples: []answer.Tuple{first}}}}, nil
}

// Aggregate answers with the minutes since the beginning as values, except for the minute before 500, which has none.
func (n *node) Aggregate(_ context.Context, s client.Span, how client.Steps) (answer.Aggregate, error) {
	from, err := time.Parse(time.RFC3339Nano, s.From)
	to, errTo := time.Parse(time.RFC3339Nano, s.To)
	if err := errors.Join(err, errTo); err != nil || how.Step != "60s" {
		return answer.Aggregate{}, fmt.Errorf("step %q: %w", how.Step, err)
	}
	sum := answer.Summary{Point: s.Points[0]}
	for at := from; at.Before(to); at = at.Add(time.Minute) {
		n := at.Sub(began()).Minutes() + 1
		b := answer.Bucket{Start: at, End: at.Add(time.Minute), Last: &n}
		if n == 500 {
			b.Last = nil
		}
		sum.Buckets = append(sum.Buckets, b)
	}
	return answer.Aggregate{Series: []answer.Summary{sum}}, nil
}

func (n *node) Follow(ctx context.Context, want client.Live, emit func(json.RawMessage) error) error {
	n.mu.Lock()
	n.control = want.Control
	n.mu.Unlock()
	select {
	case n.following <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case message := <-n.live:
			if message == "" {
				return errors.New("the node went away")
			}
			if err := emit(json.RawMessage(message)); err != nil {
				return err
			}
		}
	}
}

func (n *node) ControlPoints(context.Context, string, string) (answer.ControlPoints, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := answer.ControlPoint{Point: "site/ahu/setpoint", Default: json.RawMessage("20")}
	for level := 1; level <= 16; level++ {
		if n.array[level].Requester != "" {
			p.Array = append(p.Array, n.array[level])
		}
	}
	return answer.ControlPoints{Points: []answer.ControlPoint{p}}, nil
}

func (n *node) set(level int, requester, value string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.array[level] = answer.Slot{Holder: answer.Holder{Requester: requester, Level: level}, Value: json.RawMessage(value)}
}

// commands returns what control was asked for.
func (n *node) commands() []answer.NewCommand {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked)
}

// answers has the next commands answered so, or fail.
func (n *node) answers(given *answer.Commanded, fail error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answer, n.fail = given, fail
}

// tell sends an event of control.
func (n *node) tell(t *testing.T, event string) {
	t.Helper()
	n.mu.Lock()
	control := n.control
	n.mu.Unlock()
	if err := control(json.RawMessage(event)); err != nil {
		t.Error(err)
	}
}

// person commands the node with the rights of an operator, who may not end commands of others.
type person struct{ *node }

func (p person) Command(_ context.Context, c answer.NewCommand) (answer.Commanded, error) {
	p.mu.Lock()
	p.asked = append(p.asked, c)
	given, fail := p.answer, p.fail
	p.mu.Unlock()
	if fail != nil || given != nil {
		if given == nil {
			given = &answer.Commanded{}
		}
		return *given, fail
	}
	if c.Point == "site/ahu/setpoint" {
		p.set(c.Level, "person:bms", string(c.Value))
	}
	return answer.Commanded{Point: c.Point, Status: "accepted", Wins: true, Reported: c.Value}, nil
}

func (p person) Release(_ context.Context, s answer.CommandSelection) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	holder := p.array[s.Level].Requester
	switch {
	case s.Requester != "" && s.Requester == holder:
		return fault.E("control.Release", fault.Refused, s.Point, errors.New("needs the role engineer"))
	case holder == "person:bms":
		p.array[s.Level] = answer.Slot{}
	}
	return nil
}
