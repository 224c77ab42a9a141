package fleet

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/lab/fleetsim"
	"voltbus/lab/machine"
	"voltbus/lab/rig"
)

// member is a node of a hub: one alone, or a replica.
type member struct {
	program []string     // starts it, at its machine
	file    string       // its configuration
	node    *rig.Running // nil while it is down
	doors   fleetsim.Doors
	witness bool // clients do not connect to it
}

// start starts the node, for the first time or again.
func (m *member) start(ctx context.Context) (err error) {
	if m.node, err = rig.Open(ctx, m.program, m.file); err != nil {
		return err
	}
	m.doors, err = fleetsim.DoorsOf(m.node)
	return err
}

// kill ends the node's process as a power cut does.
func (m *member) kill() error {
	n := m.node
	m.node = nil
	return errors.Join(n.Kill(), n.Close())
}

// close ends the node's process, at once or in good order.
func (m *member) close(atOnce bool) error {
	switch {
	case m.node == nil:
		return nil
	case atOnce:
		return m.kill()
	}
	return m.node.Close()
}

// openNodes starts the nodes of the plan. Two replicas need a third that gives them a majority: a witness.
func (h *hub) openNodes(ctx context.Context, p plan) (err error) {
	n := max(1, p.replicas)
	if n == 2 {
		n++
	}
	if p.apart {
		if h.network, err = machine.NewNetwork(n); err != nil {
			return err
		}
	}
	sites, err := h.sites(ctx, p, n)
	if err != nil {
		return err
	}
	for i := range sites {
		m := &member{program: h.bench.Program(), witness: sites[i].Witness}
		if h.network != nil {
			m.program = h.network.Program(i, m.program)
		}
		dir := filepath.Join(h.dir, sites[i].Name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if m.file, err = sites[i].Write(dir); err != nil {
			return err
		}
		h.members = append(h.members, m)
	}
	if err := h.start(ctx, h.members...); err != nil {
		return err
	}
	return fleetsim.Provision(ctx, h.node(), &fleetsim.Fleet{Prefix: prefix, Secret: secret}, p.devices) // replicas share accounts
}

// loopback is where replicas at this machine listen for each other.
const loopback = "127.0.0.1"

// portOfReplicas is where a replica at a machine of its own listens for the others.
const portOfReplicas = 6222

// sites are the configurations of n nodes.
func (h *hub) sites(ctx context.Context, p plan, n int) (list []fleetsim.Site, err error) {
	var all []fleetsim.Replica
	free, err := machine.FreeAddresses(ctx, loopback, 2*n)
	if err != nil {
		return nil, err
	}
	for i := range n {
		s := fleetsim.Site{Name: fmt.Sprint("broker-", i+1), Clients: p.devices + 100, Live: p.live, Witness: i >= max(1, p.replicas)}
		if h.network != nil {
			s.Host = h.network.Address(i)
		}
		if p.fixed {
			s.Secure = free[n+i]
		}
		at := fmt.Sprintf("%s:%d", s.Host, portOfReplicas)
		if h.network == nil {
			at = free[i]
		}
		all = append(all, fleetsim.Replica{Name: s.Name, Address: at})
		list = append(list, s)
	}
	if n == 1 {
		return list, nil
	}
	key, err := h.key()
	for i := range list {
		list[i].Replicas, list[i].Key = all, key
	}
	return list, err
}

// key writes a key for replicas.
func (h *hub) key() (file string, err error) {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	if file, err = filepath.Abs(filepath.Join(h.dir, "cluster.key")); err != nil {
		return "", err
	}
	return file, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(key)), 0o600)
}

// start starts members together: a replica listens as soon as there is a majority. When one fails the others are not waited for.
func (h *hub) start(ctx context.Context, list ...*member) error {
	all, ctx := errgroup.WithContext(ctx)
	for _, m := range list {
		all.Go(func() error { return m.start(ctx) })
	}
	err := all.Wait()
	h.measure()
	return err
}

// serving are the members that run and serve clients.
func (h *hub) serving() (list []*member) {
	for _, m := range h.members {
		if m.node != nil && !m.witness {
			list = append(list, m)
		}
	}
	return list
}

// node is the first of the nodes that serve; nil for a peer.
func (h *hub) node() *rig.Running {
	for _, m := range h.serving() {
		return m.node
	}
	return nil
}

// doors are where clients connect, with or without TLS.
func (h *hub) doors(secure bool) (list []string) {
	all := []fleetsim.Doors{}
	if h.peer != nil {
		all = append(all, fleetsim.Doors{Plain: h.peer.Plain, Secure: h.peer.Secure})
	}
	for _, m := range h.serving() {
		all = append(all, m.doors)
	}
	for _, d := range all {
		if secure {
			list = append(list, d.Secure)
		} else {
			list = append(list, d.Plain)
		}
	}
	return list
}

// ca is a file with the certificates of the authorities of all members.
func (h *hub) ca() (string, error) {
	if h.peer != nil {
		return h.peer.CA, nil
	}
	var all bytes.Buffer
	for _, m := range h.serving() {
		text, err := os.ReadFile(m.node.CA())
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	file := filepath.Join(h.dir, "ca.pem")
	return file, os.WriteFile(file, all.Bytes(), 0o600)
}

// storing is how long replicas may take to store what others acknowledged.
const storing = time.Minute

// rows counts the values that each node has stored, and those that differ, and returns the fewest. It waits for what is on its
// way; among replicas, until each has as many different ones as were acknowledged.
func (h *hub) rows(ctx context.Context, acknowledged uint64) (rows, distinct uint64, err error) {
	deadline := time.Now().Add(storing)
	for i, m := range h.serving() {
		if _, err := m.node.Settled(ctx); err != nil {
			return 0, 0, err
		}
		r, d, err := count(ctx, m.node)
		for err == nil && len(h.members) > 1 && d < acknowledged && time.Now().Before(deadline) {
			if err = pause(ctx, 200*time.Millisecond); err == nil {
				r, d, err = count(ctx, m.node)
			}
		}
		if err != nil {
			return 0, 0, err
		}
		if i == 0 || d < distinct {
			rows, distinct = r, d
		}
	}
	return rows, distinct, nil
}

// count counts the values that a node has stored, and those that differ.
func count(ctx context.Context, n *rig.Running) (rows, distinct uint64, err error) {
	for _, q := range []struct {
		statement string
		n         *uint64
	}{
		{"SELECT count(*)::BIGINT FROM samples", &rows},
		{"SELECT count(*)::BIGINT FROM (SELECT DISTINCT point, value FROM samples)", &distinct},
	} {
		if err := n.Numbers(ctx, q.statement, 1, func(v int64) { *q.n = uint64(v) }); err != nil { //nolint:gosec // a count
			return 0, 0, err
		}
	}
	return rows, distinct, nil
}
