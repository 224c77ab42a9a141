package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/api/answer"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/lab/rig"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
)

// crowd is the children of a node, in this process. Each has a key, an encrypted connection, the sender and the reporter
// of a node, and knows its descendants.
type crowd struct {
	share   atomic.Int64 // see bench.run
	sent    atomic.Int64 // bytes of reports
	nodes   int          // the children and those below them
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// gather registers and connects children.
func gather(ctx context.Context, parent *rig.Running, keys string, count, below int) (*crowd, error) {
	if err := os.MkdirAll(keys, 0o700); err != nil {
		return nil, err
	}
	places := rig.Crowd{Keys: keys, Children: count}
	if err := places.Register(ctx, parent); err != nil {
		return nil, err
	}
	trust, err := pki.ParseTrust(places.Fingerprint, places.Authority)
	if err != nil {
		return nil, err
	}
	config := trust.ClientConfig(time.Now, func(string) {})
	c := &crowd{nodes: count * (1 + below)}
	first := below
	if c.nodes == replica.MaxNodes { // with the parent itself they would be too many for its parent
		c.nodes, first = c.nodes-1, below-1
	}
	ctx, c.cancel = context.WithCancel(ctx)
	for i := range count {
		key, err := identity.ReadKey(filepath.Join(keys, rig.CrowdName(i)+".nk"))
		if err != nil {
			c.close()
			return nil, err
		}
		m := &child{crowd: c, number: i, name: rig.CrowdName(i), key: key}
		m.open(ctx, first)
		first = below
		send := sender.New(sender.Config{Dial: func(ctx context.Context) (sender.Session, error) { return m.dial(ctx, places.Address, config) }, Own: func() map[string]uplink.Position { return nil }}, empty(m.name+"~000000"))
		c.running.Go(func() { _ = send.Run(ctx) })       // always nil
		c.running.Go(func() { _ = m.reporter.Run(ctx) }) // always nil
	}
	return c, nil
}

func (c *crowd) close() {
	c.cancel()
	c.running.Wait()
}

// child is one of them.
type child struct {
	crowd    *crowd
	number   int
	name     string
	key      *identity.Key
	table    *replica.Table
	reporter *replica.Reporter

	mu    sync.Mutex
	conn  *peer.Parent
	since time.Time
}

func (m *child) dial(ctx context.Context, address string, config *tls.Config) (sender.Session, error) {
	conn, err := peer.DialParent(ctx, peer.Way{Address: address, TLS: config.Clone()}, m.key, identity.ChildPrefix+m.name)
	if err != nil {
		return nil, err
	}
	session, err := sender.Over(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.conn, m.since = conn, time.Now()
	return session, nil
}

// parent implements replica.Config.Parent.
func (m *child) parent() (lineage.Parent, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return lineage.Parent{Name: "campus", As: m.name, Online: m.conn != nil, Since: m.since}, true
}

// up asks the parent, and counts what is sent.
func (m *child) up(ctx context.Context, method string, body []byte) ([]byte, error) {
	m.mu.Lock()
	conn := m.conn
	m.mu.Unlock()
	if conn == nil {
		return nil, fault.E("up", fault.Unreachable, m.name, os.ErrClosed)
	}
	m.crowd.sent.Add(int64(len(body)))
	return conn.Ask(ctx, method, body)
}

// open makes the table and the reporter, and has the descendants report once.
func (m *child) open(ctx context.Context, below int) {
	var nodes []replica.Child
	for i := range below {
		name := fmt.Sprintf("%s-room-%d", m.name, i+1)
		nodes = append(nodes, replica.Child{Name: name, Prefix: point.Path(name), Online: true})
	}
	m.table, m.reporter = m.documents(m.name, nodes, m.parent, m.up)
	for _, n := range nodes {
		once, done := context.WithCancel(ctx)
		since := time.Now()
		_, r := m.documents(n.Name, nil, func() (lineage.Parent, bool) {
			return lineage.Parent{Name: m.name, As: n.Name, Online: true, Since: since}, true
		}, func(_ context.Context, _ string, body []byte) ([]byte, error) {
			answer, err := m.table.Take(n.Name, body, "")
			if seen, _ := m.table.Look(n.Name, n.Name); err != nil || seen.Devices > 0 && len(seen.Version) > 0 {
				done()
			}
			return answer, err
		})
		_ = r.Run(once) // always nil
		done()
	}
}

// documents makes what a node knows of itself and those below it.
func (m *child) documents(name string, below []replica.Child, parent func() (lineage.Parent, bool), up func(context.Context, string, []byte) ([]byte, error)) (*replica.Table, *replica.Reporter) {
	origin := name + "~000000"
	quiet := slog.New(slog.DiscardHandler)
	table := replica.NewTable(replica.TableConfig{
		Children: func() []replica.Child { return below }, Place: func(p point.Path) point.Path { return p },
		Lineage: lineage.New(name, parent), Outages: func(string) []replica.Outage { return nil },
		Refused: func(string, lineage.Refused) {}, Now: time.Now,
	})
	return table, replica.NewReporter(replica.Config{
		Own: func(context.Context) replica.Status { return m.status() }, Origins: func() []string { return []string{origin} },
		Ledger: func(context.Context) (answer.LedgerNode, error) { return m.ledger(name, origin), nil },
		Parent: parent, Up: up, Down: func(_ context.Context, child, _ string, _ []byte) ([]byte, error) {
			return nil, fault.E("down", fault.Unreachable, child, os.ErrClosed)
		}, Log: quiet, Now: time.Now,
	}, table)
}

// turn counts what happened at the child: it moves every ten seconds for one child in so many.
func (m *child) turn() uint64 {
	share := m.crowd.share.Load()
	if share == 0 || int64(m.number)%share != 0 {
		return 0
	}
	return uint64(time.Now().Unix() / 10)
}

// status is the status of a node: two figures that change, and the rest, which does not.
func (m *child) status() replica.Status {
	n := m.turn()
	return replica.Status{
		Version: "0.4.0", Roles: []string{"collector", "store"}, Started: 1_790_000_000, Link: "connected", Disk: 123_456_789_012, DiskSize: 512_000_000_000,
		Memory: 223_000_000 + int64(n%1000)*4096, CPU: float64(n%97) / 100, Devices: 100, Points: 1800, Agents: 3, Health: "ok",
	}
}

// ledger is the account of a node, of one origin that produced some samples more.
func (m *child) ledger(name, origin string) answer.LedgerNode {
	count := 1_000_000 + m.turn()*1800
	return answer.LedgerNode{Node: name, State: "here", Ledger: "ok", Origins: []answer.Hop{{
		Origin: answer.Origin{Origin: origin, Produced: count, Stored: count},
	}}}
}

// empty is a log without blocks, by its name.
type empty string

// ID implements sender.Log.
func (e empty) ID() string { return string(e) }

// Bounds implements sender.Log.
func (empty) Bounds(context.Context) (first, last uint64, err error) { return 1, 0, nil }

// Read implements sender.Log.
func (empty) Read(ctx context.Context, _ uint64, _ func(uint64, []byte) error) error {
	<-ctx.Done()
	return nil
}
