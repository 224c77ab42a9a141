// Command start measures the time from a node's start to its first sample, and its memory when idle. See README.md beside it.
package main

import (
	"context"
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

	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/node"
	"voltbus/operation/devices"
)

func main() {
	bin := flag.String("bin", "bin/voltbus", "the program")
	runs := flag.Int("runs", 5, "starts that are timed")
	idle := flag.Duration("idle", 20*time.Second, "how long a node rests before its memory is read")
	flag.Parse()
	for _, engine := range []string{"duckdb", "none"} {
		if err := measure(*bin, engine, *runs, *idle); err != nil {
			fmt.Fprintln(os.Stderr, "start:", err)
			os.Exit(1)
		}
	}
}

const site = `node: {name: bench}
listen: {http: 127.0.0.1:0, bus: 127.0.0.1:0}
store: {engine: %s}
devices:
  - {path: "site/zone{n}", driver: sim, interval: 10s, count: 10, config: {model: zone}}
`

func measure(bin, engine string, runs int, idle time.Duration) error {
	var times []float64
	for range runs {
		took, err := once(bin, engine, 0)
		if err != nil {
			return err
		}
		times = append(times, took.Seconds())
	}
	slices.Sort(times)
	fmt.Printf("store %-7s first sample %.3f s after the start (min %.3f, max %.3f, %d runs)\n",
		engine, times[len(times)/2], times[0], times[len(times)-1], runs)
	_, err := once(bin, engine, idle)
	return err
}

// once starts a node in a new directory and waits for its first sample; with idle it then rests,
// and its memory is printed.
func once(bin, engine string, idle time.Duration) (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "voltbus-bench-start")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := filepath.Join(dir, "voltbus.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, site, engine), 0o600); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second+idle)
	defer cancel()
	begin := time.Now()
	cmd := exec.CommandContext(ctx, bin, "run", "--config", file, "--log-level", "error")
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cmd.Process.Signal(syscall.SIGINT), cmd.Wait()) }()
	if err := firstSample(ctx, filepath.Join(dir, "data"), engine); err != nil {
		return 0, err
	}
	took = time.Since(begin)
	if idle > 0 {
		time.Sleep(idle)
		fmt.Printf("store %-7s idle memory %s\n", engine, resident(cmd.Process.Pid))
	}
	return took, nil
}

// firstSample waits until the API answers with a sample; without a store, until a device was read.
func firstSample(ctx context.Context, data, engine string) error {
	for {
		if ctx.Err() != nil {
			return errors.New("no sample came")
		}
		if c, err := connect(data); err == nil {
			if engine == "none" {
				if d, err := client.Do(ctx, c, devices.List, struct{}{}); err == nil && d.Devices[0].Reads > 0 {
					return nil
				}
			} else if l, err := c.Latest(ctx, client.Span{}); err == nil && len(l.Samples) > 0 {
				return nil
			}
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func connect(data string) (*client.Client, error) {
	text, err := os.ReadFile(filepath.Join(data, node.AddressFile))
	if err != nil {
		return nil, err
	}
	var a node.Addresses
	if err := json.Unmarshal(text, &a); err != nil {
		return nil, err
	}
	token, err := identity.ReadToken(filepath.Join(data, identity.AdminTokenFile))
	if err != nil {
		return nil, err
	}
	return client.New(a.HTTP, token, nil)
}

// resident returns the memory of a process as the kernel counts it, and how much of that is its own: the rest
// are pages of the program's file, which the kernel maps some at a time and takes back when memory is short.
func resident(pid int) string {
	return inStatus(pid, "VmRSS:") + ", of which its own " + inStatus(pid, "RssAnon:")
}

func inStatus(pid int, what string) string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(status)) {
		if rest, found := strings.CutPrefix(line, what); found {
			return strings.TrimSpace(rest)
		}
	}
	return "unknown"
}
