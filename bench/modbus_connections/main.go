// Command modbus_connections answers one question: how many Modbus TCP connections can one
// process poll each second without an error? See README.md.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"voltbus/lab/modbusfarm"
)

func main() {
	serve := flag.Bool("serve", false, "be the server: print the address, serve until standard input closes")
	var o options
	flag.StringVar(&o.address, "address", "", "server to poll; one is started if left out")
	flag.IntVar(&o.connections, "connections", 5000, "connections, each with a line and a device of its own")
	flag.DurationVar(&o.period, "period", time.Second, "time between two reads of a connection")
	flag.DurationVar(&o.duration, "duration", 10*time.Second, "how long to poll")
	flag.DurationVar(&o.timeout, "timeout", 2*time.Second, "time-out of a request")
	flag.IntVar(&o.registers, "registers", 100, "registers in a read, 1 to 100")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	do := poll
	if *serve {
		do = func(ctx context.Context, _ options, out io.Writer) error { return beServer(ctx, out) }
	}
	if err := do(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
		os.Exit(1)
	}
}

// poll starts the server if there is none, measures, and prints the result.
func poll(ctx context.Context, o options, out io.Writer) error {
	if o.address == "" {
		address, end, err := startServer(ctx)
		if err != nil {
			return err
		}
		defer end()
		o.address = address
	}
	r, err := measure(ctx, o)
	if err != nil {
		return err
	}
	r.print(out, o)
	if r.errors > 0 {
		return fmt.Errorf("%d of %d reads failed, the first: %w", r.errors, r.reads, r.first)
	}
	return nil
}

// beServer serves one boiler until standard input closes.
func beServer(ctx context.Context, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the process: nothing can interrupt a read of standard input
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	return modbusfarm.Serve(ctx, "127.0.0.1:0", modbusfarm.Config{
		Ready: func(address string) { fmt.Fprintln(out, "ready", address) },
	})
}

// startServer runs this program again as the server. The returned function ends it and waits.
func startServer(ctx context.Context) (address string, end func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	server := exec.CommandContext(ctx, self, "-serve")
	server.Stderr = os.Stderr
	stdin, err := server.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	stdout, err := server.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := server.Start(); err != nil {
		return "", nil, err
	}
	end = func() {
		_ = stdin.Close()
		_ = server.Wait()
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, ready := strings.CutPrefix(strings.TrimSpace(line), "ready ")
	if err != nil || !ready {
		end()
		return "", nil, errors.Join(fmt.Errorf("the server said %q instead of its address", line), err)
	}
	return address, end, nil
}
