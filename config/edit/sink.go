package edit

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/config"
	"voltbus/fault"
	"voltbus/internal/strictyaml"
	"voltbus/sink/setting"
)

const sinksKey = "sinks"

var errSinks = errors.New("its section sinks stands in a form that cannot be changed; write the destination into the file by hand")

// Sink returns the settings of a destination as they stand in a text, as a JSON object; false if there is none of that name.
func Sink(text []byte, name string) (settings []byte, found bool, err error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil {
		return nil, false, fault.E("edit.Sink", fault.Invalid, name, errSinks)
	}
	_, list := within(root, sinksKey)
	at := sinkAt(list, name)
	if at < 0 {
		return nil, false, nil
	}
	var entry map[string]any
	if err := list.Content[at].Decode(&entry); err != nil {
		return nil, false, fault.E("edit.Sink", fault.Invalid, name, errSinks)
	}
	settings, err = json.Marshal(entry)
	return settings, true, err
}

// PutSink returns the text of the file with a destination that has these settings, a JSON object with the keys of the entry but for
// name: in the place of the one of that name, or behind the others. It returns what the text decodes to, too. The rest of the text stays
// as it is if each destination begins on its own line; otherwise it is reformatted, with its comments. The keys of problems with the
// settings are relative to the entry.
func PutSink(at config.Place, text []byte, name string, settings []byte) ([]byte, *config.Config, error) {
	const op = "edit.PutSink"
	item, err := fromJSON(settings)
	if err != nil {
		return nil, nil, fault.E(op, fault.Invalid, "settings", err)
	}
	item.Content = append([]*yaml.Node{textNode("name"), textNode(name)}, withoutName(item.Content)...)
	return changeSinks(op, at, text, name, item)
}

// RemoveSink returns the text of the file without a destination, and what it decodes to.
func RemoveSink(at config.Place, text []byte, name string) ([]byte, *config.Config, error) {
	return changeSinks("edit.RemoveSink", at, text, name, nil)
}

func withoutName(pairs []*yaml.Node) (out []*yaml.Node) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i].Value != "name" {
			out = append(out, pairs[i], pairs[i+1])
		}
	}
	return out
}

// changeSinks puts an entry in the place of the one of a name; nil removes it.
func changeSinks(op string, at config.Place, text []byte, name string, item *yaml.Node) ([]byte, *config.Config, error) {
	before, err := config.LoadFrom(at, text)
	if err != nil {
		return nil, nil, err
	}
	index := slices.IndexFunc(before.Sinks, sinkNamed(name))
	if item == nil && index < 0 {
		return nil, nil, fault.E(op, fault.NotFound, name, errors.New("there is no such destination; voltbus sinks list names them"))
	}
	err = fault.E(op, fault.Conflict, at.File, errSinks)
	for _, change := range []func([]byte, string, *yaml.Node) ([]byte, error){spliceSink, rewriteSinks} {
		next, failed := change(text, name, item)
		if failed != nil {
			continue
		}
		after, failed := config.LoadFrom(at, next)
		if list, wrong := errors.AsType[config.Problems](failed); wrong {
			err = fault.E(op, fault.Invalid, name, bareSink(list, at.File))
		} else if failed != nil {
			err = failed
		} else if onlySink(before, after, name, item != nil) {
			return next, after, nil
		}
	}
	return nil, nil, err
}

func sinkNamed(name string) func(setting.Sink) bool {
	return func(s setting.Sink) bool { return s.Name == name }
}

// onlySink reports whether the configurations differ in the destination of a name only.
func onlySink(before, after *config.Config, name string, there bool) bool {
	c := config.Compare(before, after)
	c.Sinks = false
	is := slices.ContainsFunc(after.Sinks, sinkNamed(name))
	had, has := slices.DeleteFunc(slices.Clone(before.Sinks), sinkNamed(name)), slices.DeleteFunc(slices.Clone(after.Sinks), sinkNamed(name))
	return c.Empty() && is == there && slices.EqualFunc(had, has, func(a, b setting.Sink) bool { return reflect.DeepEqual(a, b) })
}

// bareSink makes the keys of problems relative to the entry that they are about.
func bareSink(list config.Problems, file string) config.Problems {
	out := make(config.Problems, len(list))
	for i, p := range list {
		if _, key, in := strings.Cut(p.Key, "]."); in && strings.HasPrefix(p.Key, sinksKey+"[") {
			p.Key = key
		}
		if p.File == file {
			p.File, p.Line = "", 0
		}
		out[i] = p
	}
	return out
}

// sinkAt returns the index of the entry with a name in a list, -1 if there is none.
func sinkAt(list *yaml.Node, name string) int {
	if list == nil || list.Kind != yaml.SequenceNode {
		return -1
	}
	return slices.IndexFunc(list.Content, func(n *yaml.Node) bool {
		_, value := within(n, "name")
		return value != nil && value.Value == name
	})
}

// spliceSink replaces the lines of an entry. As with insertDevices, its caller verifies the meaning of the result.
func spliceSink(text []byte, name string, item *yaml.Node) ([]byte, error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil {
		return nil, errSinks
	}
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	key, list := within(root, sinksKey)
	from, to, indent := len(lines), len(lines), 2
	var written []string
	switch {
	case key == nil:
		written = []string{sinksKey + ":\n"}
	case list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0 || list.Line == key.Line:
		return nil, errSinks
	default:
		if indent = strings.Index(lines[list.Content[0].Line-1], "-"); indent < 0 {
			return nil, errSinks
		}
		if at := sinkAt(list, name); at >= 0 {
			from, to = list.Content[at].Line-1, lastLine(list.Content[at])
			if item == nil && len(list.Content) == 1 {
				from = key.Line - 1 // an empty section is of no use
			}
		} else {
			from = lastLine(list)
			to = from
		}
	}
	if item != nil {
		entry, err := encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}})
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(entry)) {
			written = append(written, strings.Repeat(" ", indent)+line)
		}
	}
	return []byte(strings.Join(slices.Replace(lines, from, to, written...), "")), nil
}

// rewriteSinks changes the entry in the file's tree and formats the tree.
func rewriteSinks(text []byte, name string, item *yaml.Node) ([]byte, error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil || root.Kind != yaml.MappingNode {
		return nil, errSinks
	}
	_, list := within(root, sinksKey)
	switch {
	case list == nil:
		list = &yaml.Node{Kind: yaml.SequenceNode}
		root.Content = append(root.Content, textNode(sinksKey), list)
	case strictNull(list):
		*list = yaml.Node{Kind: yaml.SequenceNode}
	case list.Kind != yaml.SequenceNode:
		return nil, errSinks
	}
	at := sinkAt(list, name)
	switch {
	case item == nil && at >= 0:
		list.Content = slices.Delete(list.Content, at, at+1)
	case item != nil && at >= 0:
		list.Content[at] = item
	case item != nil:
		list.Content = append(list.Content, item)
	default:
		return nil, fmt.Errorf("%s: %w", name, errSinks)
	}
	if len(list.Content) > 0 {
		list.Style &^= yaml.FlowStyle
	}
	return encode(root)
}
