package agent

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/agent/place"
	"voltbus/agent/upload"
	"voltbus/fault"
)

// folder is the folder of a node's agents, each in a folder of its own.
type folder string

// removedPrefix is the prefix of the folders of agents being removed, which a killed node leaves behind.
const removedPrefix = ".removed-"

// of returns the place of an agent.
func (f folder) of(name string) place.Place { return place.Place(filepath.Join(string(f), name)) }

// tidy removes what a node left behind when it was killed while installing or removing an agent, and lists the folder of the agents.
func (f folder) tidy() ([]os.DirEntry, error) {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, string(f), err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), upload.Prefix) && !strings.HasPrefix(e.Name(), removedPrefix) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(string(f), e.Name())); err != nil {
			return nil, fault.E("agent.Open", fault.Unavailable, filepath.Join(string(f), e.Name()), err)
		}
	}
	return entries, nil
}

// erase removes an agent's folder in one step, so that a crash leaves either all of it or a folder that is
// not an agent.
func (f folder) erase(p place.Place) error {
	away := filepath.Join(string(f), fmt.Sprintf(removedPrefix+"%s-%d", filepath.Base(string(p)), time.Now().UnixNano()))
	if err := os.Rename(string(p), away); err != nil {
		return fault.E("agent.Remove", fault.Unavailable, string(p), err)
	}
	if err := os.RemoveAll(away); err != nil {
		return fault.E("agent.Remove", fault.Unavailable, away, err)
	}
	return nil
}

// turn waits for the turn to change the installation of an agent; calling end ends the turn. Changes of other agents
// do not wait. It fails when ctx ends.
func (s *Supervisor) turn(ctx context.Context, name string) (end func(), err error) {
	end, err = s.turns.Lock(ctx, name)
	if err != nil {
		return nil, fault.E("agent.turn", fault.KindOf(err), name, fmt.Errorf("wait for another change of this agent: %w", err))
	}
	return end, nil
}
