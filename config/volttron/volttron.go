// Package volttron converts the configuration store of a VOLTTRON platform into a configuration of this one. It
// reads files, and returns the content of the new ones, which the caller writes.
package volttron

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/internal/plural"
)

// ConfigFile and ReportFile are the names of the configuration and the report among the files.
const (
	ConfigFile = "voltbus.yaml"
	ReportFile = "report.md"
)

// Result is a converted store.
type Result struct {
	Files   map[string][]byte // by name, with / between the parts
	Devices int               // converted
	Left    int               // devices left as comments in the configuration
	Notes   []Note            // what was not converted, or differs now
}

// Note tells what was not converted in one entry of the store, and why.
type Note struct {
	Store string // such as platform.driver
	Entry string // "" for the whole store
	Text  string
}

// device is a converted entry "devices/…".
type device struct {
	entry    string // its name in the store
	path     string
	driver   string
	interval time.Duration
	group    int
	offset   time.Duration
	publish  []string // nil: the node's default
	config   *yaml.Node
	beat     string // heartbeat point

	subscribe bool   // it reports changes on its own
	comment   string // why it is left out, with its original content
}

// conversion is the state of one conversion.
type conversion struct {
	result   Result
	store    *store // being converted
	scrape   time.Duration
	apart    time.Duration // between groups
	publish  []string
	beat     time.Duration
	devices  []device
	registry map[string]string // file by store and entry
	texts    map[string]string // texts of entries, by name
}

// Convert converts the store in a folder, which is a configuration_store, a VOLTTRON_HOME with one below, or a file
// NAME.store. The name is that of the new node.
func Convert(folder, name string) (*Result, error) {
	stores, err := openStores(folder)
	if err != nil {
		return nil, err
	}
	c := &conversion{beat: time.Minute, registry: map[string]string{}, texts: map[string]string{}, result: Result{Files: map[string][]byte{}}}
	for i := range stores {
		c.settings(&stores[i])
	}
	for i := range stores {
		c.take(&stores[i])
	}
	text, err := c.yaml(name)
	if err != nil {
		return nil, err
	}
	c.result.Files[ConfigFile] = text
	c.result.Files[ReportFile] = c.report()
	return &c.result, nil
}

// note adds a remark about an entry of the store.
func (c *conversion) note(entry, format string, args ...any) {
	c.result.Notes = append(c.result.Notes, Note{Store: c.store.name, Entry: entry, Text: fmt.Sprintf(format, args...)})
}

// take converts the entries of one store.
func (c *conversion) take(s *store) {
	c.store = s
	used := map[string]bool{"config": s.driver()}
	if s.name == actuator {
		used["config"] = true
	}
	for _, name := range s.names() {
		if strings.HasPrefix(name, devicePrefix) {
			used[name], c.texts[name] = true, s.entries[name].Data
			for _, reference := range c.device(s, name) {
				used[reference] = true
			}
		}
	}
	c.offsets()
	for _, name := range s.names() {
		switch {
		case used[name]:
		case s.driver():
			c.note(name, "no device names it, so it is left out")
		default:
			c.note(name, "is the configuration of an agent: hand it to the agent that takes its place, by voltbus config set")
		}
	}
}

// offsets delays the devices of a group, as the store did.
func (c *conversion) offsets() {
	for i := range c.devices {
		d := &c.devices[i]
		d.offset = time.Duration(d.group) * c.apart
		if d.comment == "" && d.offset >= d.interval {
			c.note(d.entry, "the offset of its group, %v, is not below its interval, so it has none", d.offset)
			d.offset = 0
		}
	}
}

// stagger returns the period over which a group is read; 0 if it is read at once. Each device had its own slot,
// one scrape interval after the previous one.
func (c *conversion) stagger(group int) time.Duration {
	var shortest time.Duration
	n := 0
	for i := range c.devices {
		d := &c.devices[i]
		if d.comment != "" || d.group != group {
			continue
		}
		n++
		if shortest == 0 || d.interval < shortest {
			shortest = d.interval
		}
	}
	if n < 2 || c.scrape == 0 {
		return 0
	}
	return min(time.Duration(n)*c.scrape, shortest)
}

// report describes what was not converted, for people.
func (c *conversion) report() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# What was converted, and what was not\n\n%s converted, %d left as comments in %s.\n",
		plural.Of(c.result.Devices, "device"), c.result.Left, ConfigFile)
	b.WriteString("The history, agents, keys and rights are no part of a configuration store and were not converted.\n")
	last := ""
	for _, n := range c.result.Notes {
		if n.Store != last {
			fmt.Fprintf(&b, "\n## %s\n\n", n.Store)
			last = n.Store
		}
		if n.Entry == "" {
			fmt.Fprintf(&b, "- %s\n", n.Text)
			continue
		}
		fmt.Fprintf(&b, "- `%s`: %s\n", n.Entry, n.Text)
	}
	return b.Bytes()
}

// fileFor returns a unique file name for a registry.
func (c *conversion) fileFor(entry, ending string) string {
	base := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r < ' ' || r == ':' {
			return '_'
		}
		return r
	}, strings.TrimPrefix(path.Base(entry), "."))
	base = "registries/" + strings.TrimSuffix(strings.TrimSuffix(base, ".csv"), ".json")
	taken := slices.Collect(maps.Keys(c.result.Files))
	for name, i := base+ending, 2; ; i++ {
		if !slices.Contains(taken, name) {
			return name
		}
		name = fmt.Sprintf("%s_%d%s", base, i, ending)
	}
}
