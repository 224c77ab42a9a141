// Command control measures the cost of commands through the dispatcher: one after another from many callers, and thousands in one call,
// with and without the audit log. See README.md beside it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/control/journal"
	"voltbus/device"
	"voltbus/internal/memory"
	"voltbus/point"
)

func main() {
	memory.Tune()
	var b bench
	flag.StringVar(&b.driver, "driver", "sim", "sim, modbus for real sockets to a farm in this process, or bus for a whole node with simulated devices")
	flag.IntVar(&b.devices, "devices", 4000, "how many devices there are")
	flag.IntVar(&b.callers, "callers", 512, "how many command at once")
	flag.DurationVar(&b.time, "time", 5*time.Second, "how long single commands are sent")
	flag.IntVar(&b.rounds, "rounds", 5, "calls with a command to each device")
	flag.StringVar(&b.dir, "dir", "", "directory for the data, on the disk to measure; default: a temporary one")
	flag.StringVar(&b.profile, "cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "control:", err)
		os.Exit(1)
	}
}

type bench struct {
	driver           string
	devices, callers int
	time             time.Duration
	rounds           int
	dir, profile     string

	configs []device.Config
	points  []point.Path // one of each device
	number  atomic.Int64 // of commands
}

func (b *bench) run() (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if b.driver != "bus" {
		if b.configs, b.points, err = plant(ctx, b.driver, b.devices); err != nil {
			return err
		}
	}
	if b.profile != "" {
		f, err := os.Create(b.profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	fmt.Printf("%d devices, driver %s, %d callers\n", b.devices, b.driver, b.callers)
	if b.driver == "bus" {
		return b.overBus(ctx)
	}
	for _, audited := range []bool{true, false, true, false} {
		if err := b.measure(ctx, audited); err != nil {
			return err
		}
	}
	return nil
}

// unaudited is an audit log that keeps nothing.
type unaudited struct{}

// Append implements dispatch.Audit.
func (unaudited) Append(context.Context, ...audit.Entry) error { return nil }

// nobody takes what devices report.
type nobody struct{}

// Hear implements device.Outlet.
func (nobody) Hear(*point.Scan) {}

// Live implements device.Outlet.
func (nobody) Live(*point.Scan, device.Forms) {}

// Record implements device.Outlet.
func (nobody) Record([]point.Sample) bool { return true }

// Settle implements device.Outlet.
func (nobody) Settle(kept func()) { kept() }

// measure runs a dispatcher and sends it commands.
func (b *bench) measure(ctx context.Context, audited bool) (err error) {
	dir, err := os.MkdirTemp(b.dir, "control-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log := slog.New(slog.DiscardHandler)
	fleet := device.New(nobody{}, log, device.Limits{})
	if err := fleet.Apply(b.configs); err != nil {
		return err
	}
	book, err := audit.Open(ctx, dir, time.Now)
	if err != nil {
		return err
	}
	kept := journal.Open(dir, time.Now)
	cfg := dispatch.Config{Devices: fleet, Journal: kept, Audit: book, Log: log}
	if !audited {
		cfg.Audit = unaudited{}
	}
	for i, path := range b.points {
		cfg.Points = append(cfg.Points, dispatch.Point{Spec: control.Spec{Point: path, Device: b.configs[i].Path, Kind: point.Float, Writable: true}})
	}
	d, err := dispatch.Open(ctx, cfg)
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { err = errors.Join(err, fleet.Run(running)) })
	all.Go(func() { err = errors.Join(err, d.Run(running)) })
	failed := b.both(ctx, d, fleet, audited)
	stop()
	all.Wait()
	return errors.Join(err, failed, kept.Close(), book.Close()) //nolint:contextcheck // what is closed is written, whoever waits
}

// both measures calls with many commands and single ones.
func (b *bench) both(ctx context.Context, d *dispatch.Dispatcher, fleet *device.Fleet, audited bool) error {
	settings := make([]device.Setting, len(b.points))
	alone, called, used := time.Hour, time.Hour, time.Hour
	for round := range b.rounds + 1 { // the first one opens every line
		value := point.FloatOf(float64(20 + round%5))
		for i := range settings {
			settings[i] = device.Setting{Point: b.points[i], Value: value}
		}
		start, begin := processor(), time.Now()
		fleet.WriteMany(ctx, settings)
		own := processor() - start
		if round > 0 {
			alone = min(alone, time.Since(begin))
		}
		start, begin = processor(), time.Now()
		if err := b.call(ctx, d, point.FloatOf(float64(25+round%5))); err != nil && round > 0 {
			return err
		}
		if round > 0 {
			called = min(called, time.Since(begin))
			used = min(used, processor()-start-own)
		}
	}
	rate, cpu, err := b.single(ctx, d)
	fmt.Printf("audit %-5v  one call: %v above the devices' own %v, %v of processor more   single: %.0f/s, %.0f µs of processor each\n",
		audited, (called - alone).Round(time.Millisecond/10), alone.Round(time.Millisecond/10), used.Round(time.Millisecond/10), rate, cpu)
	return err
}

func (b *bench) wish(path point.Path, v point.Value) control.Command {
	return control.Command{
		ID: strconv.FormatInt(b.number.Add(1), 10), Point: path, Requester: "agent:bench", Level: 10, Value: v, Reason: "measured",
	}
}

// call commands every device at once.
func (b *bench) call(ctx context.Context, d *dispatch.Dispatcher, v point.Value) error {
	commands := make([]control.Command, len(b.points))
	for i, path := range b.points {
		commands[i] = b.wish(path, v)
	}
	results, err := d.CommandMany(ctx, commands, time.Minute)
	if err != nil {
		return err
	}
	for i := range results {
		if r := &results[i]; r.Output != control.Confirmed {
			return fmt.Errorf("%s: %v %v: %w", b.points[i], r.Status, r.Output, errors.Join(r.Failed, asError(r)))
		}
	}
	return nil
}

func asError(r *dispatch.Result) error {
	if r.Err == nil {
		return nil
	}
	return r.Err
}

// single has many callers command one point after another, each waiting for the device.
func (b *bench) single(ctx context.Context, d *dispatch.Dispatcher) (rate, cpu float64, err error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	before, begin := processor(), time.Now()
	for k := range b.callers {
		callers.Go(func() {
			for n := 0; time.Since(begin) < b.time; n++ {
				path := b.points[k+n%(len(b.points)/b.callers)*b.callers] // its own ones
				r, err := d.Command(ctx, b.wish(path, point.FloatOf(float64(20+n%7))), time.Minute)
				if err == nil && r.Output != control.Confirmed {
					err = fmt.Errorf("%s: %v %v %w", path, r.Status, r.Output, errors.Join(r.Failed, asError(&r)))
				}
				if err != nil {
					failed.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	callers.Wait()
	if e := failed.Load(); e != nil {
		err = *e
	}
	n := float64(done.Load())
	return n / time.Since(begin).Seconds(), float64((processor() - before).Microseconds()) / n, err
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
