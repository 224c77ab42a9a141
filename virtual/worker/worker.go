// Package worker runs a program that is asked in JSON, an object a line, and answers each with one.
//
// Its standard output belongs to the answers, so such a program sends all other output to its standard error.
package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// The ways in which a program does not answer.
var (
	ErrEnded = errors.New("its process has ended; what it printed says why")
	ErrLate  = errors.New("its process did not answer in time")
)

// Options are how a program is started.
type Options struct {
	Python string    // the interpreter, or another program
	Args   []string  // of it, such as -m voltbus world
	Env    []string  // more variables, each as name=value
	SDK    string    // where it finds the SDK beside what it has; "" for nowhere else
	Log    io.Writer // gets what it prints besides answers
}

// Worker is a running program. Ask and Close are called by one goroutine, Kill by any.
type Worker struct {
	// Patience is how long an answer may take.
	Patience time.Duration

	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	enc     *json.Encoder
	late    sync.Once
	wasLate bool
}

// Start starts a program. It ends with ctx.
func Start(ctx context.Context, o Options) (*Worker, error) {
	w := &Worker{cmd: exec.CommandContext(ctx, o.Python, o.Args...)} //nolint:gosec // the user's interpreter
	w.cmd.Env = append(os.Environ(), "PYTHONUNBUFFERED=1", "PYTHONHASHSEED=0")
	w.cmd.Env = append(w.cmd.Env, o.Env...)
	if o.SDK != "" {
		places := append(filepath.SplitList(os.Getenv("PYTHONPATH")), o.SDK)
		w.cmd.Env = append(w.cmd.Env, "PYTHONPATH="+strings.Join(places, string(filepath.ListSeparator)))
	}
	w.cmd.Stderr = o.Log
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w; set world.python to an interpreter that has the SDK", o.Python, err)
	}
	w.in, w.out, w.enc = in, bufio.NewReaderSize(out, 1<<16), json.NewEncoder(in)
	return w, nil
}

// Ask writes a line and decodes the answer. It fails with ErrEnded or ErrLate, after which the process is gone.
func (w *Worker) Ask(what, answer any) error {
	timer := time.AfterFunc(w.Patience, func() { w.late.Do(func() { w.wasLate = true }); w.Kill() })
	defer timer.Stop()
	err := w.enc.Encode(what)
	var line []byte
	if err == nil {
		line, err = w.out.ReadBytes('\n')
	}
	if err != nil {
		w.late.Do(func() {}) // orders what is read of wasLate behind what was written
		if w.wasLate {
			return ErrLate
		}
		return ErrEnded
	}
	if err := json.Unmarshal(line, answer); err != nil {
		return fmt.Errorf("its process answers %.100q: %w", line, err)
	}
	return nil
}

// Kill ends the process at once.
func (w *Worker) Kill() { _ = w.cmd.Process.Kill() } // it may have ended

// Close has the program stop, and waits for its process.
func (w *Worker) Close() error {
	timer := time.AfterFunc(w.Patience, w.Kill)
	defer timer.Stop()
	_ = w.in.Close()
	_, _ = io.Copy(io.Discard, w.out)
	err := w.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return nil // why it ended was told when it was asked
	}
	return err
}
