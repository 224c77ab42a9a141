// Package rig contains the building blocks of experiments: parts of Voltbus at work, whole nodes in processes of their own, listeners,
// and the child processes that hold them.
package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"voltbus/fault"
	"voltbus/store/duckdb"
)

// Child is a part of an experiment in a process of its own. It ends when its input is closed, so
// also when the process that started it ends in whatever way. One goroutine uses it.
type Child struct {
	kind   string
	cmd    *exec.Cmd
	In     io.WriteCloser
	lines  *bufio.Scanner
	errors *LastWords
	ended  bool
}

// longestLine is what a child may say at once: the latencies of a second of many samples.
const longestLine = 8 << 20

// Start starts program with the kind of part as its last argument and hands it the configuration.
// Stop or Kill it.
func Start(program []string, kind string, config any) (*Child, error) {
	line, err := json.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", kind, err)
	}
	if len(program) == 0 {
		return nil, fault.E("rig.Start", fault.Invalid, kind, errors.New("it is not known how to start this program again"))
	}
	c := &Child{kind: kind, errors: &LastWords{}}
	c.cmd = exec.Command(program[0], append(append([]string{}, program[1:]...), kind)...) //nolint:noctx // ends with its input
	c.cmd.Stderr = c.errors
	c.cmd.WaitDelay = stopTime
	if c.In, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", kind, err)
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", kind, err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fault.E("rig.Start", fault.Unavailable, kind, err)
	}
	c.lines = bufio.NewScanner(out)
	c.lines.Buffer(nil, longestLine)
	if _, err := c.In.Write(append(line, '\n')); err != nil {
		return nil, errors.Join(c.failed(err), c.Kill())
	}
	return c, nil
}

// Process is the number of the process.
func (c *Child) Process() int { return c.cmd.Process.Pid }

// silence is how long a child may say nothing: longer than any needs.
const silence = 10 * time.Minute

// Next reads what the child says next. It fails when the child has ended, or says nothing for ten minutes.
func (c *Child) Next(into any) error { return c.NextWithin(silence, into) }

// NextWithin reads what the child says next. It fails when the child has ended; one that says nothing within that time is
// killed, and the error is a fault.Timeout.
func (c *Child) NextWithin(within time.Duration, into any) error {
	late := time.AfterFunc(within, c.end)
	said := c.lines.Scan()
	if !late.Stop() {
		return c.gone(fault.E("rig.Child", fault.Timeout, c.kind, fmt.Errorf("it said nothing within %s and was killed", within)))
	}
	if !said {
		return c.gone(errors.Join(c.lines.Err(), io.ErrUnexpectedEOF))
	}
	if err := json.Unmarshal(c.lines.Bytes(), into); err != nil {
		return c.failed(fmt.Errorf("it said %.100q: %w", c.lines.Text(), err))
	}
	return nil
}

// gone waits until a child that says nothing more has ended, so that its last words are known.
func (c *Child) gone(why error) error {
	_ = c.In.Close()
	late := time.AfterFunc(stopTime, c.end)
	defer late.Stop()
	return c.failed(errors.Join(why, c.exit()))
}

func (c *Child) failed(err error) error {
	if said := c.errors.String(); said != "" {
		err = fmt.Errorf("%w; its last words: %s", err, said)
	}
	kind := fault.Unavailable
	if fault.Is(err, fault.Timeout) {
		kind = fault.Timeout
	}
	return fault.E("rig.Child", kind, c.kind, fmt.Errorf("the part in its own process failed: %w", err))
}

// stopTime is how long a child may take to end by itself: as long as the service managers of docs/guides/deploy.md give a node.
const stopTime = time.Minute

// Stop closes the child's input and waits until it has ended; it kills it if that takes too long.
func (c *Child) Stop() error {
	if c.ended {
		return nil
	}
	_ = c.In.Close() // closed already when the child has gone
	late := time.AfterFunc(stopTime, c.end)
	defer late.Stop()
	return c.wait()
}

func (c *Child) wait() error {
	if err := c.exit(); err != nil {
		return c.failed(err)
	}
	return nil
}

func (c *Child) exit() error {
	c.ended = true
	for c.lines.Scan() { // what it still says is read, so that it can end
	}
	return c.cmd.Wait()
}

// Signal kills the child and does not wait: what it said before can still be read with Next. Kill
// or Stop it afterwards.
func (c *Child) Signal() error {
	if err := c.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill the %s: %w", c.kind, err)
	}
	return nil
}

// Kill ends the child as a power cut would, and waits until it is gone.
func (c *Child) Kill() error {
	if c.ended {
		return nil
	}
	c.end()
	_ = c.wait() // says that it was killed
	return nil
}

// end kills the process, if it has not ended already. What it started itself ends with its input.
func (c *Child) end() {
	_ = c.cmd.Process.Kill()
	_ = c.In.Close()
}

// Serve plays the part of a child process: kind is the last argument, in and out are its standard
// streams. It returns when in is closed or ctx ends.
func Serve(ctx context.Context, kind string, in io.Reader, out io.Writer) error {
	if duckdb.IsStatement() {
		return duckdb.ServeStatement(ctx)
	}
	switch kind { // these have their own words
	case outstationsKind:
		return serveOutstations(ctx, in, out)
	case stationKind:
		return serveStation(ctx, in, out)
	case crowdKind:
		return serveCrowd(ctx, in, out)
	}
	parts := map[string]func(context.Context, []byte, io.Writer) error{
		ListenerKind: serveListener, nodeKind: serveNode, writersKind: serveWriters, pairsKind: servePairs,
		backlogKind: serveBacklog,
	}
	part, ok := parts[kind]
	if !ok {
		return fault.E("rig.Serve", fault.NotFound, kind, errors.New("there is no such part"))
	}
	return ServePart(ctx, kind, part, in, out)
}

// ServePart plays a part that is handed its configuration, and whose context ends when in is closed.
func ServePart(ctx context.Context, kind string, part func(context.Context, []byte, io.Writer) error, in io.Reader, out io.Writer) error {
	reader := bufio.NewReader(in)
	config, err := reader.ReadBytes('\n')
	if err != nil {
		return fault.E("rig.Serve", fault.Invalid, kind, fmt.Errorf("read the configuration: %w", err))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the input, that is with this process at the latest
		_, _ = io.Copy(io.Discard, reader)
		cancel()
	}()
	return part(ctx, config, out)
}

// say writes one line for Child.Next.
func say(out io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	return err
}
