// Package judged is the log of a node as its parent gets it: rules of the judge withhold readings from it, or mark them. What they found stays the same
// however often the log is read. What is withheld waits for a person, who releases it or discards it. See ADR 94.
package judged

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/judge"
	"voltbus/judge/aside"
	"voltbus/judge/setting"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/sender"
	"voltbus/wire"
)

// Blocks is the log of the node.
type Blocks interface {
	ID() string
	Bounds(ctx context.Context) (first, last uint64, err error)
	// Read delivers blocks from a sequence number on, in order, until ctx ends.
	Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// Config is what a Log needs. All but Function, Selects and Shared are required.
type Config struct {
	Rules setting.Rules // that hold for the parent
	// Function makes the function of a rule; nil if no rule is a function.
	Function func(rule *setting.Rule, to string) judge.Function
	Selects  func(point.Path) bool // points that are sent; nil for all
	// Shared reports whether the parent stores into the same database: then nothing is withheld or marked, since both must store the same.
	Shared func() bool
	Origin string // of this node
	Dir    string // the data directory
	Blocks Blocks
	Now    func() time.Time
	Log    *slog.Logger
}

// Log is the log as the parent gets it. Run judges; the other methods may be called at any time.
type Log struct {
	cfg      Config
	panel    *judge.Panel
	verdicts *verdicts
	kept     *aside.File
	origin   string // of what is released

	change sync.Mutex // held while something is withheld, released or discarded

	mu      sync.Mutex
	turned  chan struct{} // closed when any of these changes
	judged  uint64        // up to where in the log readings are judged
	found   found
	saved   recollection // as the file has it
	decided decided
	pending []aside.Reading // released, and not known to be at the parent
	held    int             // that wait for a person
	err     error           // why nothing is judged; nil in normal operation
	broken  error           // why nothing can be sent
}

// found is what rules found up to a position in the log.
type found struct {
	Withheld uint64                  `json:"withheld"`
	Unkept   uint64                  `json:"unkept"`
	Rules    map[string]judge.Counts `json:"rules,omitempty"` // by name
}

const folder = "sinks"

func name(dir, what string) string { return filepath.Join(dir, folder, setting.Parent+"."+what) }

// Open returns the log as the parent gets it; nil if no rule holds for it, and none did before. New rules hold for what is recorded from now on.
func Open(ctx context.Context, cfg Config) (*Log, error) {
	if cfg.Selects == nil {
		cfg.Selects = func(point.Path) bool { return true }
	}
	if cfg.Shared == nil {
		cfg.Shared = func() bool { return false }
	}
	if _, err := os.Stat(name(cfg.Dir, "judge")); len(cfg.Rules) == 0 && errors.Is(err, os.ErrNotExist) {
		return nil, nil //nolint:nilnil // there is none
	}
	if err := os.MkdirAll(filepath.Join(cfg.Dir, folder), 0o700); err != nil {
		return nil, fault.E("judged.Open", fault.Unavailable, cfg.Dir, err)
	}
	l := &Log{cfg: cfg, turned: make(chan struct{})}
	var function func(*setting.Rule) judge.Function
	if cfg.Function != nil {
		function = func(rule *setting.Rule) judge.Function { return cfg.Function(rule, setting.Parent) }
	}
	l.panel = judge.NewPanel(cfg.Rules, function)
	l.broken = l.open(ctx) // what is broken does not stop the node
	return l, nil
}

func (l *Log) open(ctx context.Context) (err error) {
	if l.verdicts, err = openVerdicts(name(l.cfg.Dir, "verdicts")); err != nil {
		return err
	}
	if l.kept, err = aside.Open(name(l.cfg.Dir, "withheld")); err != nil {
		return err
	}
	if err := l.readState(ctx); err != nil {
		return err
	}
	return l.readDecided()
}

// ID implements sender.Log.
func (l *Log) ID() string { return l.cfg.Blocks.ID() }

// Bounds implements sender.Log.
func (l *Log) Bounds(ctx context.Context) (first, last uint64, err error) {
	return l.cfg.Blocks.Bounds(ctx)
}

// Read implements sender.Log: a block comes when it is judged, without what is withheld.
func (l *Log) Read(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error {
	if l.broken != nil {
		return l.broken
	}
	var decoder wire.Decoder
	var encoder wire.Encoder
	var block point.Block
	var out []byte
	return l.cfg.Blocks.Read(ctx, from, func(sequence uint64, data []byte) error {
		if err := l.await(ctx, sequence); err != nil {
			return err
		}
		v, found, err := l.verdicts.of(sequence)
		if err != nil {
			return err
		}
		if !found || len(v.Withheld)+len(v.Marked) == 0 {
			return deliver(sequence, data)
		}
		if err := decoder.DecodeBlock(data, &block); err != nil {
			return deliver(sequence, data) // whoever reads it reports it
		}
		v.apply(&block)
		if out, err = encoder.AppendBlock(out[:0], &block); err != nil {
			return fmt.Errorf("encode what is judged: %w", err)
		}
		return deliver(sequence, out)
	})
}

// await returns when a block of the log is judged. Without rules nothing waits.
func (l *Log) await(ctx context.Context, sequence uint64) error {
	for len(l.cfg.Rules) > 0 {
		l.mu.Lock()
		judged, turned := l.judged, l.turned
		l.mu.Unlock()
		if sequence <= judged {
			break
		}
		select {
		case <-turned:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// turn tells all who wait. The caller holds mu.
func (l *Log) turn() {
	close(l.turned)
	l.turned = make(chan struct{})
}

// Judges reports whether a rule looks at readings of a point. It is nil without rules.
func (l *Log) Judges() func(path point.Path) bool {
	if l == nil || len(l.cfg.Rules) == 0 {
		return nil
	}
	return func(path point.Path) bool {
		return slices.ContainsFunc(l.cfg.Rules, func(r setting.Rule) bool { return r.Concerns(path) })
	}
}

// Join has a sender send the log as rules leave it, and what persons release. Without a log it changes nothing.
func (l *Log) Join(c *sender.Config) {
	if l == nil {
		return
	}
	own := c.Own
	c.Judged, c.Released = l, &Released{l}
	c.Own = func() map[string]uplink.Position {
		out := own()
		l.mu.Lock()
		defer l.mu.Unlock()
		out[l.origin] = l.last()
		return out
	}
}

// State is what became of readings for the parent.
type State struct {
	Withheld  uint64 // since the first rule; the sum of the others
	Held      int    // that wait for a person
	Sending   int    // that a person released, and that are on the way
	Released  uint64 // that the parent has, because a person released them
	Discarded uint64 // by a person
	Unkept    uint64 // for which there was no room
	Rules     []Rule
	Err       error // why nothing is judged, and so nothing sent; nil in normal operation
}

// Rule is what a rule found.
type Rule struct {
	Name, Check string
	judge.Counts
	judge.FunctionState // of the check function
}

// State returns the current state.
func (l *Log) State() State {
	functions := l.panel.States()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{
		Withheld: l.found.Withheld, Held: l.held, Sending: len(l.pending), Released: l.decided.Released, Discarded: l.decided.Discarded,
		Unkept: l.found.Unkept, Err: errors.Join(l.broken, l.err),
	}
	for i := range l.cfg.Rules {
		r := &l.cfg.Rules[i]
		s.Rules = append(s.Rules, Rule{Name: r.Name, Check: r.Check, Counts: l.found.Rules[r.Name], FunctionState: functions[i]})
	}
	return s
}

// Problem describes in a sentence what is wrong; "" if nothing is.
func (l *Log) Problem() string {
	if l == nil {
		return ""
	}
	s := l.State()
	if s.Err != nil {
		return fmt.Sprintf("Nothing is sent to the parent, since readings cannot be judged: %v.", s.Err)
	}
	for i := range s.Rules {
		if r := &s.Rules[i]; r.Err != "" {
			return fmt.Sprintf("The rule %q cannot judge readings for the parent since %s, and %s: %s.",
				r.Name, r.Since.UTC().Format(time.RFC3339), map[bool]string{true: "withholds them", false: "marks them"}[l.cfg.Rules[i].Failure == setting.Withhold], r.Err)
		}
	}
	if s.Held > 0 {
		return fmt.Sprintf("%s for the parent %s withheld by a rule, and wait for a person: voltbus judge withheld parent shows them.", plural.Of(s.Held, "reading"), plural.Word(s.Held, "was", "were"))
	}
	return ""
}
