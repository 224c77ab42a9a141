package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"time"

	"voltbus/fault"
	"voltbus/lab/dnp3pairs"
)

// Pairs measures pairs of a DNP3 master and an outstation in a process of their own, so that the
// memory of nothing else counts.
type Pairs struct {
	Sessions  int           `json:"sessions"`
	Values    int           `json:"values"`     // of each message
	Workers   int           `json:"workers"`    // processors that each process may use, and goroutines that serve its connections
	GCPercent int           `json:"gc_percent"` // GOGC of the processes
	Split     bool          `json:"split"`      // outstations in a second process
	WarmUp    time.Duration `json:"warm_up"`
	Duration  time.Duration `json:"duration"`
	Program   []string      `json:"program"` // how this program is started again
}

const (
	pairsKind       = "dnp3-pairs"
	outstationsKind = "dnp3-outstations"
	pairsEnv        = "VOLTBUS_DNP3_PAIRS" // the work of the process with the outstations
)

// measured is a line of the process.
type measured struct {
	Result dnp3pairs.Result `json:"result"`
	Error  string           `json:"error"`
}

// Measure starts the process and returns what came of it.
func (p Pairs) Measure(ctx context.Context) (r dnp3pairs.Result, err error) {
	c, err := Start(p.Program, pairsKind, p)
	if err != nil {
		return r, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.In.Close() })() // with which the process ends
	var m measured
	err = c.Next(&m)
	if err == nil && m.Error != "" {
		err = fault.E("rig.Pairs", fault.Unavailable, "", errors.New(m.Error))
	}
	return m.Result, errors.Join(ctx.Err(), err, c.Stop())
}

// servePairs measures in this process.
func servePairs(ctx context.Context, config []byte, out io.Writer) error {
	var p Pairs
	if err := json.Unmarshal(config, &p); err != nil {
		return fault.E("rig.Serve", fault.Invalid, pairsKind, err)
	}
	p.bound()
	o := p.options()
	if p.Split {
		o.Other = func(ctx context.Context) *exec.Cmd {
			cmd := exec.CommandContext(ctx, p.Program[0], append(append([]string{}, p.Program[1:]...), outstationsKind)...)
			cmd.Env = append(os.Environ(), pairsEnv+"="+string(config))
			cmd.Stderr = os.Stderr
			return cmd
		}
	}
	var m measured
	var err error
	if m.Result, err = dnp3pairs.Measure(ctx, o); err != nil {
		m.Error = err.Error()
	}
	return say(out, m)
}

// serveOutstations is the second process.
func serveOutstations(ctx context.Context, in io.Reader, out io.Writer) error {
	var p Pairs
	if err := json.Unmarshal([]byte(os.Getenv(pairsEnv)), &p); err != nil {
		return fault.E("rig.Serve", fault.Invalid, outstationsKind, fmt.Errorf("read the work: %w", err))
	}
	p.bound()
	return dnp3pairs.Serve(ctx, p.options(), in, out)
}

func (p *Pairs) bound() {
	runtime.GOMAXPROCS(p.Workers)
	debug.SetGCPercent(p.GCPercent)
}

func (p *Pairs) options() dnp3pairs.Options {
	return dnp3pairs.Options{Sessions: p.Sessions, Values: p.Values, Workers: p.Workers, Duration: p.Duration, Warmup: p.WarmUp}
}
