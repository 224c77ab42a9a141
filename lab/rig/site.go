package rig

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/operation/ledger"
)

// Site is the configuration of a node with simulated devices, all of which are recorded.
type Site struct {
	Devices  int
	Points   int // of each
	Interval time.Duration
	Seed     int64

	Name    string        // of the node; "" for lab
	Bus     bool          // whether it listens for children
	NoStore bool          // whether it only keeps a log
	Stagger time.Duration // over which the devices are spread; 0 reads all at once
	LogSize string        // bound of the log; "" for 8GiB
}

// Write writes the configuration into dir, which holds the node's data too, and returns the file.
func (s Site) Write(dir string) (string, error) {
	var b strings.Builder
	bus := "off"
	if s.Bus {
		bus = "127.0.0.1:0"
	}
	fmt.Fprintf(&b, "node: {name: %s, data: data}\nlisten: {http: \"127.0.0.1:0\", bus: %q}\nlog: {max_bytes: %s}\n",
		cmp.Or(s.Name, "lab"), bus, cmp.Or(s.LogSize, "8GiB"))
	if s.NoStore {
		b.WriteString("store: {engine: none}\n")
	}
	spread := ""
	if s.Stagger > 0 {
		spread = fmt.Sprintf("    group: all\n    stagger: %s\n", s.Stagger)
	}
	if s.Devices > 0 {
		b.WriteString("devices:\n")
	}
	for line := range min(Lines, s.Devices) {
		n := s.Devices / Lines
		if line < s.Devices%Lines {
			n++
		}
		fmt.Fprintf(&b, "  - path: lab/line%d/device{n}\n    driver: sim\n    interval: %s\n    count: %d\n    record: true\n%s"+
			"    config: {model: random, points: %d, line: line%d, seed: %d}\n", line, s.Interval, n, spread, s.Points, line, s.Seed+int64(line))
	}
	file := filepath.Join(dir, fmt.Sprintf("lab%d.yaml", s.Devices))
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return file, nil
}

// Running is a node in a process of its own, with a client of its API. One goroutine uses it.
type Running struct {
	*Child
	*client.Client
	URL       string // of its API
	Bus       string // where its children find it; "" if they do not
	Data      string // its directory
	transport *http.Transport
}

// Open starts a node on a configuration file and waits until it listens, for two minutes at most. Close it, or Kill it and
// then Close it.
func Open(ctx context.Context, program []string, file string) (*Running, error) {
	return OpenAs(ctx, program, nodeKind, Node{Config: file})
}

// readyTime is how long a node may take to listen, and answerTime how long to begin an answer.
const (
	readyTime  = 2 * time.Minute
	answerTime = 5 * time.Minute
)

// OpenAs starts a part of another kind that is a node, and waits until it listens, as Open does.
func OpenAs(ctx context.Context, program []string, kind string, part any) (*Running, error) {
	c, err := Start(program, kind, part)
	if err != nil {
		return nil, err
	}
	given := context.AfterFunc(ctx, c.end)
	var ready NodeReady
	err = c.NextWithin(readyTime, &ready)
	if !given() {
		err = fault.E("rig.Open", fault.Canceled, kind, ctx.Err())
	}
	if err != nil {
		return nil, errors.Join(err, c.Kill()) // its last words are in err
	}
	r := &Running{Child: c, URL: ready.HTTP, Bus: ready.Bus, Data: ready.Data, transport: &http.Transport{ResponseHeaderTimeout: answerTime}}
	if strings.HasPrefix(r.URL, "https:") {
		if r.transport.TLSClientConfig, err = trust(r.CA()); err != nil {
			return nil, errors.Join(err, c.Kill())
		}
	}
	token, err := identity.ReadToken(filepath.Join(ready.Data, identity.AdminTokenFile))
	if err == nil {
		r.Client, err = client.New(ready.HTTP, token, r.transport)
	}
	if err != nil {
		return nil, errors.Join(err, c.Kill())
	}
	return r, nil
}

// CA is the file with the certificate of the authority that signed the node's.
func (r *Running) CA() string { return filepath.Join(r.Data, "tls", pki.AuthorityFile) }

// Close stops the node in good order.
func (r *Running) Close() error {
	r.transport.CloseIdleConnections()
	return r.Stop()
}

// Origin is the node's own line of the ledger.
func (r *Running) Origin(ctx context.Context) (answer.Origin, error) {
	l, err := client.Do(ctx, r.Client, ledger.Get, ledger.Reach{})
	if err != nil {
		return answer.Origin{}, err
	}
	if len(l.Origins) == 0 {
		return answer.Origin{}, fault.E("rig.Origin", fault.NotFound, "ledger", errors.New("the node has no origin"))
	}
	return l.Origins[0], nil
}

// stalled is how long a backlog may not shrink.
const stalled = 2 * time.Minute

// Settled waits until the store has all that was acknowledged, and returns the account. It fails with fault.Timeout when the
// backlog does not shrink for two minutes.
func (r *Running) Settled(ctx context.Context) (answer.Origin, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	least, since := uint64(0), time.Time{}
	for {
		o, err := r.Origin(ctx)
		if err != nil || o.BacklogSamples == 0 {
			return o, err
		}
		if since.IsZero() || o.BacklogSamples < least {
			least, since = o.BacklogSamples, time.Now()
		}
		if time.Since(since) > stalled {
			return o, fault.E("rig.Settled", fault.Timeout, r.URL, fmt.Errorf("%d samples are acknowledged and not stored, and no fewer for %s", least, stalled))
		}
		select {
		case <-ctx.Done():
			return o, fault.E("rig.Settled", fault.Canceled, "", ctx.Err())
		case <-tick.C:
		}
	}
}

// Numbers calls each with the rows of a statement that selects one whole number.
func (r *Running) Numbers(ctx context.Context, statement string, limit int, each func(int64)) error {
	truncated, err := r.SQL(ctx, statement, limit, func([]string) error { return nil }, func(row []json.RawMessage) error {
		var n int64
		if err := json.Unmarshal(row[0], &n); err != nil {
			return fmt.Errorf("read a number: %w", err)
		}
		each(n)
		return nil
	})
	if err == nil && truncated {
		err = fault.E("rig.Numbers", fault.Internal, statement, errors.New("the answer was cut"))
	}
	return err
}

// Lines is how many lines the simulated devices stand on, as a site with several gateways has.
const Lines = 64
