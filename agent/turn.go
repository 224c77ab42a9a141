package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"voltbus/fault"
)

// turns lets one change of what is installed of an agent happen at a time. Changes of other agents do not wait.
type turns struct {
	mu    sync.Mutex
	taken map[string]chan struct{} // by the agent's name; closed when the turn ends
}

// take waits for the turn of an agent, which ends with the call of end. It fails when ctx ends.
func (t *turns) take(ctx context.Context, name string) (end func(), err error) {
	mine := make(chan struct{})
	for {
		t.mu.Lock()
		other, is := t.taken[name]
		if !is {
			t.taken[name] = mine
			t.mu.Unlock()
			return func() { t.end(name, mine) }, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fault.E("agent.turn", fault.KindOf(ctx.Err()), name, fmt.Errorf("wait for another change of this agent: %w", ctx.Err()))
		}
	}
}

func (t *turns) end(name string, turn chan struct{}) {
	t.mu.Lock()
	delete(t.taken, name)
	t.mu.Unlock()
	close(turn)
}

// Bounds of uploads that are not installed yet, each of which takes up to MaxUpload of the disk.
const (
	maxUploads  = 16
	eachUploads = 4 // of one person
)

var errUploads = fmt.Errorf("too many installations are under way: up to %d of one person, and %d of all; send this one again when another has ended",
	eachUploads, maxUploads)

// uploads counts what is being uploaded and installed.
type uploads struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by who sends it
}

// begin counts an upload until end is called; fault.Unavailable if there are too many.
func (u *uploads) begin(who string) (end func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all >= maxUploads || u.of[who] >= eachUploads {
		return nil, fault.E("agent.Install", fault.Unavailable, "upload", errUploads)
	}
	u.all++
	u.of[who]++
	return func() { u.end(who) }, nil
}

func (u *uploads) end(who string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all--
	if u.of[who]--; u.of[who] == 0 {
		delete(u.of, who)
	}
}

// What begins the names of folders beside those of the agents, which a node that was killed leaves.
const (
	uploadPrefix  = ".upload-"
	removedPrefix = ".removed-"
)

// received is an upload that was unpacked into a folder of its own.
type received struct {
	dir    string
	source string // the file to install, relative to dir
}

// receive reads an upload to its end. Nothing is locked meanwhile: its sender decides how long that takes.
func (s *Supervisor) receive(req *Request) (up received, discard func() error, err error) {
	end, err := s.uploads.begin(req.By)
	if err != nil {
		return up, nil, err
	}
	up.dir, err = os.MkdirTemp(s.dir, uploadPrefix)
	if err != nil {
		end()
		return up, nil, fault.E("agent.Install", fault.Unavailable, s.dir, err)
	}
	discard = func() error {
		defer end()
		return os.RemoveAll(up.dir)
	}
	source, err := unpack(req.Upload, up.dir)
	if err == nil {
		up.source, err = filepath.Rel(up.dir, source)
	}
	if err != nil {
		return up, nil, errors.Join(err, discard())
	}
	return up, discard, nil
}

// moveTo moves what was received into the folder of a version, and returns the file to install.
func (up *received) moveTo(dir string) (source string, err error) {
	for _, name := range []string{sourceDir, wheelsDir} {
		err := os.Rename(filepath.Join(up.dir, name), filepath.Join(dir, name))
		if name == wheelsDir && errors.Is(err, os.ErrNotExist) {
			continue // it brings nothing that it needs
		}
		if err != nil {
			return "", fault.E("agent.Install", fault.Unavailable, dir, err)
		}
	}
	return filepath.Join(dir, up.source), nil
}

// tidy removes what a node left that was killed while it installed or removed an agent, and lists the folder of the agents.
func (s *Supervisor) tidy() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, s.dir, err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), uploadPrefix) && !strings.HasPrefix(e.Name(), removedPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(s.dir, e.Name())); err != nil {
			return nil, fault.E("agent.Open", fault.Unavailable, filepath.Join(s.dir, e.Name()), err)
		}
	}
	return entries, nil
}
