// Package peers runs independent programs that do the same work in the same run as Voltbus: message buses and stores. Each is started for
// one trial in a directory of its own, listens on loopback, and ends with the trial.
package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"voltbus/fault"
	"voltbus/lab/rig"
)

// server is a peer's process. One goroutine uses it.
type server struct {
	name    string
	address string
	cmd     *exec.Cmd
	words   *rig.LastWords
	ended   chan struct{}
}

// startTime is how long a peer may take until it listens, stopTime until it has ended.
const (
	startTime = 90 * time.Second
	stopTime  = 20 * time.Second
)

// start starts the command and waits until it listens at the address.
func start(ctx context.Context, cmd *exec.Cmd, address string) (*server, error) {
	s := &server{name: cmd.Path, address: address, cmd: cmd, words: &rig.LastWords{}, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = s.words, s.words
	cmd.WaitDelay = time.Second
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // what it starts is ended with it
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	if err := cmd.Start(); err != nil {
		return nil, fault.E("peers.start", fault.Unavailable, cmd.Path, err)
	}
	go func() {
		_ = cmd.Wait() // how it ended is no news to anybody
		close(s.ended)
	}()
	if err := s.waitUntilItListens(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *server) waitUntilItListens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fault.E("peers.start", fault.Timeout, s.name, fmt.Errorf("it does not listen at %s: %w%s", s.address, ctx.Err(), s.lastWords()))
		case <-s.ended:
			return fault.E("peers.start", fault.Unavailable, s.name, fmt.Errorf("it ended before it listened%s", s.lastWords()))
		case <-tick.C:
		}
	}
}

func (s *server) lastWords() string {
	if said := s.words.String(); said != "" {
		return "; its last words: " + said
	}
	return ""
}

// stop ends the process and what it started.
func (s *server) stop() error {
	group := -s.cmd.Process.Pid
	_ = syscall.Kill(group, syscall.SIGTERM) // has gone already: nothing to do
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-s.ended:
	case <-late.C:
	}
	_ = syscall.Kill(group, syscall.SIGKILL) // for what did not want to go
	<-s.ended
	return nil
}

// waitUntilNobodyListens waits until the address is free: what a script has started ends a little later than the script.
func (s *server) waitUntilNobodyListens(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
		if err != nil {
			return nil
		}
		_ = conn.Close()
		<-tick.C
	}
}

// process is the number of the process.
func (s *server) process() int { return s.cmd.Process.Pid }

// find looks for a program on the path and in further directories, which may hold patterns.
func find(program, how string, dirs ...string) (string, error) {
	for _, place := range append([]string{program}, join(dirs, program)...) {
		if path, err := exec.LookPath(place); err == nil {
			return path, nil
		}
	}
	return "", fault.E("peers.find", fault.NotFound, program, fmt.Errorf("it is not installed; %s", how))
}

func join(dirs []string, program string) []string {
	var out []string
	for _, d := range dirs {
		out = append(out, d+"/"+program)
	}
	return out
}

// freePort returns a port of loopback that nobody listens at.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed at once
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.Join(errors.New("find a free port: no TCP address"), l.Close())
	}
	return addr.Port, l.Close()
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
