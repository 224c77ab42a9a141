package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"voltbus/lab/modbusfarm"
)

// ready is what a process prints before its address.
const ready = "listens at "

// ServeBoiler plays the boiler in this process until ctx ends or input is closed, which is how it
// ends with the process that started it. It prints its address to out.
func ServeBoiler(ctx context.Context, input io.Reader, out io.Writer) error {
	ctx, cancel := while(ctx, input)
	defer cancel()
	return modbusfarm.Serve(ctx, "127.0.0.1:0", modbusfarm.Config{
		Units: 2, Seed: 1, Ready: func(address string) { fmt.Fprintln(out, ready+address) },
	})
}

// while returns a context that ends with ctx or when input is closed.
func while(ctx context.Context, input io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, input)
		cancel()
	}()
	return ctx, cancel
}

// Process is a process that plays devices.
type Process struct {
	Address string
	process *exec.Cmd
	input   io.Closer
}

// Start starts the command, which runs ServeBoiler or ServeCampus, and waits until it listens.
func Start(command *exec.Cmd) (*Process, error) {
	input, err := command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the devices: %w", err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the devices: %w", err)
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the devices: %w", err)
	}
	p := &Process{process: command, input: input}
	line, err := bufio.NewReader(output).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), ready)
	if err != nil || !found {
		return nil, errors.Join(fmt.Errorf("the process %s did not start: it said %q", strings.Join(command.Args, " "), line), p.Stop())
	}
	p.Address = address
	return p, nil
}

// ID returns the number of the process.
func (p *Process) ID() int { return p.process.Process.Pid }

// Stop ends the process and waits for it.
func (p *Process) Stop() error {
	err := p.input.Close()
	if waited := p.process.Wait(); waited != nil {
		return fmt.Errorf("end the devices: %w", waited)
	}
	return err
}
