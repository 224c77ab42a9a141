package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/agent/place"
	"voltbus/agent/process"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// Record is the state of an agent that outlasts a restart of the node, in its agent.json.
type Record struct {
	Name      string         `json:"name"`
	Version   int            `json:"version"` // the running version, a folder below versions
	Previous  []int          `json:"previous,omitempty"`
	Priority  int            `json:"priority"`
	Autostart Autostart      `json:"autostart,omitempty"`
	Wanted    bool           `json:"wanted"`
	Memory    int64          `json:"memory"` // maximum resident memory in bytes; 0 for the node's default
	UID       int            `json:"uid,omitempty"`
	Installed time.Time      `json:"installed"`
	Process   process.Orphan `json:"process"` // the latest process, to find it after a crash of the node
	Program   Program        `json:"program"` // of the running version
}

// Program is an installed version, according to its own description. Its strings are untrusted.
type Program struct {
	Args    []string        `json:"args"` // command line that starts it
	Title   string          `json:"title"`
	Entry   string          `json:"entry,omitempty"`   // module:Class
	Release string          `json:"release,omitempty"` // the package's version
	Wants   json.RawMessage `json:"wants,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"` // JSON Schema of its configuration
	Methods json.RawMessage `json:"methods,omitempty"`
}

// load reads the record of an agent.
func load(p place.Place) (Record, error) {
	var r Record
	file := p.In(place.Record)
	if err := readJSON(file, &r); err != nil {
		return r, err
	}
	if r.Name != filepath.Base(string(p)) || CheckName(r.Name) != nil {
		return r, fault.E("agent.load", fault.Corrupt, file, fmt.Errorf(
			"names another agent, %.70q: restore it from a copy, or remove the folder", r.Name))
	}
	return r, nil
}

// save stores the record of an agent.
func save(p place.Place, r Record) error { return writeJSON(p.In(place.Record), r) }

func readJSON(file string, into any) error {
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return fault.E("agent.read", fault.NotFound, file, errors.New("does not exist"))
	} else if err != nil {
		return fault.E("agent.read", fault.Unavailable, file, err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fault.E("agent.read", fault.Corrupt, file, fmt.Errorf("cannot be read: %w; restore it from a copy, or remove the folder", err))
	}
	return nil
}

func writeJSON(file string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fault.E("agent.write", fault.Internal, file, err)
	}
	if err := (atomicfile.Writer{}).Write(file, append(b, '\n'), 0o600); err != nil {
		return fault.E("agent.write", fault.Unavailable, file, err)
	}
	return nil
}
