// Command dnp3 answers one question: how many confirmed unsolicited messages can one
// process exchange over how many DNP3 sessions, and what does one cost? See README.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

func main() {
	sessions := flag.String("sessions", "1,64,1000", "numbers of sessions, each measured in turn")
	values := flag.String("values", "100", "numbers of values in a message, each measured in turn")
	var o options
	flag.DurationVar(&o.duration, "duration", 3*time.Second, "how long to measure each")
	flag.DurationVar(&o.warmup, "warmup", time.Second, "how long to run before that")
	flag.StringVar(&o.role, "role", "both", "both ends in this process, or split over two processes; outstation is the second one")
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
	sessions, values int
	duration, warmup time.Duration
	role             string
	profile          string
	bare             bool // print the row of one combination only
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
	if o.role == roleOutstation {
		o.sessions, o.values = many[0], each[0]
		return serve(ctx, o)
	}
	if len(many) == 1 && len(each) == 1 && o.bare {
		o.sessions, o.values = many[0], each[0]
		r, err := measure(ctx, o)
		if err == nil {
			r.print(o)
		}
		return err
	}
	fmt.Println("| ends | sessions | values | messages/s | cores | CPU µs/message | peak RSS kB | RSS kB/pair |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, o.sessions = range many {
		for _, o.values = range each {
			if err := fresh(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh measures one combination in a process of its own, so that memory of an earlier
// one does not count.
func fresh(ctx context.Context, o options) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-bare", "-role", o.role, "-sessions", strconv.Itoa(o.sessions),
		"-values", strconv.Itoa(o.values), "-duration", o.duration.String(), "-warmup", o.warmup.String())
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
