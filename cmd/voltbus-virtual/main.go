// Command voltbus-virtual runs whole nodes in the time of a world: "voltbus world" starts it, and tells it on its standard input how far time may go.
//
// It is built without C and with the simulated time of Go's runtime (make virtual), so everything in it that waits, waits for that time: scans, leases,
// the log, links between nodes, and the libraries.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"voltbus/virtual/clock"
	"voltbus/virtual/whole"
)

// lead is how long nodes may take, in the time of the world, to be up before it begins.
const lead = time.Minute

func main() {
	if err := run(); err != nil {
		text := []byte("voltbus-virtual: " + err.Error() + "\n")
		if out, failed := clock.Output(syscall.Stderr); failed == nil {
			_, _ = out.Write(text) // nobody is left to be told
		}
		os.Exit(1)
	}
}

func run() (err error) {
	if !clock.Simulated {
		return errors.New(`it was built with the clock of the machine; build it with "make virtual", or start "voltbus world run"`)
	}
	hold, err := clock.NewHold(syscall.Stdin)
	if err != nil {
		return err
	}
	out, err := clock.Output(syscall.Stdout)
	if err != nil {
		return err
	}
	messages, err := clock.Output(syscall.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "voltbus-virtual-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := session{in: json.NewDecoder(bufio.NewReader(hold)), out: json.NewEncoder(out)}
	var hello whole.Hello
	if err := s.in.Decode(&hello); err != nil {
		return fmt.Errorf("what it is to run: %w", err)
	}
	clock.Begin(hello.Start.Add(-lead))
	log := slog.New(slog.NewTextHandler(messages, &slog.HandlerOptions{Level: slog.LevelWarn}))
	e, err := open(context.Background(), &hello, dir, log)
	if err != nil {
		return s.out.Encode(whole.Answer{Error: err.Error()})
	}
	defer func() { err = errors.Join(err, e.close()) }()
	return s.follow(e)
}

// session is what the world tells, and what it is answered.
type session struct {
	in  *json.Decoder
	out *json.Encoder
}

// follow does what the world grants until it says no more.
func (s *session) follow(e *estate) error {
	e.goTo(0)
	if err := s.out.Encode(whole.Answer{}); err != nil {
		return err
	}
	for {
		var g whole.Grant
		err := s.in.Decode(&g)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var a whole.Answer
		if g.Report {
			a.Report, err = e.report(context.Background(), g.To)
		} else {
			a.Writes, err = e.pass(&g)
		}
		if err != nil {
			a.Error = err.Error()
		}
		if err := s.out.Encode(a); err != nil {
			return err
		}
	}
}
