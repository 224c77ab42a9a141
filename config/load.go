package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/internal/folder"
	"voltbus/internal/strictyaml"
)

var (
	errIsDirectory = errors.New("is a directory; name the file, such as voltbus.yaml")
	errNoFile      = errors.New("is a device or a pipe; name a file, such as voltbus.yaml")
)

// Load reads the configuration of a file, the files that it includes and those that its drivers refer to.
// kinds are the drivers that devices may name. The error is fault.NotFound or fault.Refused if the file
// cannot be read, or fault.Invalid with Problems as its cause.
func Load(file string, kinds []driver.Kind) (*Config, error) {
	const op = "config.Load"
	data, err := readFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.E(op, fault.NotFound, file, errors.New(`does not exist; write one with "voltbus init"`))
	case errors.Is(err, fs.ErrPermission):
		return nil, fault.E(op, fault.Refused, file, errors.New("may not be read; give this user the right to"))
	case err != nil:
		return nil, fault.E(op, fault.Invalid, file, err)
	}
	return LoadText(file, data, kinds)
}

// LoadText is Load for a text in place of the file's content. The error is fault.Invalid with Problems as its
// cause.
func LoadText(file string, text []byte, kinds []driver.Kind) (*Config, error) {
	return LoadFrom(Place{File: file, Kinds: kinds}, text)
}

// Place is the location of a configuration, and what it may refer to.
type Place struct {
	File   string        // the file of the configuration, even if not written yet
	Kinds  []driver.Kind // the drivers that devices may name
	Closed []string      // folders with no configuration files, besides the data directory named in the text
}

// LoadFrom is LoadText for a place. The text may only name files in the file's own folder.
func LoadFrom(at Place, text []byte) (*Config, error) {
	l := &loader{place: place{file: at.File, closed: at.Closed}, kinds: at.Kinds}
	defer l.close()
	cfg := l.load(text)
	return l.outcome(cfg)
}

// Sections decodes the text without its devices and without touching the files that it names. The error is
// that of LoadText.
func Sections(file string, text []byte) (*Config, error) {
	l := &loader{place: place{file: file}}
	_, cfg, _ := l.sections(text)
	return l.outcome(cfg)
}

// outcome returns the configuration, or all its problems.
func (l *loader) outcome(cfg *Config) (*Config, error) {
	if len(l.problems) > 0 {
		return nil, fault.E("config.Load", fault.Invalid, "", Problems(strictyaml.Sort(l.problems)))
	}
	return cfg, nil
}

func readFile(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, errIsDirectory
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	return os.ReadFile(name)
}

// mainFile is the schema of voltbus.yaml: its devices hide those of Config.
type mainFile struct {
	Devices yaml.Node `yaml:"devices"`
	Config  `yaml:",inline"`
}

// deviceFile is the schema of an included file.
type deviceFile struct {
	Devices yaml.Node `yaml:"devices"`
}

// loader collects the content of the files and all problems.
type loader struct {
	place
	kinds    []driver.Kind
	publish  []string // forms of live messages for devices that name none
	devices  []described
	problems []Problem
	notes    []Problem
}

// described is a device with the node that describes it.
type described struct {
	Device
	node  *yaml.Node
	sound bool // it is valid by itself
}

// sections decodes everything except the devices, whose node it returns.
func (l *loader) sections(data []byte) (root *yaml.Node, cfg *Config, devices *yaml.Node) {
	root, problem := strictyaml.Parse(l.file, data)
	if problem != nil {
		l.problems = append(l.problems, *problem)
		return nil, nil, nil
	}
	m := mainFile{Config: *Default()}
	l.add(strictyaml.Decode(l.file, "", root, &m))
	cfg = &m.Config
	l.checkSections(root, cfg)
	l.finish(root, cfg)
	return root, cfg, &m.Devices
}

func (l *loader) load(data []byte) *Config {
	root, cfg, devices := l.sections(data)
	if root == nil {
		return nil
	}
	l.closed = append([]string{cfg.Node.Data}, l.closed...)
	l.publish = once(cfg.Live.Publish)
	l.checkFiles(root, cfg)
	l.decodeDevices(l.file, devices)
	l.include(root, cfg.Include)
	l.checkTogether()
	cfg.Notes = strictyaml.Sort(l.notes)
	cfg.Devices = make([]Device, len(l.devices))
	for i := range l.devices {
		cfg.Devices[i] = l.devices[i].Device
	}
	return cfg
}

// finish fills in what depends on the location: the host's name and the file's directory.
func (l *loader) finish(root *yaml.Node, cfg *Config) {
	if cfg.Node.Name == "" {
		host, err := os.Hostname()
		cfg.Node.Name = nodeName(host)
		if err != nil || cfg.Node.Name == "" {
			l.report(l.file, root, "node.name", "is missing and the host has no name; write one such as plant-1")
		}
	}
	l.nameFiles(cfg)
	if cfg.Node.Data != "" && !filepath.IsAbs(cfg.Node.Data) {
		cfg.Node.Data = filepath.Join(filepath.Dir(l.file), cfg.Node.Data)
	}
	if cfg.Agents.SDK != "" {
		cfg.Agents.SDK = l.near(cfg.Agents.SDK)
	}
}

// include decodes the devices of all files that match the patterns, each file once.
func (l *loader) include(root *yaml.Node, patterns []string) {
	seen := map[string]bool{filepath.Clean(l.file): true}
	for i, pattern := range patterns {
		key := fmt.Sprintf("include[%d]", i)
		files, err := l.glob(pattern)
		switch {
		case errors.Is(err, folder.ErrOutside):
			l.report(l.file, root, key, "%q %v", pattern, err)
		case err != nil:
			l.report(l.file, root, key, "%q is not a pattern; write one such as devices.d/*.yaml", pattern)
		case len(files) == 0 && !strings.ContainsAny(pattern, "*?["):
			l.report(l.file, root, key, "%q does not exist; write the name of a file with devices", pattern)
		}
		for _, file := range files {
			if seen[filepath.Clean(file)] {
				continue
			}
			seen[filepath.Clean(file)] = true
			l.includeFile(root, key, file)
		}
	}
}

func (l *loader) includeFile(root *yaml.Node, key, file string) {
	data, err := l.files(l.file).ReadFile(near(l.file, file), maxInclude)
	if err != nil {
		if pathError, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathError.Err
		}
		l.report(l.file, root, key, "%s cannot be read: %v; include files with devices only", file, err)
		return
	}
	node, problem := strictyaml.Parse(file, data)
	if problem != nil {
		l.problems = append(l.problems, *problem)
		return
	}
	var f deviceFile
	l.add(strictyaml.Decode(file, "", node, &f))
	l.decodeDevices(file, &f.Devices)
}

func (l *loader) add(problems []Problem) { l.problems = append(l.problems, problems...) }

// report records a problem with a key of the file; its keys begin at root.
func (l *loader) report(file string, root *yaml.Node, key, format string, args ...any) {
	l.problems = append(l.problems, strictyaml.New(file, cmp.Or(strictyaml.Line(root, key), 1), key, format, args...))
}
