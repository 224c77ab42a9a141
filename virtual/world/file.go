package world

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/internal/strictyaml"
	"voltbus/virtual/fmu"
	"voltbus/virtual/model"
)

// File describes a world.
type File struct {
	World Settings `yaml:"world"`
	Sites []Site   `yaml:"sites"`
	Links []Link   `yaml:"links"`

	folder string
	units  map[string]*fmu.Description // that were read, by their files
}

// Settings are those of the whole world.
type Settings struct {
	Name      string        `yaml:"name"`
	Start     time.Time     `yaml:"start" example:"2026-07-01T00:00:00Z"`
	Duration  time.Duration `yaml:"duration"`
	Seed      uint64        `yaml:"seed"`
	Step      time.Duration `yaml:"step"`      // between exchanges of models
	Adaptive  bool          `yaml:"adaptive"`  // integrate with steps by error
	Tolerance float64       `yaml:"tolerance"` // of an adaptive step
	Python    string        `yaml:"python"`    // the interpreter, with the SDK, that runs agents
}

// Site is a node with its models and agents, or several alike.
type Site struct {
	Name     string        `yaml:"name"`
	Copies   int           `yaml:"copies"` // 0: one site of this name; otherwise name-1 to name-N
	Spread   float64       `yaml:"spread"` // parameters of copies differ by up to this share
	Scan     time.Duration `yaml:"scan"`   // how often values are reported
	Recorded bool          `yaml:"recorded"`
	Models   []Model       `yaml:"models"`
	Agents   []Agent       `yaml:"agents"`
	Path     []string      `yaml:"path"`   // folders of the agents' modules
	Node     string        `yaml:"node"`   // whole: the site is a whole node, in virtual time
	Parent   string        `yaml:"parent"` // of a whole node
	Orders   []Order       `yaml:"orders"` // to a whole node
}

// Model is a physical model of a site.
type Model struct {
	Name       string             `yaml:"name"`
	Kind       string             `yaml:"kind"`      // a built-in one, fmu or energyplus
	File       string             `yaml:"file"`      // of the FMU or the building, relative to the file of the world
	Weather    string             `yaml:"weather"`   // of EnergyPlus
	Outputs    map[string]string  `yaml:"outputs"`   // of EnergyPlus: variable/key
	Actuators  map[string]string  `yaml:"actuators"` // of EnergyPlus, which are inputs: component/control/key
	Parameters map[string]float64 `yaml:"parameters"`
	Inputs     map[string]any     `yaml:"inputs"`   // numbers, outputs such as weather.temp, or lists of outputs to add
	Commands   []string           `yaml:"commands"` // inputs that are points to command
}

// Agent is an agent in Python.
type Agent struct {
	Name   string         `yaml:"name"`
	Class  string         `yaml:"class" example:"package.module:Class"`
	Config map[string]any `yaml:"config"`
}

// Link carries messages between two sites, in both directions unless it is one-way.
type Link struct {
	From      string        `yaml:"from"`
	To        string        `yaml:"to"` // a pattern such as building-* stands for several sites
	OneWay    bool          `yaml:"one_way"`
	Delay     time.Duration `yaml:"delay"`
	Jitter    time.Duration `yaml:"jitter"`
	Loss      float64       `yaml:"loss"`
	Duplicate float64       `yaml:"duplicate"`
	Cuts      []Cut         `yaml:"cuts"`
}

// Cut is a stretch of time, since the start of the world, in which a link carries nothing.
type Cut struct {
	From time.Duration `yaml:"from"`
	To   time.Duration `yaml:"to"`
}

// maxSites is how many sites there may be with all copies.
const maxSites = 100_000

