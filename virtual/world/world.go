package world

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/virtual/kernel"
	"voltbus/virtual/whole"
)

// Options are what a run is started with, beside its file.
type Options struct {
	Seed     *uint64        // instead of the one of the file
	History  io.Writer      // gets time, point, value and quality, a line each; nil for nothing
	Log      io.Writer      // gets what agents print and log; nil for nothing
	Writable map[string]any // points that agents may command beside those of models, and what they are
	SDK      string         // where processes find the SDK, beside what their interpreter has; "" for nowhere else
	Nodes    string         // the program voltbus-virtual, for whole nodes; "" for none
	Patience time.Duration  // how long, in real time, agents may take for one moment; 0 for a minute
}

// World is a run. It belongs to one goroutine; only its Pacer may be used from others. Close ends its processes.
type World struct {
	file     *File
	opts     Options
	kernel   *kernel.Kernel
	plants   map[string]*plant
	starters []starter           // what runs in processes
	reach    map[string][]string // the sites to which there is a link
	mu       sync.Mutex          // of wants and told while processes start
	wants    map[string][][]string
	failures []kernel.Failure
	told     []Told
	alerts   []Alert
	held     []Held
	estate   *estate       // nil without whole nodes
	report   *whole.Report // of them, since Settle
	readings uint64
	commands uint64
	refused  uint64
	took     time.Duration
}

// Told is a call that does not follow the clock of the world.
type Told struct {
	Site string `json:"site"`
	Call string `json:"call"` // file:line: function() in caller
}

// Alert is one that an agent raised or cleared.
type Alert struct {
	At      time.Duration `json:"at"`
	Site    string        `json:"site"`
	Agent   string        `json:"agent"`
	Key     string        `json:"key"`
	Text    string        `json:"text,omitempty"`
	Cleared bool          `json:"cleared,omitempty"`
}

// Held is a command of an agent that stands from a moment on, or no longer if its value is null.
type Held struct {
	At    time.Duration   `json:"at"`
	Site  string          `json:"site"`
	Agent string          `json:"agent"`
	Point string          `json:"point"`
	Level int             `json:"level"`
	Value json.RawMessage `json:"value"`
}

// New makes a world at its start. It starts no process.
func New(f *File, o Options) (*World, error) {
	seed := f.World.Seed
	if o.Seed != nil {
		seed = *o.Seed
	}
	if o.Patience <= 0 {
		o.Patience = time.Minute
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	w := &World{
		file: f, opts: o, plants: map[string]*plant{}, reach: map[string][]string{}, wants: map[string][][]string{},
		kernel: kernel.New(kernel.Options{Seed: seed, Start: f.World.Start, History: o.History}),
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // a simulation is repeatable
	var names []string
	for i := range f.Sites {
		s := &f.Sites[i]
		for n := range max(1, s.Copies) {
			names = append(names, s.nth(n))
			if err := w.addSite(s, s.nth(n), random); err != nil {
				return nil, err
			}
		}
	}
	for _, name := range names {
		if err := w.bind(w.plants[name]); err != nil {
			return nil, err
		}
	}
	if err := w.addEstate(); err != nil {
		return nil, err
	}
	return w, w.connect(names)
}

// addSite adds the models and agents of a site.
func (w *World) addSite(s *Site, name string, random *rand.Rand) error {
	p := &plant{world: w, name: name, step: w.file.World.Step, every: s.Scan, record: s.Recorded, agents: len(s.Agents) > 0}
	if w.plants[name] != nil {
		return fault.E("world.New", fault.Conflict, name, errors.New("there are two sites of this name; copies of a site are called name-1 to name-N"))
	}
	for i := range s.Models {
		part, err := w.newPart(s, name, &s.Models[i], random)
		if err != nil {
			return err
		}
		p.parts = append(p.parts, part)
	}
	w.plants[name] = p
	if err := w.kernel.Add(name, name, p); err != nil {
		return err
	}
	if p.agents {
		c := &crew{world: w, site: name, python: w.file.World.Python}
		if err := c.describe(s, p, w.file); err != nil {
			return err
		}
		w.starters = append(w.starters, c)
		if err := w.kernel.Add(name, agentsOf(name), c); err != nil {
			return err
		}
		if err := w.kernel.Schedule(kernel.Event{To: agentsOf(name), Kind: kindWake}); err != nil {
			return err
		}
	}
	return w.kernel.Schedule(kernel.Event{To: name, Kind: kindStep})
}

// agentsOf returns the name of the actor of a site's agents.
func agentsOf(site string) string { return site + " agents" }

func (w *World) newPart(s *Site, site string, m *Model, random *rand.Rand) (*part, error) {
	parameters := maps.Clone(m.Parameters)
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if v := parameters[name]; s.Copies > 0 && s.Spread > 0 && name != "direction" {
			parameters[name] = v * (1 + s.Spread*(2*random.Float64()-1))
		}
	}
	device := site + "/" + m.Name
	o, err := w.newModel(device, m, parameters)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", device, err)
	}
	p := &part{name: m.Name, device: device, model: o, commands: map[string]int{}}
	p.subject = subjectOf(p.device)
	for _, name := range m.Commands {
		p.commands[p.device+"/"+name] = o.Kind.Input(name)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Inputs)) {
		b, err := parseBinding(m.Inputs[name])
		if err != nil {
			return nil, err
		}
		b.input = o.Kind.Input(name)
		if len(b.refs) == 0 {
			o.Set(b.input, b.constant)
			continue
		}
		p.bindings = append(p.bindings, b)
	}
	return p, nil
}

