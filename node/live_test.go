package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"voltbus/api/client"
	agent "voltbus/bus/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/testing/link"
	"voltbus/wire"
)

// rowNames are the nodes of a row, from the top.
var rowNames = []string{"top", "mid", "low", "leaf"}

// deepRow is nodes one below the other, with a link above each but the first.
type deepRow struct {
	nodes []member
	links []*link.Link
}

func (r *deepRow) top() member  { return r.nodes[0] }
func (r *deepRow) leaf() member { return r.nodes[len(r.nodes)-1] }

// newDeepRow starts four nodes, each a child of the one before; extra is more of their configurations.
func newDeepRow(t *testing.T, extra map[string]string) *deepRow {
	t.Helper()
	r := &deepRow{}
	for i, name := range rowNames {
		cfg := nodeOf(t, t.TempDir(), name, listenAnywhere+extra[name])
		node := member{run(t, cfg), cfg}
		if i > 0 {
			way := link.New(t)
			way.Lead(r.nodes[i-1].BusAddr())
			r.links = append(r.links, way)
			below(t, r.nodes[i-1].running, node.running, way.Addr(), name)
		}
		r.nodes = append(r.nodes, node)
	}
	return r
}

// asked reports whether the leaf was told to send something.
func (r *deepRow) asked() bool {
	up, _ := r.leaf().Live()
	return len(up.Wanted) > 0
}

// heard collects the times of live messages by the device and what its point n says.
type heard struct {
	mu    sync.Mutex
	count map[string]int
}

func newHeard() *heard { return &heard{count: map[string]int{}} }

func (h *heard) take(samples []point.Sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range samples {
		h.count[fmt.Sprint(s.Point, "=", s.Value)]++
	}
}

func (h *heard) times(what string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.count[what]
}

func (h *heard) twice() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for what, n := range h.count {
		if n > 1 {
			list = append(list, what)
		}
	}
	return list
}

// publish sends the live message of a device with one point n.
func publish(t *testing.T, from *agent.Client, device point.Path, n int) {
	t.Helper()
	scan := &point.Scan{Device: device, Time: time.Now(), Samples: []point.Sample{{Point: device.Join("n"), Time: time.Now(), Value: point.IntOf(int64(n))}}}
	if err := from.Publish(scan); err != nil {
		t.Fatal(err)
	}
}

func subscribes(patterns ...point.Pattern) identity.Grants {
	return identity.Grants{Subscribe: patterns, Read: patterns}
}

func TestASubscriptionAtAnyNodeHearsWhatTheNodesBelowPublish(t *testing.T) {
	t.Parallel()
	r := newDeepRow(t, nil)
	source := join(t, r.leaf().running, r.leaf().cfg, "meter", identity.Grants{Publish: []point.Pattern{"**"}})
	watch := join(t, r.top().running, r.top().cfg, "watch", subscribes("mid/**"))
	middle := join(t, r.nodes[1].running, r.nodes[1].cfg, "watch", subscribes("low/leaf/hall/**"))
	atTop, atMiddle := newHeard(), newHeard()
	for at, one := range map[*heard]struct {
		from    *agent.Client
		pattern point.Pattern
	}{atTop: {watch, "mid/**"}, atMiddle: {middle, "low/leaf/hall/**"}} {
		if _, err := one.from.Subscribe(wire.Selection{Patterns: []point.Pattern{one.pattern}}, at.take); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := watch.Subscribe(wire.Selection{Patterns: []point.Pattern{"other/**"}}, atTop.take); !fault.Is(err, fault.Refused) {
		t.Errorf("an agent at the top listens to what it was not granted: %v", err)
	}
	told := make(chan agent.Message, 100)
	if _, err := watch.Messages("mid/**", func(m agent.Message) { told <- m }); err != nil {
		t.Fatal(err)
	}
	page := make(chan string, 1000)
	reading, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		_ = r.top().Follow(reading, client.Live{Pattern: "mid/low/leaf/hall/**"}, func(m json.RawMessage) error {
			page <- string(m)
			return nil
		})
	}()
	n := 0
	awaitTrue(t, "all of the row hear the leaf", func() bool {
		n++
		publish(t, source, "hall/b", n)
		publish(t, source, "yard", n)
		return atTop.times(fmt.Sprint("mid/low/leaf/hall/b/n=", n-1)) == 1 && atMiddle.times(fmt.Sprint("low/leaf/hall/b/n=", n-1)) == 1 &&
			atTop.times(fmt.Sprint("mid/low/leaf/yard/n=", n-1)) == 1
	})
	select {
	case m := <-page:
		if scan, err := wire.ParseScan([]byte(m)); err != nil || scan.Device != "mid/low/leaf/hall/b" || scan.Points["n"] == nil {
			t.Errorf("the page of the top gets %s, %v", m, err)
		}
	case <-wait(t).Done():
		t.Error("the page of the top gets nothing")
	}
	awaitTrue(t, "a free message of the leaf is heard at the top", func() bool {
		if err := source.Send("plans/today", "run", agent.Header{"Kind": {"plan"}}); err != nil {
			t.Fatal(err)
		}
		select {
		case m := <-told:
			if m.From != "leaf/meter" || m.Topic != "mid/low/leaf/plans/today" || string(m.Data) != `"run"` || m.Header["Kind"][0] != "plan" {
				t.Errorf("the top hears %+v", m)
			}
			return true
		default:
			return false
		}
	})
	if list := slices.Concat(atTop.twice(), atMiddle.twice()); len(list) > 0 {
		t.Errorf("heard twice: %v", list)
	}
	if atMiddle.times("low/leaf/yard/n=1") != 0 {
		t.Error("the middle hears what it did not subscribe to")
	}
}

