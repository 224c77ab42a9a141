// Command agent_start measures the time from the request to start an installed agent to its first message on the bus, and what each
// supervised agent costs the node. See README.md beside it.
package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	apiclient "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/identity"
	"voltbus/node"
	agentsop "voltbus/operation/agents"
	"voltbus/point"
)

const site = `node: {name: bench}
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
store: {engine: none}
`

func main() {
	bin := flag.String("bin", "bin/voltbus", "the program")
	runs := flag.Int("runs", 7, "starts that are timed")
	agents := flag.Int("agents", 10, "agents that run at once for the memory")
	flag.Parse()
	if err := measure(*bin, *runs, *agents); err != nil {
		fmt.Fprintln(os.Stderr, "agent_start:", err)
		os.Exit(1)
	}
}

// stage is a node in a separate process, and a listener on its bus.
type stage struct {
	bin, dir string
	process  *exec.Cmd
	api      *apiclient.Client
	bus      *client.Client
	heard    chan string // names of agents that sent word of their health
}

func measure(bin string, runs, agents int) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	s, err := open(ctx, bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	before := resident(s.process.Process.Pid)
	names := make([]string, agents)
	for i := range names {
		names[i] = fmt.Sprintf("probe%d", i)
		if err := s.install(ctx, names[i]); err != nil {
			return err
		}
	}
	var times []float64
	for range runs {
		took, err := s.time(ctx, names[0])
		if err != nil {
			return err
		}
		times = append(times, took.Seconds())
	}
	slices.Sort(times)
	fmt.Printf("first message %.3f s after the request to start (min %.3f, max %.3f, %d starts)\n",
		times[len(times)/2], times[0], times[len(times)-1], runs)
	for _, name := range names {
		if _, err := s.time(ctx, name); err != nil {
			return err
		}
	}
	after := resident(s.process.Process.Pid)
	fmt.Printf("node %.1f MB before, %.1f MB with %d agents: %.2f MB each\n",
		before, after, agents, (after-before)/float64(agents))
	return nil
}

// time starts an agent that does not run, or runs, anew, and waits for its first word on the bus.
func (s *stage) time(ctx context.Context, name string) (time.Duration, error) {
	if _, err := s.api.Operate(ctx, name, "stop"); err != nil {
		return 0, err
	}
	for len(s.heard) > 0 {
		<-s.heard
	}
	begin := time.Now()
	if _, err := s.api.Operate(ctx, name, "start"); err != nil {
		return 0, err
	}
	for {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("%s sends nothing: %w", name, ctx.Err())
		case from := <-s.heard:
			if from == name {
				return time.Since(begin), nil
			}
		}
	}
}

// install makes an agent from the program's own template.
func (s *stage) install(ctx context.Context, name string) error {
	folder := filepath.Join(s.dir, name)
	for _, args := range [][]string{
		{"agent", "new", folder, "--template", "minimal"},
		{"agent", "install", folder, "--grant", "--data", filepath.Join(s.dir, "data")},
	} {
		if out, err := exec.CommandContext(ctx, s.bin, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("voltbus %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

func open(ctx context.Context, bin string) (_ *stage, err error) {
	s := &stage{heard: make(chan string, 1000)}
	if s.bin, err = filepath.Abs(bin); err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "voltbus-bench-agents"); err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "voltbus.yaml")
	if err := os.WriteFile(file, []byte(site), 0o600); err != nil {
		return nil, err
	}
	s.process = exec.CommandContext(ctx, s.bin, "run", "--config", file, "--log-level", "error")
	s.process.Stderr = os.Stderr
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// connect waits for the node, and listens on its bus in the name of an agent.
func (s *stage) connect(ctx context.Context) error {
	data := filepath.Join(s.dir, "data")
	var at node.Addresses
	for {
		text, err := os.ReadFile(filepath.Join(data, node.AddressFile))
		if err == nil && json.Unmarshal(text, &at) == nil {
			break
		}
		if ctx.Err() != nil {
			return errors.New("the node does not start")
		}
		time.Sleep(10 * time.Millisecond)
	}
	token, err := identity.ReadToken(filepath.Join(data, identity.AdminTokenFile))
	if err != nil {
		return err
	}
	if s.api, err = apiclient.New(at.HTTP, token, nil); err != nil {
		return err
	}
	key, err := identity.OpenKey(filepath.Join(s.dir, "listener.nk"))
	if err != nil {
		return err
	}
	hears := identity.Grants{Subscribe: []point.Pattern{"**"}}
	if _, err := apiclient.Do(ctx, s.api, agentsop.Add, agentsop.New{Name: "listener", Public: key.Public(), Grants: hears}); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(data, identity.TLSFolder, "ca.pem"))
	if err != nil {
		return err
	}
	trust := x509.NewCertPool()
	trust.AppendCertsFromPEM(ca)
	if s.bus, err = client.Connect(ctx, client.Options{Address: at.Bus, CA: trust, Key: key, Name: "listener"}); err != nil {
		return err
	}
	_, err = s.bus.Messages("health", func(m client.Message) { s.heard <- m.From })
	return err
}

func (s *stage) close() error {
	if s.bus != nil {
		s.bus.Close()
	}
	return errors.Join(s.process.Process.Signal(syscall.SIGINT), s.process.Wait(), os.RemoveAll(s.dir))
}

// resident returns the memory of a process as the kernel counts it, in MB.
func resident(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1000
		}
	}
	return 0
}
