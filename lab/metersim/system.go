package metersim

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/lab/load"
	"voltbus/lab/rig"
	"voltbus/meter/system"
	"voltbus/node"
)

// System is a node of the metering system in a process of its own, with valves.
type System struct {
	Config string `json:"config"`
	TLS    bool   `json:"tls"` // its connections are encrypted, though they come from this machine
}

const (
	systemKind  = "metering-system"
	orderValves = "valves"
)

// Open starts the node and waits until it listens. Close it.
func (s System) Open(ctx context.Context, program []string) (*rig.Running, error) {
	return rig.OpenAs(ctx, program, systemKind, s)
}

// Valves says what messages took at a node, since somebody asked before. Times are sums in seconds.
type Valves struct {
	Messages uint64  `json:"messages"`
	Readings uint64  `json:"readings"`
	Before   float64 `json:"before"`  // from the request seen to the handler entered: reading and understanding it
	Handler  float64 `json:"handler"` // from the handler entered to left: the readings are recorded
	After    float64 `json:"after"`   // from the handler left to the reply sent

	Times []load.Bar `json:"times"` // of whole messages, from the request seen to the reply sent
}

// Overhead is what the server took beside the handler, in seconds.
func (v *Valves) Overhead() float64 { return v.Before + v.After }

// ReadValves asks a node that System.Open started.
func ReadValves(r *rig.Running) (v Valves, err error) {
	if _, err := fmt.Fprintln(r.In, orderValves); err != nil {
		return v, fault.E("metersim.ReadValves", fault.Unavailable, r.URL, err)
	}
	return v, r.Next(&v)
}

// valves sums up the times of messages at each valve. It is safe for concurrent use.
type valves struct {
	mu       sync.Mutex
	sum      Valves
	times    *load.Histogram
	underWay *sync.WaitGroup // messages that entered since somebody asked
}

func newValves() *valves { return &valves{times: load.NewHistogram(), underWay: &sync.WaitGroup{}} }

// entered is a system.Entered.
func (v *valves) entered() func(*system.Passage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	underWay := v.underWay
	underWay.Add(1)
	return func(p *system.Passage) {
		defer underWay.Done()
		if !p.Sent.IsZero() {
			v.passed(p)
		}
	}
}

func (v *valves) passed(p *system.Passage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sum.Messages++
	v.sum.Readings += uint64(p.Readings)
	v.sum.Before += p.Entered.Sub(p.Seen).Seconds()
	v.sum.Handler += p.Left.Sub(p.Entered).Seconds()
	v.sum.After += p.Sent.Sub(p.Left).Seconds()
	v.times.Add(p.Sent.Sub(p.Seen))
}

// take returns the sums, and begins anew. It waits for the messages that are under way: a sender may have read the reply
// before its message counts.
func (v *valves) take() Valves {
	v.mu.Lock()
	underWay := v.underWay
	v.underWay = &sync.WaitGroup{}
	v.mu.Unlock()
	underWay.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	out := v.sum
	out.Times = v.times.Bars()
	v.sum, v.times = Valves{}, load.NewHistogram()
	return out
}

// serveSystem runs a node in this process and follows orders until in is closed.
func serveSystem(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Scan()
	var s System
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return fault.E("metersim.Serve", fault.Invalid, systemKind, err)
	}
	memory.Tune()
	cfg, err := config.Load(s.Config, all.Kinds())
	if err != nil {
		return err
	}
	v := newValves()
	n, err := node.Open(ctx, node.Options{
		Config: cfg, Kinds: all.Kinds(), Valves: v.entered, LoopbackTLS: s.TLS,
		Statement: func([]string, string) []string { return os.Args },
		Log:       slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := say(out, rig.NodeReady{HTTP: n.HTTPAddr(), Bus: n.BusAddr(), Data: cfg.Node.Data}); err != nil {
		return errors.Join(err, n.Close()) //nolint:contextcheck // what is closed is written, whoever waits
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the input, that is with this process at the latest
		defer cancel()
		for lines.Scan() {
			if lines.Text() != orderValves || say(out, v.take()) != nil {
				return
			}
		}
	}()
	return n.Run(ctx)
}

// Site is the configuration of a node of the metering system.
type Site struct {
	Name  string // of the node; "" for lab
	Role  string // of the metering system; "" for mds
	Extra string // further keys of the section metering, as YAML in braces; "" for none
	HTTP  string // where it listens; "" for any port of this machine
}

// Write writes the configuration into dir, which holds the node's data too, and returns the file.
func (s Site) Write(dir string) (string, error) {
	name, role := "lab", "mds"
	if s.Name != "" {
		name = s.Name
	}
	if s.Role != "" {
		role = s.Role
	}
	extra := s.Extra
	if extra != "" {
		extra = ", " + extra
	}
	text := fmt.Sprintf("node: {name: %s, data: data}\nlisten: {http: %q, bus: off}\nlog: {max_bytes: 8GiB}\n"+
		"ingest: {requests: 1000000, samples: 100000000}\nmetering: {role: %s, zone: UTC, grace: 168h%s}\n", name, cmp.Or(s.HTTP, "127.0.0.1:0"), role, extra)
	file := dir + "/metering.yaml"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return file, nil
}

// FirstDay is the first of the days that simulated readings are of: so long ago that Days of them have passed, and not
// so long that they are validated.
func FirstDay(now time.Time) time.Time {
	return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, -Days)
}

// Days is how many days simulated readings are of at most.
const Days = 6
