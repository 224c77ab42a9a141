package edit

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/config"
	"voltbus/fault"
	"voltbus/internal/strictyaml"
)

// Added is a configuration with one more MQTT message template.
type Added struct {
	Name, Topic string // of the added template
	Text        []byte // the text of the file; nil if there is none
	Config      *config.Config
}

var (
	errEntry     = errors.New("is not one template; write an entry of mqtt.templates in YAML, such as voltbus mqtt unknown --propose prints")
	errTemplates = errors.New("its section mqtt stands in a form that cannot be added to; write the template into the file by hand")
)

// The keys that lead to the templates.
const sectionKey, templatesKey = "mqtt", "templates"

// AddTemplate returns the text of the file with one more entry of mqtt.templates after the existing ones, and what it decodes to. The
// rest of the text does not change if each template begins on its own line; otherwise it is reformatted, with its comments. For an
// invalid entry the line numbers of the error refer to the text returned with it.
func AddTemplate(at config.Place, text, entry []byte) (Added, error) {
	const op = "edit.AddTemplate"
	before, err := config.LoadFrom(at, text)
	if err != nil {
		return Added{}, err
	}
	item, err := entryOf(entry)
	if err != nil {
		return Added{}, fault.E(op, fault.Invalid, "template", err)
	}
	out, err := Added{}, fault.E(op, fault.Conflict, at.File, errTemplates)
	for _, add := range []func([]byte, *yaml.Node) ([]byte, error){insertTemplate, rewriteTemplates} {
		next, failed := add(text, item)
		if failed != nil {
			continue
		}
		after, failed := config.LoadFrom(at, next)
		if failed != nil {
			out.Text, err = next, failed
			continue
		}
		if list := after.MQTT.Templates; templateAdded(before, after) {
			last := &list[len(list)-1]
			return Added{last.Name, last.Topic, next, after}, nil
		}
	}
	return out, err
}

// entryOf returns the template of an entry: a mapping, or a list with one.
func entryOf(text []byte) (*yaml.Node, error) {
	root, problem := strictyaml.Parse("template", text)
	if problem != nil {
		return nil, fmt.Errorf("%s: %w", problem.Text, errEntry)
	}
	if root.Kind == yaml.SequenceNode && len(root.Content) == 1 {
		root = root.Content[0]
	}
	if root.Kind != yaml.MappingNode {
		return nil, errEntry
	}
	return root, nil
}

// templateAdded reports whether the configurations differ only in the last template.
func templateAdded(before, after *config.Config) bool {
	had, has := before.MQTT.Templates, after.MQTT.Templates
	c := config.Compare(before, after)
	c.Templates = false
	return c.Empty() && len(has) == len(had)+1 && (len(had) == 0 || reflect.DeepEqual(had, has[:len(had)]))
}

// within returns a key of a mapping and its value, nil if absent.
func within(node *yaml.Node, name string) (key, value *yaml.Node) {
	if node == nil || node.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			return node.Content[i], node.Content[i+1]
		}
	}
	return nil, nil
}

// insertTemplate inserts the lines of a template after those of the others. As with insertDevices, its caller verifies the meaning
// of the result.
func insertTemplate(text []byte, item *yaml.Node) ([]byte, error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil {
		return nil, errTemplates
	}
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	section, keys := within(root, sectionKey)
	key, list := within(keys, templatesKey)
	var before []string
	var after, indent int
	switch {
	case section == nil:
		before, after, indent = []string{"mqtt:\n", "  templates:\n"}, len(lines), 4
	case keys.Kind != yaml.MappingNode || keys.Style&yaml.FlowStyle != 0 || len(keys.Content) == 0:
		return nil, errTemplates
	case key == nil:
		indent = keys.Content[0].Column - 1
		before, after = []string{strings.Repeat(" ", indent) + "templates:\n"}, section.Line
		indent += 2
	case list.Kind != yaml.SequenceNode || list.Style&yaml.FlowStyle != 0 || len(list.Content) == 0:
		return nil, errTemplates
	default:
		after = lastLine(list)
		if indent = strings.Index(lines[list.Content[0].Line-1], "-"); indent < 0 {
			return nil, errTemplates
		}
	}
	written, err := encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{item}})
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(written)) {
		before = append(before, strings.Repeat(" ", indent)+line)
	}
	return []byte(strings.Join(slices.Insert(lines, after, before...), "")), nil
}

// lastLine returns the last line on which any part of a node begins.
func lastLine(n *yaml.Node) int {
	last := n.Line
	for _, child := range n.Content {
		last = max(last, lastLine(child))
	}
	return last
}

// rewriteTemplates adds the template to the file's tree and formats the tree.
func rewriteTemplates(text []byte, item *yaml.Node) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errTemplates
	}
	root, problem := strictyaml.Parse("", text)
	if problem != nil || root.Kind != yaml.MappingNode {
		return nil, errTemplates
	}
	at := root
	for _, step := range []struct {
		name string
		kind yaml.Kind
	}{{sectionKey, yaml.MappingNode}, {templatesKey, yaml.SequenceNode}} {
		name, kind := step.name, step.kind
		_, value := within(at, name)
		switch {
		case value == nil:
			value = &yaml.Node{Kind: kind}
			at.Content = append(at.Content, textNode(name), value)
		case strictNull(value):
			*value = yaml.Node{Kind: kind}
		case value.Kind != kind:
			return nil, errTemplates
		}
		value.Style &^= yaml.FlowStyle
		at = value
	}
	at.Content = append(at.Content, item)
	return encode(root)
}