var plainName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{0,63}$`)

// Read reads a file. All its problems are in one error of kind fault.Invalid, each with its place.
func Read(name string) (*File, error) {
	data, err := os.ReadFile(name) //nolint:gosec // the file that the user names
	if err != nil {
		return nil, fault.E("world.Read", fault.NotFound, name, err)
	}
	f, problems := Parse(name, data)
	if len(problems) > 0 {
		var all []error
		for _, p := range problems {
			all = append(all, errors.New(p.String()))
		}
		return nil, fault.E("world.Read", fault.Invalid, "", errors.Join(all...))
	}
	return f, nil
}

// Parse decodes a file and returns what is wrong with it. Its name is used in problems, and folders of agents are below
// its own.
func Parse(name string, data []byte) (*File, []strictyaml.Problem) {
	f := &File{World: Settings{Name: "world", Duration: time.Hour, Step: 10 * time.Second, Tolerance: 1e-6, Python: "python3"}, folder: filepath.Dir(name)}
	node, problem := strictyaml.Parse(name, data)
	if problem != nil {
		return nil, []strictyaml.Problem{*problem}
	}
	problems := strictyaml.Decode(name, "", node, f)
	if len(problems) > 0 {
		return nil, problems
	}
	c := checker{file: f, report: func(key, format string, args ...any) {
		problems = append(problems, strictyaml.New(name, strictyaml.Line(node, key), key, format, args...))
	}}
	c.all()
	return f, strictyaml.Sort(problems)
}

// checker finds problems beyond the syntax.
type checker struct {
	file   *File
	report func(key, format string, args ...any)
}

func (c *checker) all() {
	w := &c.file.World
	if w.Start.IsZero() {
		w.Start = time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	}
	c.expect(w.Duration > 0, "world.duration", "%s is no duration; write one such as 12h", w.Duration)
	c.expect(w.Step >= time.Millisecond, "world.step", "%s is too short; write 1ms or more", w.Step)
	c.expect(w.Tolerance > 0 && w.Tolerance < 1, "world.tolerance", "%g is no tolerance; write a number such as 1e-6", w.Tolerance)
	c.expect(len(c.file.Sites) > 0, "sites", "is empty; write a list of sites, each with a name and models or agents")
	names, count := map[string]bool{}, 0
	for i := range c.file.Sites {
		s := &c.file.Sites[i]
		key := fmt.Sprintf("sites[%d]", i)
		c.expect(!names[s.Name], key+".name", "%q is there already; give each site a name of its own", s.Name)
		names[s.Name] = true
		count += max(1, s.Copies)
		c.site(key, s)
	}
	c.expect(count <= maxSites, "sites", "%d sites with all copies are too many; write up to %d", count, maxSites)
	for i := range c.file.Links {
		c.link(fmt.Sprintf("links[%d]", i), &c.file.Links[i])
	}
}

func (c *checker) expect(right bool, key, format string, args ...any) {
	if !right {
		c.report(key, format, args...)
	}
}

func (c *checker) site(key string, s *Site) {
	if s.Scan == 0 {
		s.Scan = time.Minute
	}
	c.expect(plainName.MatchString(s.Name), key+".name", "%q is not a name; write up to 64 letters, digits, - and _", s.Name)
	c.expect(s.Copies >= 0, key+".copies", "%d: write how many sites there are", s.Copies)
	c.expect(s.Spread >= 0 && s.Spread < 1, key+".spread", "%g: write a share from 0 to less than 1", s.Spread)
	c.expect(s.Scan >= c.file.World.Step && s.Scan%c.file.World.Step == 0, key+".scan", "%s is no multiple of world.step (%s)", s.Scan, c.file.World.Step)
	names := map[string]bool{}
	for i := range s.Models {
		m := &s.Models[i]
		at := fmt.Sprintf("%s.models[%d]", key, i)
		c.expect(!names[m.Name], at+".name", "%q is there already; give each model of a site a name of its own", m.Name)
		names[m.Name] = true
		c.model(at, s, m)
	}
	c.whole(key, s)
	for i := range s.Agents {
		a := &s.Agents[i]
		at := fmt.Sprintf("%s.agents[%d]", key, i)
		c.expect(plainName.MatchString(a.Name), at+".name", "%q is not a name; write up to 64 letters, digits, - and _", a.Name)
		c.expect(strings.Contains(a.Class, ":"), at+".class", "%q: write package.module:Class", a.Class)
	}
}

func (c *checker) model(key string, s *Site, m *Model) {
	c.expect(plainName.MatchString(m.Name), key+".name", "%q is not a name; write up to 64 letters, digits, - and _", m.Name)
	kind, at, err := c.file.kindOf(m)
	if err != nil {
		c.report(key+at, "%v", err)
		return
	}
	if err := kind.Check(m.Parameters); err != nil {
		c.report(key+".parameters", "%s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	for name := range m.Actuators {
		c.expect(m.Inputs[name] != nil, key+".actuators."+name, "it is set in each step; write its value at the start, or an output, to inputs.%s", name)
	}
	for name, in := range m.Inputs {
		at := key + ".inputs." + name
		c.expect(kind.Input(name) >= 0, at, "a %s has no such input; it has %s", m.Kind, portNames(kind.Inputs))
		b, err := parseBinding(in)
		if err != nil {
			c.report(at, "%v", err)
			continue
		}
		for _, r := range b.refs {
			c.ref(at, s, r)
		}
	}
	for _, name := range m.Commands {
		c.expect(kind.Input(name) >= 0, key+".commands", "%q is no input of a %s; it has %s", name, m.Kind, portNames(kind.Inputs))
		b, err := parseBinding(m.Inputs[name])
		c.expect(err != nil || len(b.refs) == 0, key+".commands", "%q is connected to an output; an input is either connected or commanded", name)
	}
}

// ref reports a reference that finds nothing.
func (c *checker) ref(key string, own *Site, r ref) {
	for i := range c.file.Sites {
		s := &c.file.Sites[i]
		if r.site == "" && s != own || r.site != "" && !matches(r.site, s) {
			continue
		}
		for j := range s.Models {
			if s.Models[j].Name != r.model {
				continue
			}
			kind, _, err := c.file.kindOf(&s.Models[j])
			if err == nil && kind.Output(r.output) < 0 {
				c.report(key, "%s: a %s has no such output; it has %s", r, kind.Name, portNames(kind.Outputs))
			}
			return
		}
	}
	c.report(key, "%s: there is no such model; write model.output of this site, or site/model.output", r)
}

// matches reports whether a pattern names a site or one of its copies.
func matches(pattern string, s *Site) bool {
	for i := range max(1, s.Copies) {
		if ok, err := path.Match(pattern, s.nth(i)); ok && err == nil {
			return true
		}
	}
	return false
}

// nth returns the name of one of the copies.
func (s *Site) nth(i int) string {
	if s.Copies == 0 {
		return s.Name
	}
	return fmt.Sprintf("%s-%d", s.Name, i+1)
}

func (c *checker) link(key string, l *Link) {
	known := func(pattern string) bool {
		for i := range c.file.Sites {
			if matches(pattern, &c.file.Sites[i]) {
				return true
			}
		}
		return false
	}
	c.expect(known(l.From), key+".from", "there is no site %q", l.From)
	c.expect(known(l.To), key+".to", "there is no site %q", l.To)
	c.expect(l.Delay >= 0 && l.Jitter >= 0, key+".delay", "is negative; write 0s or more")
	c.expect(l.Loss >= 0 && l.Loss <= 1, key+".loss", "%g: write a share from 0 to 1", l.Loss)
	c.expect(l.Duplicate >= 0 && l.Duplicate <= 1, key+".duplicate", "%g: write a share from 0 to 1", l.Duplicate)
	for i, cut := range l.Cuts {
		c.expect(cut.From >= 0 && cut.To > cut.From, fmt.Sprintf("%s.cuts[%d]", key, i), "a cut must end after it begins")
	}
}

func portNames(ports []model.Port) string {
	var names []string
	for _, p := range ports {
		names = append(names, p.Name)
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
