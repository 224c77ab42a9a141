// Command dnp3 answers three questions: how many confirmed unsolicited messages can one
// process exchange over how many DNP3 sessions, and what does one cost? How many reach the log of a
// node? And how many outstations can one master process serve? See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"

	"voltbus/lab/dnp3pairs"
)

// Roles of a process.
const (
	roleBoth       = "both"
	roleSplit      = "split"
	roleFleet      = "fleet"
	roleNode       = "node"       // the masters are those of a node
	roleOutstation = "outstation" // the second process
)

func main() {
	sessions := flag.String("sessions", "1,64,1000", "numbers of sessions, each measured in turn")
	values := flag.String("values", "100", "numbers of values in a message, each measured in turn")
	var o options
	flag.DurationVar(&o.Duration, "duration", 3*time.Second, "how long to measure each")
	flag.DurationVar(&o.Warmup, "warmup", time.Second, "how long to run before that")
	flag.StringVar(&o.role, "role", roleBoth, "both ends in this process, split over two processes, node: a node in this process and the outstations in another one, or fleet: all outstations behind one master process")
	flag.IntVar(&o.Workers, "workers", runtime.NumCPU(), "goroutines that serve the connections of a process; 0: each connection has its own")
	flag.StringVar(&o.store, "store", "none", "of a node: none, or duckdb to store what is in the log")
	flag.StringVar(&o.dir, "dir", "", "directory for the data of a node, on the disk to measure; default: a temporary one")
	flag.BoolVar(&o.Fleet, "fleet", false, "used for the second process of a fleet")
	flag.StringVar(&o.profile, "profile", "", "write a processor profile of the measured time of one combination to this file")
	flag.BoolVar(&o.bare, "bare", false, "measure one combination in this process and print its row only")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, o, *sessions, *values)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// options are what is asked for.
type options struct {
	dnp3pairs.Options

	role    string
	profile string
	store   string // of a node
	dir     string // of its data
	bare    bool   // print the row of one combination only
}

func run(ctx context.Context, o options, sessions, values string) error {
	many, err := numbers(sessions)
	if err != nil {
		return err
	}
	each, err := numbers(values)
	if err != nil {
		return err
	}
	o.Sessions, o.Values = many[0], each[0]
	switch {
	case o.role == roleOutstation:
		return dnp3pairs.Serve(ctx, o.Options, os.Stdin, os.Stdout)
	case o.bare:
		return measure(ctx, o)
	}
	fmt.Println(heads(o.role))
	for _, o.Sessions = range many {
		for _, o.Values = range each {
			if err := fresh(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// heads returns the head of the table.
func heads(role string) string {
	if role == roleFleet {
		return "| outstations | events each | connected s | integrity poll s | values | storm s | events | CPU s | peak RSS MB |\n" +
			"| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
	}
	return "| ends | sessions | values | messages/s | cores | CPU µs/message | peak RSS kB | RSS kB/pair |\n" +
		"| --- | --- | --- | --- | --- | --- | --- | --- |"
}

// measure measures one combination and prints its row.
func measure(ctx context.Context, o options) error {
	if o.role != roleBoth {
		o.Fleet = o.role == roleFleet
		o.Other = o.second
	}
	if o.role == roleFleet {
		r, err := dnp3pairs.MeasureFleet(ctx, o.Options)
		if err == nil {
			fmt.Printf("| %d | %d | %.1f | %.1f | %d | %.1f | %d | %.1f | %.0f |\n", o.Sessions, o.Values, r.Connect.Seconds(),
				r.Integrity.Seconds(), r.Values, r.Storm.Seconds(), r.Events, r.CPU.Seconds(), float64(r.PeakKB)/1024)
		}
		return err
	}
	if o.profile != "" {
		o.Began = o.profiled
	}
	run := func() (dnp3pairs.Result, error) { return dnp3pairs.Measure(ctx, o.Options) }
	if o.role == roleNode {
		run = func() (dnp3pairs.Result, error) { return through(ctx, o) }
	}
	r, err := run()
	if err == nil {
		fmt.Printf("| %s | %d | %d | %.0f | %.2f | %.1f | %d | %.1f |\n", o.role, o.Sessions, o.Values,
			float64(r.Messages)/r.Elapsed.Seconds(), r.CPU.Seconds()/r.Elapsed.Seconds(),
			float64(r.CPU.Microseconds())/float64(max(r.Messages, 1)), r.PeakKB, float64(r.GrownKB)/float64(o.Sessions))
	}
	return err
}

// profiled writes a processor profile.
func (o *options) profiled() func() {
	f, err := os.Create(o.profile)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = f.Close()
	}
}

// second returns the command of the process with the outstations.
func (o *options) second(ctx context.Context) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0], "-role", roleOutstation, "-fleet="+strconv.FormatBool(o.Fleet),
		"-sessions", strconv.Itoa(o.Sessions), "-values", strconv.Itoa(o.Values), "-workers", strconv.Itoa(o.Workers))
	cmd.Stderr = os.Stderr
	return cmd
}

// fresh measures one combination in a process of its own, so that memory of an earlier
// one does not count.
func fresh(ctx context.Context, o options) error {
	cmd := exec.CommandContext(ctx, os.Args[0], "-bare", "-role", o.role, "-sessions", strconv.Itoa(o.Sessions),
		"-values", strconv.Itoa(o.Values), "-workers", strconv.Itoa(o.Workers), "-duration", o.Duration.String(), "-warmup", o.Warmup.String(), "-profile", o.profile,
		"-store", o.store, "-dir", o.dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

func numbers(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 20_000 {
			return nil, fmt.Errorf("%q: write numbers from 1 to 20000, separated by commas", list)
		}
		all = append(all, n)
	}
	return all, nil
}
