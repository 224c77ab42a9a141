package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/config"
	"voltbus/config/revision"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/internal/plural"
	"voltbus/point"
)

// settings implements api.Settings and api.Catalogue over the file that the node was made from.
type settings struct {
	node   *Node
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
func (s *settings) meaning(version string, text []byte) *config.Config {
	s.read.mu.Lock()
	defer s.read.mu.Unlock()
	if s.read.version == version && time.Since(s.read.at) < parsedFor {
		return s.read.config
	}
	cfg, err := s.load(text)
	if err != nil {
		cfg = nil
	}
	s.read.version, s.read.config, s.read.at = version, cfg, time.Now()
	return cfg
}

func newSettings(n *Node) *settings {
	return &settings{node: n, trial: trial{wake: make(chan struct{}, 1)}, trying: make(chan struct{}, tryAtOnce), file: revision.New(revision.Options{
		Name: n.opts.File, Dir: filepath.Join(n.opts.Config.Node.Data, "config"), Now: now,
	})}
}

func (s *settings) load(text []byte) (*config.Config, error) {
	return config.LoadFrom(s.place(), text)
}

// place says where a text stands, and that it does not read the node's own data.
func (s *settings) place() config.Place {
	return config.Place{File: s.file.Name(), Kinds: s.node.opts.Kinds, Closed: []string{s.node.opts.Config.Node.Data}}
}

// Config implements api.Settings.
func (s *settings) Config(context.Context) (answer.Config, error) {
	text, err := s.file.Read()
	if err != nil {
		return answer.Config{}, err
	}
	entries, err := s.file.History()
	if err != nil {
		return answer.Config{}, err
	}
	out := answer.Config{File: s.file.Name(), Text: string(text), Version: revision.VersionOf(text)}
	for _, e := range entries {
		out.History = append(out.History, answer.ConfigVersion(e))
	}
	if cfg := s.meaning(out.Version, text); cfg != nil {
		c := config.Compare(s.node.Config(), cfg)
		out.Restart = c.Restart
		out.Applied = len(c.Added)+len(c.Removed)+len(c.Changed) == 0 && !c.Allow
	}
	return out, nil
}

// ConfigVersion implements api.Settings.
func (s *settings) ConfigVersion(_ context.Context, version string) (answer.ConfigText, error) {
	text, e, err := s.file.Text(version)
	if err != nil {
		return answer.ConfigText{}, err
	}
	return answer.ConfigText{Version: e.Version, Time: e.Time, User: e.User, Text: string(text)}, nil
}

// ConfigSchema implements api.Settings.
func (s *settings) ConfigSchema() []byte { return config.Schema() }

// CheckConfig implements api.Settings.
func (s *settings) CheckConfig(_ context.Context, text string, user identity.User) (answer.ConfigCheck, error) {
	cfg, err := s.loadFor(user, []byte(text))
	if list, ok := errors.AsType[config.Problems](err); ok {
		return answer.ConfigCheck{Problems: s.problems(list, []byte(text))}, nil
	}
	if err != nil {
		return answer.ConfigCheck{}, err
	}
	return answer.ConfigCheck{Changes: changes(config.Compare(s.node.Config(), cfg))}, nil
}

// ChangeConfig implements api.Settings.
func (s *settings) ChangeConfig(ctx context.Context, c api.ConfigChange) (answer.ConfigApplied, error) {
	cfg, err := s.loadFor(c.User, []byte(c.Text))
	if err != nil {
		return answer.ConfigApplied{}, s.invalid(err, []byte(c.Text))
	}
	return s.change(ctx, c, cfg)
}

// change writes the text that says cfg, and applies it.
func (s *settings) change(ctx context.Context, c api.ConfigChange, cfg *config.Config) (answer.ConfigApplied, error) {
	permit := s.permit(cfg, c.User)
	if c.User.Visitor {
		permit = s.permitVisitor(cfg, &c)
	}
	if permit != nil {
		return answer.ConfigApplied{}, permit
	}
	if err := s.file.Writable(); err != nil {
		return answer.ConfigApplied{}, err
	}
	if c.Bound > 0 {
		return s.tryConfig(ctx, c, cfg)
	}
	if _, is, err := s.file.Trial(); err != nil || is {
		return answer.ConfigApplied{}, errors.Join(err, onTrial(is))
	}
	s.trial.say("")
	var done config.Changes
	err := s.file.Change([]byte(c.Text), c.Version, c.User.Name, func() error {
		var err error
		done, err = s.node.apply(context.WithoutCancel(ctx), cfg) // half a change helps nobody
		return err
	})
	if err != nil {
		return answer.ConfigApplied{}, err
	}
	return answer.ConfigApplied{Version: revision.VersionOf([]byte(c.Text)), Changes: changes(done)}, nil
}

// onTrial returns why nothing else is written while a configuration is on trial.
func onTrial(is bool) error {
	if !is {
		return nil
	}
	return fault.E("node.ChangeConfig", fault.Conflict, "configuration", errOnTrial)
}

var errOnTrial = errors.New("another configuration is on trial; confirm it, or wait until the node goes back")

// loadFor is load for a text of the user. What the user may not change is refused before a file that the text
// names is touched.
func (s *settings) loadFor(user identity.User, text []byte) (*config.Config, error) {
	if !user.Role.Includes(identity.Administrator) {
		head, err := config.Sections(s.file.Name(), text)
		if err != nil {
			return nil, err
		}
		if err := s.permit(head, user); err != nil {
			return nil, err
		}
	}
	return s.load(text)
}

// permit lets engineers change devices only: the other sections say where the node listens and
// what it keeps. They are compared with those in the file, which may wait for a new start.
func (s *settings) permit(cfg *config.Config, user identity.User) error {
	before := s.node.Config()
	if text, err := s.file.Read(); err == nil {
		if in, err := config.Sections(s.file.Name(), text); err == nil {
			before = in
		}
	}
	return permitted(before, cfg, user)
}

// permitted judges a change from one configuration to another.
func permitted(before, after *config.Config, user identity.User) error {
	differ := config.Compare(before, after)
	sections := differ.Restart
	if differ.Allow {
		sections = append(slices.Clone(sections), "uplink.allow")
	}
	if len(sections) == 0 || user.Role.Includes(identity.Administrator) {
		return nil
	}
	return fault.E("node.ChangeConfig", fault.Refused, user.Name, fmt.Errorf(
		"an %v may change devices; changes of %s need an administrator", user.Role, strings.Join(sections, ", ")))
}

// invalid gives an error of config the form that the API shows.
func (s *settings) invalid(err error, text []byte) error {
	list, ok := errors.AsType[config.Problems](err)
	if !ok {
		return err
	}
	return fault.E("node.ChangeConfig", fault.Invalid, "text", api.Problems(s.problems(list, text)))
}

// problems shows problems of the text, and of the files that it names, by their names from the
// text's place.
func (s *settings) problems(list config.Problems, text []byte) []answer.ConfigProblem {
	lines := config.Lines(text)
	out := make([]answer.ConfigProblem, len(list))
	for i, p := range list {
		out[i] = answer.ConfigProblem{Line: p.Line, Path: p.Key, Detail: p.Text}
		if p.File == s.file.Name() || p.File == "" {
			out[i].Column = lines.Column(p)
			continue
		}
		// The text may name a file that its user may not read: nothing of it is shown.
		out[i].File, out[i].Path, out[i].Detail = p.File, "", cmp.Or(p.Kind, "is wrong")
		if near, err := filepath.Rel(filepath.Dir(s.file.Name()), p.File); err == nil {
			out[i].File = near
		}
	}
	return out
}

// maxWords is how many devices are named in words.
const maxWords = 20

// changes shows changes as lists and in words.
func changes(c config.Changes) answer.ConfigChanges {
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
		out.Words = append(out.Words, "uplink.allow is changed: what nodes above may do here")
	}
	for _, section := range c.Restart {
		out.Words = append(out.Words, "the section "+section+" changes when the node is started again")
	}
	return out
}

func texts(paths []point.Path) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = string(p)
	}
	slices.SortFunc(out, cmp.Compare)
	return out
}
