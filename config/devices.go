package config

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// maxCount is the most repetitions of a device.
const maxCount = 1_000_000

// decodeDevices decodes the value of "devices": a mapping from keys to devices, or a list.
func (l *loader) decodeDevices(file string, node *yaml.Node) {
	if node.Kind == yaml.SequenceNode {
		for i, item := range node.Content {
			l.decodeRepeated(file, fmt.Sprintf("devices[%d]", i), "", item)
		}
		return
	}
	// Decoding into a mapping of raw nodes reports a wrong form and duplicate keys.
	var named map[string]yaml.Node
	l.add(strictyaml.Decode(file, "devices", node, &named))
	for i := 0; i+1 < len(node.Content) && node.Kind == yaml.MappingNode; i += 2 {
		name := node.Content[i].Value
		if item, ok := named[name]; ok {
			delete(named, name)
			l.decodeRepeated(file, "devices."+name, name, at(&item, node.Content[i].Line))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(named)) { // keys that a merge added
		item := named[name]
		l.decodeRepeated(file, "devices."+name, name, &item)
	}
}

// at returns the node with the line of its key, where people look for it.
func at(node *yaml.Node, line int) *yaml.Node {
	node.Line = line
	return node
}

// decodeRepeated decodes a device with its repetitions. It stops at the first one with a problem: the others
// would have the same one.
func (l *loader) decodeRepeated(file, key, name string, node *yaml.Node) {
	var r struct{ Count, Start yaml.Node }
	_ = strictyaml.Decode(file, key, node, &r) // decoding the device reports the problems
	count, start := 0, 1
	strictyaml.Decode(file, key, &r.Count, &count)
	strictyaml.Decode(file, key, &r.Start, &start)
	src := Source{File: file, Line: node.Line, Key: key}
	if count < 0 || count > maxCount {
		l.reportIn(src, node, "count", "%d is out of range; write 1 to %d, or leave it out", count, maxCount)
		return
	}
	if count == 0 {
		l.decodeDevice(src, name, node)
		return
	}
	for n := start; n < start+count; n++ {
		before := len(l.problems)
		l.decodeDevice(src, expand(name, n), expandNode(node, n))
		if len(l.problems) > before {
			return
		}
		if i := len(l.devices); n > start && l.devices[i-1].Path == l.devices[i-2].Path {
			l.reportIn(src, node, "path", "is the same for all %d devices; put {n} into it", count)
			l.devices = l.devices[:i-1]
			return
		}
	}
}

func (l *loader) decodeDevice(src Source, name string, node *yaml.Node) {
	before := len(l.problems)
	e := NewEntry()
	e.Path, e.Publish = point.Path(name), slices.Clone(l.publish)
	l.add(strictyaml.Decode(src.File, src.Key, node, &e))
	d := described{Device: e.Device, node: node}
	d.Source = src
	decoded := l.problems[before:]
	r := func(key, format string, args ...any) {
		if !slices.ContainsFunc(decoded, func(p Problem) bool { return p.Key == src.Key+"."+key }) {
			l.reportIn(src, node, key, format, args...)
		}
	}
	if slices.ContainsFunc(decoded, func(p Problem) bool { return p.Key == src.Key }) {
		return // not a device at all
	}
	d.validate(r)
	l.decodeConfig(&d.Device, node, &e.Config, r)
	if len(l.problems) == before {
		d.validateControl(r)
	}
	d.sound = len(l.problems) == before
	l.devices = append(l.devices, d)
}

// decodeConfig finds the driver and lets it check its section.
func (l *loader) decodeConfig(d *Device, node, section *yaml.Node, r report) {
	i := slices.IndexFunc(l.kinds, func(k driver.Kind) bool { return k.Name == d.Driver })
	if i < 0 {
		if d.Driver != "" {
			r("driver", "%q is not a driver; %s", d.Driver, strictyaml.Suggest(d.Driver, kindNames(l.kinds)))
		}
		return
	}
	key := d.Source.Key + ".config"
	d.Config = l.kinds[i].NewConfig()
	problems := strictyaml.Decode(d.Source.File, key, section, d.Config)
	for _, err := range slices.Concat(d.Config.Load(l.files(d.Source.File)), d.Config.Validate()) {
		p := driverProblem(d.Source.File, key, node, err)
		said, ok := errors.AsType[*driver.Problem](err)
		if ok && said.Note {
			l.notes = append(l.notes, p)
			continue
		}
		// The rows of a list have their own keys; problems of its heading have none.
		ofHeading := ok && said.Row > 0 && !strings.Contains(said.Key, "[")
		if ofHeading || !slices.ContainsFunc(problems, func(q Problem) bool { return q.Key == p.Key }) {
			problems = append(problems, p)
		}
	}
	l.add(problems)
}

// driverProblem locates a driver's problem in its section.
func driverProblem(file, key string, device *yaml.Node, err error) Problem {
	p, ok := errors.AsType[*driver.Problem](err)
	if !ok {
		return Problem{File: file, Line: strictyaml.Line(device, "config"), Key: key, Text: oneLine(err.Error())}
	}
	inner := "config"
	if p.Key != "" {
		sep := "."
		if p.Key[0] == '[' {
			sep = ""
		}
		key, inner = key+sep+p.Key, inner+sep+p.Key
	}
	if p.File != "" {
		if !filepath.IsAbs(p.File) {
			file = filepath.Dir(file)
			p.File = filepath.Join(file, p.File)
		}
		return Problem{File: p.File, Line: p.Row, Key: key, Text: oneLine(p.Text), Kind: p.Kind}
	}
	return Problem{File: file, Line: strictyaml.Line(device, inner), Key: key, Text: oneLine(p.Text), Kind: p.Kind}
}

// oneLine keeps foreign text from breaking the list of problems.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

func kindNames(kinds []driver.Kind) []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.Name
	}
	slices.Sort(names)
	return names
}

// reportIn records a problem with a key of a device.
func (l *loader) reportIn(src Source, node *yaml.Node, key, format string, args ...any) {
	l.problems = append(l.problems, strictyaml.New(src.File, strictyaml.Line(node, key), src.Key+"."+key, format, args...))
}
