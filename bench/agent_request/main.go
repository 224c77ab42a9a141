// Command agent_request measures calls between two agents through a node, the delay of live messages to many agents, and single readings
// that an agent records, over TLS on loopback. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"voltbus/bus/client"
	"voltbus/identity"
)

// plan is what is measured.
type plan struct {
	calls   int
	apart   bool   // the agents run in processes of their own
	keep    bool   // record readings instead
	profile string // a file for the processor profile
	agents  int    // that receive live messages
	devices int    // that report
	role    string // of a child: "callee" or "caller"
	place   string // of a child: where the node is
}

// peer is what the peer platform does with the same number of calls at once, measured on two cores.
func peer(atOnce int) string {
	if atOnce == 1 {
		return " (peer: 890/s)"
	}
	return " (peer, 100 at once: 3,060/s)"
}

func main() {
	p := plan{}
	flag.IntVar(&p.calls, "calls", 100_000, "calls in each measurement")
	flag.BoolVar(&p.apart, "apart", false, "run node, caller and callee in a process each")
	flag.BoolVar(&p.keep, "record", false, "record one reading a call, instead of calls between agents")
	flag.StringVar(&p.profile, "profile", "", "write a processor profile of the calls to this file")
	flag.IntVar(&p.agents, "agents", 100, "agents that receive live messages")
	flag.IntVar(&p.devices, "devices", 25, "devices that report to them")
	flag.StringVar(&p.role, "role", "", "for processes that the program starts itself")
	flag.StringVar(&p.place, "place", "", "for processes that the program starts itself")
	flag.Parse()
	if err := p.measure(); err != nil {
		fmt.Fprintln(os.Stderr, "agent_request:", err)
		os.Exit(1)
	}
}

func (p *plan) measure() (err error) {
	ctx, stop := context.WithTimeout(context.Background(), 10*time.Minute)
	defer stop()
	switch p.role {
	case "callee":
		return p.answerCalls(ctx)
	case "caller":
		return p.callFrom(ctx)
	}
	h, err := open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	if p.keep {
		return p.profiled(func() error { return p.record(ctx, h) })
	}
	if p.apart {
		err = p.measureApart(ctx, h)
	} else {
		err = p.measureTogether(ctx, h)
	}
	if err != nil {
		return err
	}
	return p.spread(ctx, h)
}

// measureTogether calls from this process to this process.
func (p *plan) measureTogether(ctx context.Context, h *hall) error {
	callee, err := h.join(ctx, "callee", identity.Grants{})
	if err != nil {
		return err
	}
	defer callee.Close()
	if err := offer(callee); err != nil {
		return err
	}
	caller, err := h.join(ctx, "caller", calling())
	if err != nil {
		return err
	}
	defer caller.Close()
	return p.profiled(func() error { return p.callAll(ctx, caller) })
}

// profiled does the work with a processor profile, if one is asked for.
func (p *plan) profiled(work func() error) error {
	if p.profile == "" {
		return work()
	}
	f, err := os.Create(p.profile)
	if err != nil {
		return err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return errors.Join(err, f.Close())
	}
	err = work()
	pprof.StopCPUProfile()
	return errors.Join(err, f.Close())
}

// offer lets an agent answer what is called.
func offer(c *client.Client) error {
	return c.Handle(client.Method{Name: "double", Do: func(_ context.Context, r *client.Request) (any, error) {
		var v float64
		err := r.Arg(0, &v)
		return 2 * v, err
	}})
}

func calling() identity.Grants {
	return identity.Grants{Call: []identity.CallGrant{{Agent: "callee"}}}
}

// callAll calls one after another, and 100 at once.
func (p *plan) callAll(ctx context.Context, caller *client.Client) error {
	for _, at := range []int{1, 100} {
		if err := callMany(ctx, caller, p.calls/10, at); err != nil { // warm
			return err
		}
		busy, began := processor(), time.Now()
		if err := callMany(ctx, caller, p.calls, at); err != nil {
			return err
		}
		passed := time.Since(began)
		used := processor() - busy
		fmt.Printf("%3d at once: %6.0f calls/s, %4.1f µs of this process's processor time a call%s\n",
			at, float64(p.calls)/passed.Seconds(), float64(used.Microseconds())/float64(p.calls), peer(at))
	}
	return nil
}

// processor returns the processor time that this process used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // cannot fail for oneself
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// callMany calls a method with a number, which answers with another, with so many calls at once.
func callMany(ctx context.Context, c *client.Client, calls, at int) error {
	var left atomic.Int64
	left.Store(int64(calls))
	errs := make([]error, at)
	var group sync.WaitGroup
	for i := range at {
		group.Go(func() {
			var got float64
			for errs[i] == nil && left.Add(-1) >= 0 {
				errs[i] = c.Call(ctx, "callee", "double", &got, 21.5)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// measureApart starts a callee and a caller, and prints what each process used.
func (p *plan) measureApart(ctx context.Context, h *hall) error {
	for name, grants := range map[string]identity.Grants{"callee": {}, "caller": calling()} {
		if err := h.register(ctx, name, grants); err != nil {
			return err
		}
	}
	callee := p.child(ctx, h, "callee")
	in, err := callee.StdinPipe()
	if err != nil {
		return err
	}
	out, err := callee.StdoutPipe()
	if err != nil {
		return err
	}
	if err := callee.Start(); err != nil {
		return err
	}
	if _, err := out.Read(make([]byte, 1)); err != nil { // it is there
		return errors.Join(err, in.Close(), callee.Wait())
	}
	busy := processor()
	caller := p.child(ctx, h, "caller")
	caller.Stdout = os.Stdout
	err = errors.Join(caller.Run(), in.Close(), callee.Wait())
	if err == nil {
		all := float64(2*p.calls) * 1.1
		fmt.Printf("a call of all: node %.1f µs, callee %.1f µs, caller %.1f µs of processor time\n",
			float64((processor()-busy).Microseconds())/all, micros(callee)/all, micros(caller)/all)
	}
	return err
}

func micros(c *exec.Cmd) float64 {
	return float64((c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Microseconds())
}

// child is this program in another role.
func (p *plan) child(ctx context.Context, h *hall, role string) *exec.Cmd {
	c := exec.CommandContext(ctx, os.Args[0], "-role", role, "-place", h.dir+","+h.node.BusAddr(), "-calls", strconv.Itoa(p.calls)) //nolint:gosec // itself
	c.Stderr = os.Stderr
	return c
}

func (p *plan) connect(ctx context.Context) (*client.Client, error) {
	dir, address, _ := strings.Cut(p.place, ",")
	return connect(ctx, dir, address, p.role)
}

// answerCalls is the callee: it answers until its input ends.
func (p *plan) answerCalls(ctx context.Context) error {
	c, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := offer(c); err != nil {
		return err
	}
	fmt.Println()
	_, _ = os.Stdin.Read(make([]byte, 1)) // its end is what it waits for
	return nil
}

func (p *plan) callFrom(ctx context.Context) error {
	c, err := p.connect(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return p.callAll(ctx, c)
}
