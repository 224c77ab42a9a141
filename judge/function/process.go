package function

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"voltbus/agent/jail"
	"voltbus/agent/launch"
	"voltbus/agent/process"
)

// running is a process that answers requests through pipes.
type running struct {
	cmd       *exec.Cmd
	in, out   *os.File
	complaint tail
	uid       int           // whose processes end with it; 0 for none
	done      chan struct{} // closed when it has ended
	state     *os.ProcessState
}

// start starts a process. It has become the program of the spec, or failed to, when it answers for the first time.
func start(through []string, spec *jail.Spec, uid int) (*running, error) {
	cmd, err := launch.Command(through, spec, []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/", "LC_ALL=C.UTF-8", "OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"})
	if err != nil {
		return nil, err
	}
	p := &running{cmd: cmd, uid: uid, done: make(chan struct{})}
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	p.in, p.out = in, out
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, &p.complaint
	cmd.WaitDelay = launch.Drain // another process may hold its output open
	began := make(chan error, 1)
	go p.live(began)
	err = <-began
	if err = errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// live starts the process and waits for its end, from one thread: the kernel ends the process when the thread that started it ends.
func (p *running) live(began chan<- error) {
	defer close(p.done)
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	err := p.cmd.Start()
	began <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // the state tells
	p.state = p.cmd.ProcessState
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // the rest of its group, if any
	if p.uid != 0 {
		process.EndUser(p.uid)
	}
}

// end kills the process, and returns when it has ended.
func (p *running) end() {
	if p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // it may have ended
	}
	<-p.done
	_ = p.in.Close()
	_ = p.out.Close()
}

// ended describes the end of a process that gave no answer.
func (p *running) ended() error {
	p.end()
	text := "could not be started"
	if p.state != nil {
		text = "ended with " + p.state.String()
	}
	if last := p.complaint.last(); last != "" {
		text += ": " + last
	}
	return fmt.Errorf("its process %s", text)
}

// reply is an answer of a process.
type reply struct {
	Said   []said `json:"said"`
	Failed string `json:"failed"`
	Memory bool   `json:"memory"` // it failed because it has not enough
}

// said is a verdict other than to pass.
type said struct {
	reading int
	letter  string
	reason  string
}

// UnmarshalJSON implements json.Unmarshaler: it is a list of three.
func (s *said) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&s.reading, &s.letter, &s.reason})
}

// mostAnswer bounds an answer: a reason of 500 characters for each reading.
const mostAnswer = 16 << 20

var (
	errDeadline = errors.New("it gave no answer in time")
	errAnswer   = errors.New("its process gave an answer that cannot be read")
)

// ask sends a request, and returns the answer to it, within a time.
func (p *running) ask(ctx context.Context, request []byte, limit time.Duration) (r reply, err error) {
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() }) // it may have ended
	defer stop()
	until := time.Now().Add(limit)
	if err := errors.Join(p.in.SetDeadline(until), p.out.SetDeadline(until)); err != nil {
		return r, err
	}
	// A process that fails answers without having read all: it is read in any case.
	var writing sync.WaitGroup
	var unsent error
	writing.Go(func() {
		head := binary.BigEndian.AppendUint32(nil, uint32(len(request))) //nolint:gosec // bounded by the readings of a request
		if _, unsent = p.in.Write(head); unsent == nil {
			_, unsent = p.in.Write(request)
		}
	})
	r, err = p.receive()
	if err != nil {
		_ = p.in.SetDeadline(time.Now()) // it reads no more
	}
	writing.Wait()
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded), err == nil && errors.Is(unsent, os.ErrDeadlineExceeded):
		return r, fmt.Errorf("%w: the limit is %s; the key timeout of the rule raises it", errDeadline, limit)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return r, p.ended()
	}
	return r, err
}

func (p *running) receive() (r reply, err error) {
	var head [4]byte
	if _, err := io.ReadFull(p.out, head[:]); err != nil {
		return r, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > mostAnswer {
		return r, fmt.Errorf("%w: it has %d bytes", errAnswer, size)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(p.out, body); err != nil {
		return r, err
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("%w: %w", errAnswer, err)
	}
	return r, nil
}

// tail keeps the last of what a process says.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const mostTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	t.text = t.text[max(0, len(t.text)-mostTail):]
	return len(b), nil
}

// last returns the last line.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := bytes.TrimSpace(t.text)
	return strings.ToValidUTF8(string(text[bytes.LastIndexByte(text, '\n')+1:]), "·")
}
