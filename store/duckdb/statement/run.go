package statement

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stderr = []string{Env + "=1", "GOTRACEBACK=none"}, "/", bytes.NewReader(task), &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fault.E(op, fault.Unavailable, "", fmt.Errorf("start a process for the statement: %w", err))
	}
	err = read(bufio.NewReaderSize(out, 64<<10), columns, row)
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
