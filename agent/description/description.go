// Package description finds out which agents an installed Python package contains and what they do, without starting them.
package description

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"voltbus/fault"
)

//go:embed check.py
var script string

// Runner runs a program to its end and returns its output. Its error contains the last lines of the program's
// error output.
type Runner func(ctx context.Context, args []string) ([]byte, error)

// Entry is an agent that a package offers.
type Entry struct {
	Name    string `json:"name"`
	Entry   string `json:"entry"`   // module:Class
	Release string `json:"release"` // the version of the package
}

// Description is what an agent declares about itself. Its strings are untrusted.
type Description struct {
	Name    string          `json:"name"`
	Doc     string          `json:"doc"`
	Version string          `json:"version"`
	Wants   json.RawMessage `json:"wants,omitempty"`         // requested grants; nil for none
	Schema  json.RawMessage `json:"config_schema,omitempty"` // JSON Schema of its configuration; nil for none
	Methods json.RawMessage `json:"methods,omitempty"`       // nil for none
}

// Find returns the agent among the packages visible to an interpreter: the wanted one or, for "", the only
// one. Sources that Python cannot parse are fault.Invalid.
func Find(ctx context.Context, run Runner, interpreter, wanted string) (Entry, error) {
	const op = "description.Find"
	out, err := run(ctx, []string{interpreter, "-c", script, "voltbus"})
	if err != nil {
		return Entry{}, fault.E(op, fault.Invalid, "", fmt.Errorf("look at what was installed: %w", err))
	}
	var found struct {
		Entries []Entry  `json:"entries"`
		Syntax  []string `json:"syntax"`
	}
	if err := json.Unmarshal(out, &found); err != nil {
		return Entry{}, fault.E(op, fault.Invalid, "", fmt.Errorf("look at what was installed: %w", err))
	}
	if len(found.Syntax) > 0 {
		return Entry{}, fault.E(op, fault.Invalid, "", fmt.Errorf("sources that Python cannot read: %s", strings.Join(found.Syntax, "; ")))
	}
	var names []string
	for _, e := range found.Entries {
		names = append(names, e.Name)
		if e.Name == wanted || (wanted == "" && len(found.Entries) == 1) {
			return e, nil
		}
	}
	if len(names) == 0 {
		return Entry{}, fault.E(op, fault.Invalid, "", errors.New(
			`it has no agent: name it in pyproject.toml, such as [project.entry-points."voltbus.agent"] watch = "watch.agent:Watch"`))
	}
	return Entry{}, fault.E(op, fault.Invalid, "entry", fmt.Errorf("the package has the agents %s; choose one with --entry", strings.Join(names, ", ")))
}

// Read asks an agent, module:Class, for its description.
func Read(ctx context.Context, run Runner, interpreter, entry string) (Description, error) {
	const op = "description.Read"
	var d Description
	out, err := run(ctx, []string{interpreter, "-m", "voltbus", "describe", entry})
	if err != nil {
		return d, fault.E(op, fault.Invalid, entry, explain(err))
	}
	if err := json.Unmarshal(out, &d); err != nil {
		return d, fault.E(op, fault.Invalid, entry, fmt.Errorf("does not describe itself as JSON: %w; nothing may be printed while it is imported", err))
	}
	d.Wants, d.Schema, d.Methods = present(d.Wants), present(d.Schema), present(d.Methods)
	return d, nil
}

func present(raw json.RawMessage) json.RawMessage {
	if string(raw) == "null" {
		return nil
	}
	return raw
}

// explain turns the end of a traceback into a sentence, with the traceback's last lines.
func explain(err error) error {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "ModuleNotFoundError: No module named "); ok {
		module, _, _ := strings.Cut(after, "\n")
		return fmt.Errorf("it needs the module %s, which is not installed: add its package to dependencies in pyproject.toml\n%w", module, err)
	}
	return fmt.Errorf("it cannot be imported: %w", err)
}

// shown is how many of the last lines of a failed program are shown.
const shown = 12

// Last returns the last lines of a program's output, for the error of a Runner.
func Last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(len(lines)-shown, 0):], "\n")
}
