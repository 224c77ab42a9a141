// Package edit adds devices to the text of a configuration, preserving its comments and layout.
package edit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/config"
	"voltbus/fault"
	"voltbus/internal/strictyaml"
	"voltbus/point"
)

// NewDevice is a device to add to a file. Empty fields are omitted, so that defaults apply.
type NewDevice struct {
	Path     string
	Driver   string
	Interval string
	Config   []byte // the driver's configuration as a JSON object; may be empty
}

var errPlace = errors.New("its devices stand in a form that cannot be added to; write the device into the file by hand")

// ReadDevice checks a single device as if it were in the file, and returns it, with notes on what was left out of
// its lists. The keys of the problems are relative to the device, such as "config.address", and have no line.
func ReadDevice(at config.Place, d NewDevice) (*config.Device, config.Problems, error) {
	text, err := newDevices{d}.text(yaml.SequenceNode)
	if err != nil {
		return nil, nil, err
	}
	cfg, err := config.LoadFrom(at, slices.Concat([]byte("devices:\n"), text))
	if list, ok := errors.AsType[config.Problems](err); ok {
		return nil, nil, fault.E("edit.ReadDevice", fault.Invalid, d.Path, bare(list, at.File))
	}
	if err != nil {
		return nil, nil, err
	}
	return &cfg.Devices[0], bare(cfg.Notes, at.File), nil
}

// bare makes the keys of problems relative to a single device.
func bare(list config.Problems, file string) config.Problems {
	out := make(config.Problems, len(list))
	for i, p := range list {
		p.Key = strings.TrimPrefix(strings.TrimPrefix(p.Key, "devices[0]"), ".")
		if p.File == file {
			p.File, p.Line = "", 0
		}
		out[i] = p
	}
	return out
}

// AddDevice returns the text of the file with one more device after the existing ones, and the configuration that it
// then decodes to. Comments and the rest of the text do not change if each device begins on its own line; a list in
// brackets is rewritten.
func AddDevice(at config.Place, text []byte, d NewDevice) ([]byte, *config.Config, error) {
	return AddDevices(at, text, []NewDevice{d})
}

// AddDevices is AddDevice for several devices, all or none. The error of one names its path.
func AddDevices(at config.Place, text []byte, list []NewDevice) ([]byte, *config.Config, error) {
	const op = "edit.AddDevice"
	before, err := config.LoadFrom(at, text)
	if err != nil {
		return nil, nil, err
	}
	if err := free(at, before, list); err != nil {
		return nil, nil, err
	}
	err = fault.E(op, fault.Conflict, at.File, errPlace)
	for _, add := range []func([]byte, newDevices) ([]byte, error){insertDevices, rewriteDevices} {
		next, failed := add(text, list)
		if failed != nil {
			continue
		}
		after, failed := config.LoadFrom(at, next)
		if failed != nil {
			err = failed
		} else if added(before, after, list) {
			return next, after, nil
		}
	}
	return nil, nil, err
}

// free checks each new device by itself, and that no other has its path.
func free(at config.Place, before *config.Config, list []NewDevice) error {
	const op = "edit.AddDevice"
	taken := make(map[string]string, len(before.Devices)+len(list))
	for i := range before.Devices {
		other := &before.Devices[i]
		taken[string(other.Path)] = fmt.Sprintf("is the path of a device already, in %s:%d; choose another", other.Source.File, other.Source.Line)
	}
	for _, d := range list {
		_, _, err := ReadDevice(at, d)
		if problems, ok := errors.AsType[config.Problems](err); ok && len(list) > 1 {
			for i := range problems {
				problems[i].Key = strings.TrimSuffix(d.Path+": "+problems[i].Key, ": ")
			}
			return fault.E(op, fault.Invalid, d.Path, problems)
		}
		if err != nil {
			return err
		}
		if why := taken[d.Path]; why != "" {
			return fault.E(op, fault.Conflict, d.Path, errors.New(why))
		}
		taken[d.Path] = "stands there twice; give each device a path of its own"
	}
	return nil
}

// added reports whether the configurations differ only in the devices.
func added(before, after *config.Config, list []NewDevice) bool {
	c := config.Compare(before, after)
	paths := make([]point.Path, len(list))
	for i := range list {
		paths[i] = point.Path(list[i].Path)
	}
	slices.Sort(paths)
	slices.Sort(c.Added)
	return slices.Equal(c.Added, paths) && len(c.Changed)+len(c.Removed)+len(c.Restart) == 0
}

// newDevices are written one behind the other.
type newDevices []NewDevice

// text formats the devices as a list or mapping of their own.
func (list newDevices) text(kind yaml.Kind) ([]byte, error) {
	node := &yaml.Node{Kind: kind}
	if err := list.appendTo(node); err != nil {
		return nil, err
	}
	return encode(node)
}

func (list newDevices) appendTo(devices *yaml.Node) error {
	for _, d := range list {
		if err := d.appendTo(devices); err != nil {
			return err
		}
	}
	return nil
}

// appendTo adds the device to a list or mapping.
func (d NewDevice) appendTo(devices *yaml.Node) error {
	item := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value *yaml.Node) { item.Content = append(item.Content, textNode(key), value) }
	if devices.Kind == yaml.SequenceNode {
		add("path", textNode(d.Path))
	}
	add("driver", textNode(d.Driver))
	if d.Interval != "" {
		add("interval", textNode(d.Interval))
	}
	if len(bytes.TrimSpace(d.Config)) > 0 {
		section, err := fromJSON(d.Config)
		if err != nil {
			return fault.E("edit.AddDevice", fault.Invalid, "config", err)
		}
		add("config", section)
	}
	if devices.Kind == yaml.MappingNode {
		devices.Content = append(devices.Content, textNode(d.Path))
	}
	devices.Content = append(devices.Content, item)
	return nil
}

func textNode(text string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(text)
	return n
}

func encode(node *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(node), enc.Close())
	if err != nil {
		return nil, fault.E("edit.AddDevice", fault.Invalid, "", fmt.Errorf("cannot be written as YAML: %w", err))
	}
	return b.Bytes(), nil
}

// rewriteDevices adds the devices to the file's tree and formats the tree: comments are kept, blank lines and
// the style of the list may not be.
func rewriteDevices(text []byte, list newDevices) ([]byte, error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil {
		return nil, errPlace
	}
	key, devices := devicesIn(root)
	if devices == nil || (devices.Kind != yaml.SequenceNode && devices.Kind != yaml.MappingNode) {
		return nil, errPlace
	}
	devices.Style &^= yaml.FlowStyle
	key.LineComment, devices.LineComment = devices.LineComment, "" // lists on lines below their key have none
	if err := list.appendTo(devices); err != nil {
		return nil, err
	}
	return encode(root)
}

// devicesIn returns the key "devices" and its value, nil if absent.
func devicesIn(root *yaml.Node) (key, value *yaml.Node) {
	for i := 0; root.Kind == yaml.MappingNode && i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "devices" {
			return root.Content[i], root.Content[i+1]
		}
	}
	return nil, nil
}
