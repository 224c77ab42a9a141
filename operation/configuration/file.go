package configuration

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/operation"
	"voltbus/point"
)

// Options say which file the part manages, and what applies changes.
type Options struct {
	File  string // the configuration file
	Data  string // the node's data directory, which a configuration may not refer to
	Kinds []driver.Kind
	// Running returns the running configuration, and Apply replaces it.
	Running func() *config.Config
	Apply   func(context.Context, *config.Config) (config.Changes, error)
	// Allowed returns what ancestors may do under a configuration.
	Allowed func(*config.Uplink) (identity.Grants, error)
	// Tell records in the audit log what the node did by itself.
	Tell func(ctx context.Context, action string, err error, detail any)
	Log  *slog.Logger
	Now  func() time.Time
}

// Part carries out the operations on the configuration file. It is safe for concurrent use.
type Part struct {
	opts   Options
	file   *revision.File
	trying places // for devices and destinations being tested
	read   parsed
	trial  trial
	sinks  Sinks // nil for a node that sends nothing
}

// parsed is the result of the last parse of the file.
type parsed struct {
	mu      sync.Mutex
	version string
	config  *config.Config // nil if it is invalid
	at      time.Time
}

// parsedFor is how long the result of a parse is reused: the file may name other files, which change independently.
const parsedFor = 2 * time.Second

// meaning returns the configuration in a version of the file, nil if it is invalid. Concurrent callers share one parse.
func (p *Part) meaning(version string, text []byte) *config.Config {
	p.read.mu.Lock()
	defer p.read.mu.Unlock()
	if p.read.version == version && time.Since(p.read.at) < parsedFor {
		return p.read.config
	}
	cfg, err := p.load(text)
	if err != nil {
		cfg = nil
	}
	p.read.version, p.read.config, p.read.at = version, cfg, time.Now()
	return cfg
}

// New returns a part that manages a file. Run reverts trials that nobody confirms.
func New(o Options) *Part {
	return &Part{opts: o, trial: trial{wake: make(chan struct{}, 1)}, trying: make(places, tryAtOnce), file: revision.New(revision.Options{
		Name: o.File, Dir: filepath.Join(o.Data, "config"), Now: o.Now,
	})}
}

func (p *Part) load(text []byte) (*config.Config, error) {
	return config.LoadFrom(p.place(), text)
}

// place returns the location of a configuration, with the rule that it must not read the node's own data.
func (p *Part) place() config.Place {
	return config.Place{File: p.file.Name(), Kinds: p.opts.Kinds, Closed: []string{p.opts.Data}}
}

// change is a new content of the file.
type change struct {
	text    []byte
	version string // of the content it is based on
	means   *config.Config
	bound   time.Duration // how long the node waits for confirmation before it reverts the change; 0 needs none
}

// change writes a configuration and applies it.
func (p *Part) change(ctx context.Context, c *operation.Call, to *change) (answer.ConfigApplied, error) {
	if err := (judge{p}).mayChange(c, to); err != nil {
		return answer.ConfigApplied{}, err
	}
	if err := p.file.Writable(); err != nil {
		return answer.ConfigApplied{}, err
	}
	if to.bound > 0 {
		return p.tryOut(ctx, c, to)
	}
	if _, is, err := p.file.Trial(); err != nil || is {
		return answer.ConfigApplied{}, errors.Join(err, onTrial(is))
	}
	p.trial.say("")
	var done config.Changes
	err := p.file.Change(to.text, to.version, userOf(c), func() error {
		var err error
		done, err = p.opts.Apply(context.WithoutCancel(ctx), to.means) // a half-applied change is of no use
		return err
	})
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	return answer.ConfigApplied{Version: versionOf(to.text), Changes: Changes(done)}, nil
}

// onTrial returns why nothing else may be written while a configuration is on trial.
func onTrial(is bool) error {
	if !is {
		return nil
	}
	return fault.E("configuration.change", fault.Conflict, "configuration", errOnTrial)
}

var errOnTrial = errors.New("another configuration is on trial; confirm it, or wait until the node goes back")