func TestOnlyWhatSomebodySubscribesToTravelsAndOnceForAll(t *testing.T) {
	t.Parallel()
	r := newDeepRow(t, nil)
	source := join(t, r.leaf().running, r.leaf().cfg, "meter", identity.Grants{Publish: []point.Pattern{"**"}})
	sent := func() uint64 { up, _ := r.leaf().Live(); return up.Sent.Messages }
	for i := range 100 {
		publish(t, source, "hall/a", i)
	}
	if err := source.Call(wait(t), "node", "ping", nil); err != nil && !fault.Is(err, fault.NotFound) { // all before it was seen
		t.Log(err)
	}
	if r.asked() || sent() != 0 {
		t.Errorf("nobody listens, and %d messages went up", sent())
	}
	var listeners []*heard
	var subs []*agent.Subscription
	for i, patterns := range [][]point.Pattern{{"mid/low/leaf/hall"}, {"mid/low/leaf/hall/a"}, {"mid/low/**"}} {
		c := join(t, r.top().running, r.top().cfg, fmt.Sprint("watch", i), subscribes("mid/**"))
		h := newHeard()
		sub, err := c.Subscribe(wire.Selection{Patterns: patterns}, h.take)
		if err != nil {
			t.Fatal(err)
		}
		listeners, subs = append(listeners, h), append(subs, sub)
	}
	n := 1000
	all := func(n int) bool {
		return !slices.ContainsFunc(listeners, func(h *heard) bool { return h.times(fmt.Sprint("mid/low/leaf/hall/a/n=", n)) != 1 })
	}
	awaitTrue(t, "all listeners hear the leaf", func() bool {
		n++
		publish(t, source, "hall/a", n)
		return all(n - 1)
	})
	before := sent()
	for i := range 200 {
		publish(t, source, "hall/a", 10_000+i)
	}
	awaitTrue(t, "all hear the last", func() bool { return all(10_199) })
	if got := sent() - before; got < 200 || got > 203 { // up to three from before
		t.Errorf("three listen, and %d messages went up for 200", got)
	}
	for _, s := range subs {
		s.Stop()
	}
	awaitTrue(t, "nothing is wanted any more", func() bool { return !r.asked() })
	before = sent()
	for i := range 100 {
		publish(t, source, "hall/a", 20_000+i)
	}
	first := newHeard()
	local := join(t, r.leaf().running, r.leaf().cfg, "local", subscribes("**"))
	if _, err := local.Subscribe(wire.Selection{}, first.take); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "the leaf hears itself", func() bool {
		publish(t, source, "hall/a", 30_000)
		return first.times("hall/a/n=30000") > 0
	})
	if got := sent() - before; got != 0 {
		t.Errorf("nobody listens any more, and %d messages went up", got)
	}
}

func TestLiveMessagesComeOnceAfterEachLinkWasCut(t *testing.T) {
	r := newDeepRow(t, nil)
	source := join(t, r.leaf().running, r.leaf().cfg, "meter", identity.Grants{Publish: []point.Pattern{"**"}})
	watch := join(t, r.top().running, r.top().cfg, "watch", subscribes("mid/**"))
	h := newHeard()
	if _, err := watch.Subscribe(wire.Selection{Patterns: []point.Pattern{"mid/**"}}, h.take); err != nil {
		t.Fatal(err)
	}
	n := 0
	hears := func() bool {
		n++
		publish(t, source, "hall/a", n)
		return h.times(fmt.Sprint("mid/low/leaf/hall/a/n=", n-1)) == 1
	}
	awaitTrue(t, "the top hears the leaf", hears)
	for i, l := range r.links {
		l.Cut()
		awaitTrue(t, fmt.Sprintf("the top hears the leaf again after link %d was cut", i), hears)
	}
	if list := h.twice(); len(list) > 0 {
		t.Errorf("heard twice: %v", list)
	}
}
