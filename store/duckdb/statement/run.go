package statement

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"voltbus/fault"
)

var (
	errNoProcess = errors.New("this program was started without the means to run statements in a process of their own")
	errTooMuch   = errors.New("the statement took more memory or time than it may, or met a fault of the engine, and was ended; ask for less at a time")
)

// tail keeps the beginning of a process's last output.
type tail struct{ bytes.Buffer }

// Write never fails.
func (t *tail) Write(p []byte) (int, error) {
	if room := 2048 - t.Len(); room > 0 {
		t.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// Run starts the command with the task, and passes the answer on. It returns after the process has ended; it
// kills the process when ctx ends, the answer is refused, or the files in Temp exceed Spill. Errors are of the
// kinds Invalid, Refused, Timeout, Canceled and Unavailable, or those of columns and row.
func Run(ctx context.Context, command []string, t *Task, columns func([]string) error, row func([]any) error) error {
	const op = "duckdb.SQL"
	if len(command) == 0 {
		return fault.E(op, fault.Unavailable, "", errNoProcess)
	}
	ctx, cancel := context.WithTimeout(ctx, t.Time)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	defer func() { stop(nil); <-watched }()
	go func() { defer close(watched); t.watch(ctx, stop) }()
	task, err := json.Marshal(t)
	if err != nil {
		return fault.E(op, fault.Internal, "", err)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...) // killed when ctx ends
	var said tail
	cmd.Env, cmd.Dir, cmd.Stderr = []string{Env + "=1", "GOTRACEBACK=none"}, "/", &said
	in, err := cmd.StdinPipe()
	if err != nil {
		return fault.E(op, fault.Unavailable, "", err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fault.E(op, fault.Unavailable, "", fmt.Errorf("start a process for the statement: %w", err))
	}
	supply := &supply{ctx: ctx, task: t, in: in}
	defer supply.end()
	if _, err = in.Write(task); err != nil {
		err = errFrame // it ended before it read its task
	} else {
		err = read(bufio.NewReaderSize(out, 64<<10), &answerTo{columns: columns, row: row, need: supply.need})
	}
	over := context.Cause(ctx)
	cancel()
	_ = cmd.Wait() // it has answered, or is killed
	switch {
	case err == nil || !errors.Is(err, errFrame):
		return err
	case errors.Is(over, errDisk):
		return fault.E(op, fault.Unavailable, "", over)
	case over != nil:
		return fault.E(op, fault.KindOf(over), "", over)
	}
	if words, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); words != "" {
		return fault.E(op, fault.Unavailable, "", fmt.Errorf("%w (%.200s)", errTooMuch, words))
	}
	return fault.E(op, fault.Unavailable, "", errTooMuch)
}

// supply answers a process that asks for views of the task's Source.
type supply struct {
	ctx  context.Context //nolint:containedctx // it lives as long as the process
	task *Task
	in   io.Writer
	done func()
}

func (s *supply) need(text []byte) error {
	var need Need
	if err := json.Unmarshal(text, &need); err != nil || s.task.Source == nil || s.done != nil {
		return errFrame
	}
	views, done, err := s.task.Source.Views(s.ctx, need)
	if err != nil {
		return err
	}
	s.done = done
	if err := json.NewEncoder(s.in).Encode(views); err != nil {
		return errFrame
	}
	return nil
}

func (s *supply) end() {
	if s.done != nil {
		s.done()
	}
}