// bind finds what the inputs of a site are connected to.
func (w *World) bind(p *plant) error {
	for _, part := range p.parts {
		for i := range part.bindings {
			b := &part.bindings[i]
			for _, r := range b.refs {
				b.from = append(b.from, w.find(p.name, r)...)
			}
			if len(b.from) == 0 {
				return fault.E("world.New", fault.NotFound, part.device, fmt.Errorf("%v finds no output", b.refs))
			}
		}
	}
	return nil
}

// find returns the outputs that a reference names, in the order of the file.
func (w *World) find(own string, r ref) (found []output) {
	look := func(p *plant) {
		for _, part := range p.parts {
			if n := part.model.Kind.Output(r.output); part.name == r.model && n >= 0 {
				found = append(found, output{part.model, n})
			}
		}
	}
	if r.site == "" {
		look(w.plants[own])
		return found
	}
	for i := range w.file.Sites {
		s := &w.file.Sites[i]
		for n := range max(1, s.Copies) {
			if ok, err := path.Match(r.site, s.nth(n)); ok && err == nil {
				look(w.plants[s.nth(n)])
			}
		}
	}
	return found
}

// connect adds the links between sites.
func (w *World) connect(names []string) error {
	for i := range w.file.Links {
		l := &w.file.Links[i]
		for _, from := range names {
			for _, to := range names {
				a, errA := path.Match(l.From, from)
				b, errB := path.Match(l.To, to)
				if err := errors.Join(errA, errB); err != nil || !a || !b || from == to {
					continue
				}
				if err := w.link(l, from, to); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *World) link(l *Link, from, to string) error {
	k := kernel.Link{From: from, To: to, Delay: l.Delay, Jitter: l.Jitter, Loss: l.Loss, Duplicate: l.Duplicate}
	for _, c := range l.Cuts {
		k.Cuts = append(k.Cuts, kernel.Span{From: c.From, To: c.To})
	}
	if err := w.kernel.Connect(k); err != nil {
		return err
	}
	w.reach[from] = append(w.reach[from], to)
	if l.OneWay {
		return nil
	}
	k.From, k.To = to, from
	w.reach[to] = append(w.reach[to], from)
	return w.kernel.Connect(k)
}

// listeners returns the sites that a message of a site goes to: those with a link whose agents listen to it.
func (w *World) listeners(from, subject string) (sites []string) {
	for _, to := range w.reach[from] {
		if slices.ContainsFunc(w.wants[to], func(parts []string) bool { return hears(parts, subject) }) {
			sites = append(sites, to)
		}
	}
	return sites
}

// hears reports whether a subscription gets what has a subject.
func hears(parts []string, subject string) bool {
	for i, part := range parts {
		if part == ">" {
			return subject != ""
		}
		token, rest, more := strings.Cut(subject, ".")
		if part != "*" && part != token || !more && i < len(parts)-1 {
			return false
		}
		subject = rest
		if i == len(parts)-1 && more {
			return false
		}
	}
	return true
}

// forward sends a message over links.
func (w *World) forward(s *kernel.Scope, sites []string, m message) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for _, to := range sites {
		if err := s.Send(agentsOf(to), kindMessage, body); err != nil {
			return err
		}
	}
	return nil
}

// Run goes on until a moment; 0 is the end of the file's duration.
func (w *World) Run(ctx context.Context, until time.Duration) error {
	if until == 0 {
		until = w.file.World.Duration
	}
	begin := time.Now()
	defer func() { w.took += time.Since(begin) }()
	stop := context.AfterFunc(ctx, func() {
		for _, c := range w.starters {
			c.kill()
		}
	})
	defer stop()
	if err := w.start(ctx); err != nil {
		return err
	}
	if err := w.kernel.Run(ctx, until); err != nil {
		return err
	}
	return ctx.Err()
}

// Pacer returns what sets the speed.
func (w *World) Pacer() *kernel.Pacer { return w.kernel.Pacer() }

// Now returns the time since the start of the world.
func (w *World) Now() time.Duration { return w.kernel.Now() }

// Reseed has what is random follow from another seed from now on; the result tells.
func (w *World) Reseed(seed uint64) { w.kernel.Reseed(seed) }

// Close ends the processes of all agents.
func (w *World) Close() error {
	var errs []error
	for _, c := range w.starters {
		errs = append(errs, c.close())
	}
	return errors.Join(errs...)
}

// folderOf returns a folder of modules, relative to the file of the world.
func (f *File) folderOf(name string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	return filepath.Abs(filepath.Join(f.folder, name))
}
