// Package below knows the alarms of the descendants of a node. It asks each of them again and again, and says since when the alarms of one that
// does not answer are not known.
package below

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/operation/alarms"
)

// Node is a descendant.
type Node struct {
	Name string
	Away time.Time // since when it is cut off; zero: it is connected
}

// Options are what Below needs. All are required.
type Options struct {
	Nodes func() []Node
	// Ask returns the alarms of a node, its own only; known is the version of the list that is known here, "" for none.
	Ask func(ctx context.Context, node, known string) (alarms.Alarms, error)
	Now func() time.Time
}

// Below knows the alarms of descendants. It is safe for concurrent use.
type Below struct {
	o    Options
	wake chan struct{}

	mu    sync.Mutex
	nodes map[string]*heard // by lower-case name
}

// heard is what a node said.
type heard struct {
	name   string
	list   alarms.Alarms
	at     time.Time // of the last answer; zero: none since the start
	asked  time.Time
	reason string // why there is no newer one; "" if there is
}

// New returns what is known of the alarms of descendants: nothing yet.
func New(o Options) *Below {
	return &Below{o: o, wake: make(chan struct{}, 1), nodes: map[string]*heard{}}
}

const (
	// every is how often a node is asked; many nodes are asked less often, so that one question takes its pace in time.
	every = 5 * time.Second
	pace  = 10 * time.Millisecond
	// look is how often nodes that came or went are looked for.
	look = time.Second
	// longest is how long an answer may take.
	longest = 10 * time.Second
	// atOnce is how many nodes are asked at the same time.
	atOnce = 16
)

// Run asks until ctx ends, and returns nil.
func (b *Below) Run(ctx context.Context) error {
	clock := time.NewTicker(look)
	defer clock.Stop()
	for {
		b.round(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-clock.C:
		case <-b.wake:
		}
	}
}

// Again has a node asked at once, because something was done there.
func (b *Below) Again(node string) {
	b.mu.Lock()
	if h := b.nodes[strings.ToLower(node)]; h != nil {
		h.asked = time.Time{}
	}
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// round asks the nodes that are due.
func (b *Below) round(ctx context.Context) {
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, name := range b.due() {
		group.Go(func() error { b.ask(ctx, name); return nil })
	}
	_ = group.Wait()
}

// due brings the list of nodes up to date, and returns those to ask.
func (b *Below) due() (list []string) {
	nodes, now := b.o.Nodes(), b.o.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	there := make(map[string]bool, len(nodes))
	again := max(every, time.Duration(len(nodes))*pace)
	for _, n := range nodes {
		key := strings.ToLower(n.Name)
		there[key] = true
		h := b.nodes[key]
		if h == nil {
			h = &heard{name: n.Name, reason: "it was not asked yet"}
			b.nodes[key] = h
		}
		switch {
		case !n.Away.IsZero():
			h.reason, h.asked = "it is cut off", time.Time{}
		case now.Sub(h.asked) >= again || now.Before(h.asked):
			h.asked = now
			list = append(list, n.Name)
		}
	}
	for key := range b.nodes {
		if !there[key] {
			delete(b.nodes, key)
		}
	}
	return list
}

func (b *Below) ask(ctx context.Context, name string) {
	b.mu.Lock()
	h := b.nodes[strings.ToLower(name)]
	known := ""
	if h != nil {
		known = h.list.Version
	}
	b.mu.Unlock()
	if h == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	list, err := b.o.Ask(ctx, name, known)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		h.reason = err.Error()
		return
	}
	if !list.Same {
		h.list = list
	}
	h.at, h.reason = b.o.Now().UTC(), ""
}

// Alarms returns the alarms of the descendants as far as they are known, with the names of their nodes, and what is known of each node.
func (b *Below) Alarms() (list []alarms.Alarm, nodes []alarms.NodeAlarms) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, h := range b.nodes {
		n := alarms.NodeAlarms{Node: h.name, Known: h.reason == "", Open: h.list.Open, All: h.list.All, Reason: h.reason}
		if !h.at.IsZero() {
			at := h.at
			n.At = &at
		}
		nodes = append(nodes, n)
		for _, a := range h.list.Alarms {
			a.Node, a.Known = h.name, n.Known
			list = append(list, a)
		}
	}
	slices.SortFunc(nodes, func(a, b alarms.NodeAlarms) int { return strings.Compare(a.Node, b.Node) })
	return list, nodes
}
