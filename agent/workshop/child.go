package workshop

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"voltbus/fault"
)

// Child is the process of an agent.
type Child struct {
	Args []string
	Dir  string
	Env  []string          // in addition to that of this process
	Line func(line []byte) // is called with each line that it prints, one at a time; must not retain it
	// Grace is how long it may take to end on request, before it is killed.
	Grace time.Duration
}

// maxLine is how much of a line is passed on at once; the rest follows as further lines.
const maxLine = 64 << 10

// Run runs the process until it ends by itself, which is an error unless its exit code is 0, or ctx ends:
// then it is requested to end. All processes that it started end with it.
func (c *Child) Run(ctx context.Context) error {
	// The kernel asks the child to end when the thread that started it ends.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...) //nolint:gosec // the developer's own program
	cmd.Dir, cmd.Env = c.Dir, append(os.Environ(), c.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = c.Grace
	var mu sync.Mutex
	var copies sync.WaitGroup
	defer copies.Wait()
	for _, to := range []*io.Writer{&cmd.Stdout, &cmd.Stderr} {
		r, w := io.Pipe()
		defer w.Close()
		*to = w
		copies.Go(func() { c.read(r, &mu) })
	}
	if err := cmd.Start(); err != nil {
		return fault.E("workshop.Run", fault.Unavailable, c.Args[0], err)
	}
	err := cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // the processes it left; usually none
	if ctx.Err() != nil || err == nil {
		return nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it ended, but a process that it started kept its output open
	}
	return fault.E("workshop.Run", fault.Rejected, "the agent", err)
}

func (c *Child) read(r io.Reader, mu *sync.Mutex) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			mu.Lock()
			c.Line(line)
			mu.Unlock()
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return // io.EOF: it has ended
		}
	}
}
