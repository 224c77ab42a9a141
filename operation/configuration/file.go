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

// Options say which file the part keeps, and by whom changes are applied.
type Options struct {
	File  string // the configuration file
	Data  string // the node's data directory, which no configuration may read
	Kinds []driver.Kind
	// Running returns the configuration by which the node runs, and Apply has it run by another one.
	Running func() *config.Config
	Apply   func(context.Context, *config.Config) (config.Changes, error)
	// Allowed returns what ancestors may do by a configuration.
	Allowed func(*config.Uplink) (identity.Grants, error)
	// Tell writes into the audit log what the node did by itself.
	Tell func(ctx context.Context, action string, err error, detail any)
	Log  *slog.Logger
	Now  func() time.Time
}

// Part does what is asked about the configuration file. It is safe for concurrent use.
type Part struct {
	opts   Options
	file   *revision.File
	trying chan struct{} // holds an entry for each device that is tried
	read   parsed
	trial  trial
}

// parsed is what the file said when it was read last.
type parsed struct {
	mu      sync.Mutex
	version string
	config  *config.Config // nil if it is wrong
	at      time.Time
}

// parsedFor is how long the meaning of a text is remembered: it may name other files, and these
// change without it.
const parsedFor = 2 * time.Second

// meaning returns what the text of a version says, nil if it is wrong. Many who ask at once make
// it parse once.
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

// New returns a part that keeps a file. Run goes back from trials that nobody confirms.
func New(o Options) *Part {
	return &Part{opts: o, trial: trial{wake: make(chan struct{}, 1)}, trying: make(chan struct{}, tryAtOnce), file: revision.New(revision.Options{
		Name: o.File, Dir: filepath.Join(o.Data, "config"), Now: o.Now,
	})}
}

func (p *Part) load(text []byte) (*config.Config, error) {
	return config.LoadFrom(p.place(), text)
}

// place says where a text stands, and that it does not read the node's own data.
func (p *Part) place() config.Place {
	return config.Place{File: p.file.Name(), Kinds: p.opts.Kinds, Closed: []string{p.opts.Data}}
}

// change is a new text for the file.
type change struct {
	text    []byte
	version string // of the text that it was made from
	means   *config.Config
	bound   time.Duration // how long it may take to confirm the change, before the node goes back; 0 needs no confirmation
}

// change writes a text, and applies what it says.
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
		done, err = p.opts.Apply(context.WithoutCancel(ctx), to.means) // half a change helps nobody
		return err
	})
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	return answer.ConfigApplied{Version: versionOf(to.text), Changes: Changes(done)}, nil
}

// onTrial returns why nothing else is written while a configuration is on trial.
func onTrial(is bool) error {
	if !is {
		return nil
	}
	return fault.E("configuration.change", fault.Conflict, "configuration", errOnTrial)
}

var errOnTrial = errors.New("another configuration is on trial; confirm it, or wait until the node goes back")

// readAgain applies what stands in the file.
func (p *Part) readAgain(ctx context.Context, c *operation.Call) (answer.ConfigApplied, error) {
	text, err := p.file.Read()
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	cfg, err := p.load(text)
	if err != nil {
		return answer.ConfigApplied{}, p.invalid(err, text)
	}
	if c.Remote { // somebody of this node lets a wider uplink.allow of the file hold
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

// userOf returns who asks as the history of the file and trials name them: people of this node without their kind.
func userOf(c *operation.Call) string {
	if p, err := identity.ParsePrincipal(c.Name); err == nil && p.Node == "" {
		return p.Name
	}
	return c.Name
}

func versionOf(text []byte) string { return revision.VersionOf(text) }

// invalid gives an error of config the form that the API shows.
func (p *Part) invalid(err error, text []byte) error {
	list, ok := errors.AsType[config.Problems](err)
	if !ok {
		return err
	}
	return fault.E("configuration.change", fault.Invalid, "text", answer.Problems(p.problems(list, text)))
}

// problems shows problems of the text, and of the files that it names, by their names from the
// text's place.
func (p *Part) problems(list config.Problems, text []byte) []answer.ConfigProblem {
	lines := config.Lines(text)
	out := make([]answer.ConfigProblem, len(list))
	for i, found := range list {
		out[i] = answer.ConfigProblem{Line: found.Line, Path: found.Key, Detail: found.Text}
		if found.File == p.file.Name() || found.File == "" {
			out[i].Column = lines.Column(found)
			continue
		}
		// The text may name a file that its user may not read: nothing of it is shown.
		out[i].File, out[i].Path, out[i].Detail = found.File, "", cmp.Or(found.Kind, "is wrong")
		if near, err := filepath.Rel(filepath.Dir(p.file.Name()), found.File); err == nil {
			out[i].File = near
		}
	}
	return out
}

// maxWords is how many devices are named in words.
const maxWords = 20

// Changes shows changes as lists and in words.
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
	for _, section := range c.Restart {
		out.Words = append(out.Words, "the section "+section+" changes when the node is started again")
	}
	return out
}

// filled returns changes as callers see them: without lists that are null.
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
