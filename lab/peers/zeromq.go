package peers

import (
	"bufio"
	"context"
	_ "embed" // for the script
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig"
	"voltbus/lab/rig/scan"
)

//go:embed zeromq.py
var zeroMQScript []byte

const installZeroMQ = "install pyzmq for python3 (pip install pyzmq), or set VOLTBUS_PEER_PYTHON to a Python that has it"

// zeroMQ is ZeroMQ through pyzmq: PUB to SUB without a broker between, encrypted with CURVE. It is
// the floor of what a platform on ZeroMQ in Python can reach.
func zeroMQ() Broker {
	return Broker{
		Name:   "ZeroMQ with CURVE (pyzmq)",
		Find:   func() error { _, err := pythonWithZeroMQ(); return err },
		scrape: scrapeZeroMQ,
	}
}

// pythonWithZeroMQ finds a Python that has pyzmq.
func pythonWithZeroMQ() (string, error) {
	for _, p := range []string{os.Getenv("VOLTBUS_PEER_PYTHON"), ".venv/bin/python", "python3"} {
		if p == "" {
			continue
		}
		if exec.Command(p, "-c", "import zmq").Run() == nil { //nolint:noctx // ends at once
			return p, nil
		}
	}
	return "", fault.E("peers.find", fault.NotFound, "pyzmq", fmt.Errorf("no Python here has it; %s", installZeroMQ))
}

// half is one process of the script. One goroutine uses it.
type half struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	words *rig.LastWords
}

// startHalf starts the script and hands it its work.
func startHalf(python, script string, work map[string]any) (*half, error) {
	h := &half{cmd: exec.Command(python, script), words: &rig.LastWords{}} //nolint:noctx // ends with its input
	h.cmd.Stderr = h.words
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start pyzmq: %w", err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start pyzmq: %w", err)
	}
	h.lines = bufio.NewScanner(out)
	if err := h.cmd.Start(); err != nil {
		return nil, fault.E("peers.zeromq", fault.Unavailable, python, err)
	}
	return h, json.NewEncoder(h.in).Encode(work)
}

// saidByHalf is a line of the script. Times are in ns since 1970.
type saidByHalf struct {
	Public  string `json:"public"`
	Secret  string `json:"secret"`
	Port    int    `json:"port"`
	Ready   bool   `json:"ready"`
	Began   int64  `json:"began"`
	Arrived int64  `json:"arrived"`
}

func (h *half) next() (s saidByHalf, err error) {
	if !h.lines.Scan() {
		return s, fault.E("peers.zeromq", fault.Unavailable, "", fmt.Errorf("its process ended; its last words: %s", h.words))
	}
	return s, json.Unmarshal(h.lines.Bytes(), &s)
}

// stop closes the input, with which the process ends, or kills it after a while.
func (h *half) stop() {
	_ = h.in.Close()
	late := time.AfterFunc(stopTime, func() { _ = h.cmd.Process.Kill() })
	defer late.Stop()
	for h.lines.Scan() { // what it still says is read, so that it can end
	}
	_ = h.cmd.Wait() // how it ended is no news to anybody
}

func scrapeZeroMQ(ctx context.Context, s *Scrapes) (_ []scan.Scrape, err error) {
	z := &zmqPair{}
	defer z.stop()
	// Whoever waits for a line is woken by the end of the processes.
	defer context.AfterFunc(ctx, z.kill)()
	if err := z.start(s); err != nil {
		return nil, errors.Join(err, ctx.Err())
	}
	var scrapes []scan.Scrape
	for i := range s.Scans + 1 {
		one, err := z.scrape(s.Listeners)
		if err != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		if i == 0 {
			continue // the warm-up
		}
		scrapes = append(scrapes, one)
		if s.Watch != nil {
			s.Watch(one)
		}
	}
	return scrapes, nil
}

// zmqPair is the publisher and the process of the listeners.
type zmqPair struct {
	mu     sync.Mutex
	halves []*half
	from   *half
	to     *half
}

func (z *zmqPair) add(python, script string, work map[string]any) (*half, error) {
	h, err := startHalf(python, script, work)
	if h != nil {
		z.mu.Lock()
		z.halves = append(z.halves, h)
		z.mu.Unlock()
	}
	return h, err
}

func (z *zmqPair) kill() {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, h := range z.halves {
		_ = h.cmd.Process.Kill()
	}
}

func (z *zmqPair) stop() {
	for _, h := range z.halves {
		h.stop()
	}
}

func (z *zmqPair) start(s *Scrapes) error {
	python, err := pythonWithZeroMQ()
	if err != nil {
		return err
	}
	script := filepath.Join(s.Dir, "zeromq.py")
	if err := os.WriteFile(script, zeroMQScript, 0o600); err != nil {
		return fmt.Errorf("write the script: %w", err)
	}
	keys, err := z.add(python, script, map[string]any{"part": "keys"})
	if err != nil {
		return err
	}
	key, err := keys.next()
	if err != nil {
		return err
	}
	var messages []map[string]string
	for _, m := range s.messages() {
		messages = append(messages, map[string]string{"topic": m.topic, "body": string(m.body)})
	}
	z.from, err = z.add(python, script, map[string]any{
		"part": "publish", "public": key.Public, "secret": key.Secret, "messages": messages,
	})
	if err != nil {
		return err
	}
	bound, err := z.from.next()
	if err != nil {
		return err
	}
	z.to, err = z.add(python, script, map[string]any{
		"part": "listen", "public": key.Public, "port": bound.Port, "listeners": s.Listeners, "messages": len(messages),
	})
	if err != nil {
		return err
	}
	return z.wait()
}

// wait sends probes until each listener has received one: a subscription takes effect some time
// after it was made.
func (z *zmqPair) wait() error {
	ready := make(chan error, 1)
	go func() {
		_, err := z.to.next()
		ready <- err
	}()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ready:
			return err
		case <-tick.C:
			if _, err := io.WriteString(z.from.in, "probe\n"); err != nil {
				_ = z.from.cmd.Process.Kill()
				_ = z.to.cmd.Process.Kill()
				return errors.Join(fault.E("peers.zeromq", fault.Unavailable, "", err), <-ready)
			}
		}
	}
}

func (z *zmqPair) scrape(listeners int) (scan.Scrape, error) {
	var one scan.Scrape
	if _, err := io.WriteString(z.from.in, "scrape\n"); err != nil {
		return one, fault.E("peers.zeromq", fault.Unavailable, "", err)
	}
	began, err := z.from.next()
	if err != nil {
		return one, err
	}
	for range listeners {
		arrived, err := z.to.next()
		if err != nil {
			return one, err
		}
		took := time.Duration(arrived.Arrived - began.Began)
		one.Mean += took / time.Duration(listeners)
		one.Slowest = max(one.Slowest, took)
	}
	return one, nil
}