// readAgain applies the current content of the file.
func (p *Part) readAgain(ctx context.Context, c *operation.Call) (answer.ConfigApplied, error) {
	text, err := p.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	cfg, err := p.load(text)
	if err != nil {
		return answer.ConfigApplied{}, p.invalid(err, text)
	}
	if c.Remote { // only a user of this node may put a wider uplink.allow into effect
		if err := (judge{p}).noWider(&p.opts.Running().Uplink, &cfg.Uplink); err != nil {
			return answer.ConfigApplied{}, err
		}
	}
	done, err := p.opts.Apply(context.WithoutCancel(ctx), cfg)
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	p.opts.Log.InfoContext(ctx, "configuration read again", slog.String("user", userOf(c)))
	return answer.ConfigApplied{Version: versionOf(text), Changes: Changes(done)}, nil
}

// userOf returns the caller's name for the history of the file and for trials: users of this node without their kind.
func userOf(c *operation.Call) string {
	if p, err := identity.ParsePrincipal(c.Name); err == nil && p.Node == "" {
		return p.Name
	}
	return c.Name
}

func versionOf(text []byte) string { return revision.VersionOf(text) }

// invalid converts an error of package config to the form that the API shows.
func (p *Part) invalid(err error, text []byte) error {
	list, ok := errors.AsType[config.Problems](err)
	if !ok {
		return err
	}
	return fault.E("configuration.change", fault.Invalid, "text", answer.Problems(p.problems(list, text)))
}

// problems converts the problems of the configuration and of the files it names, which are named relative to it.
func (p *Part) problems(list config.Problems, text []byte) []answer.ConfigProblem {
	lines := config.Lines(text)
	out := make([]answer.ConfigProblem, len(list))
	for i, found := range list {
		out[i] = answer.ConfigProblem{Line: found.Line, Path: found.Key, Detail: found.Text}
		if found.File == p.file.Name() || found.File == "" {
			out[i].Column = lines.Column(found)
			continue
		}
		// The configuration may name a file that its author may not read: its content is not shown.
		out[i].File, out[i].Path, out[i].Detail = found.File, "", cmp.Or(found.Kind, "is wrong")
		if near, err := filepath.Rel(filepath.Dir(p.file.Name()), found.File); err == nil {
			out[i].File = near
		}
	}
	return out
}

// maxWords is how many devices a sentence names.
const maxWords = 20

// Changes describes changes as lists and as a sentence.
func Changes(c config.Changes) answer.ConfigChanges {
	out := answer.ConfigChanges{Added: texts(c.Added), Removed: texts(c.Removed), Changed: texts(c.Changed), Restart: c.Restart}
	for _, list := range []struct {
		paths []string
		text  string
	}{{out.Added, "is added"}, {out.Removed, "is removed; its history stays"}, {out.Changed, "is changed, and begins anew"}} {
		for _, p := range list.paths[:min(len(list.paths), maxWords)] {
			out.Words = append(out.Words, "device "+p+" "+list.text)
		}
		if more := len(list.paths) - maxWords; more > 0 {
			out.Words = append(out.Words, "and "+plural.Of(more, "more device")+": each "+list.text)
		}
	}
	if c.Allow {
		out.Words = append(out.Words, "uplink.allow is changed: what ancestors may do here")
	}
	if c.Templates {
		out.Words = append(out.Words, "mqtt.templates is changed: messages that arrive from now on become points by it")
	}
	if c.Sinks {
		out.Words = append(out.Words, "sinks is changed: destinations get readings by it from now on; what was removed leaves its position behind")
	}
	for _, section := range c.Restart {
		out.Words = append(out.Words, "the section "+section+" changes when the node is started again")
	}
	return out
}

// filled returns changes as callers see them: without null lists.
func filled(c answer.ConfigChanges) answer.ConfigChanges {
	c.Restart, c.Words = append([]string{}, c.Restart...), append([]string{}, c.Words...)
	return c
}

func texts(paths []point.Path) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = string(p)
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
