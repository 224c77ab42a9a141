package edit

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"voltbus/internal/strictyaml"
)

// insertDevices inserts the lines of devices after those of the others. Its caller verifies the meaning of
// the result: a text can be laid out in more ways than are handled here.
func insertDevices(text []byte, list newDevices) ([]byte, error) {
	root, problem := strictyaml.Parse("", text)
	if problem != nil {
		return nil, errPlace
	}
	lines := strings.SplitAfter(string(text), "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	} else {
		lines[last] += "\n"
	}
	key, devices := devicesIn(root)
	switch {
	case key == nil:
		lines = append(lines, "devices:\n")
		return splice(lines, len(lines), 2, list, yaml.MappingNode)
	case strictNull(devices):
		return splice(lines, key.Line, 2, list, yaml.MappingNode)
	case devices.Style&yaml.FlowStyle != 0 || len(devices.Content) == 0 || devices.Line == key.Line:
		return nil, errPlace
	}
	first := devices.Content[0]
	indent := first.Column - 1
	if devices.Kind == yaml.SequenceNode {
		dash := strings.Index(lines[first.Line-1], "-")
		if dash < 0 {
			return nil, errPlace
		}
		indent = dash
	}
	return splice(lines, endOf(root, key, lines, indent), indent, list, devices.Kind)
}

func strictNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// endOf returns how many lines precede the end of the devices: up to the next key, without the comments and
// blank lines that belong to that key.
func endOf(root, key *yaml.Node, lines []string, indent int) int {
	end := len(lines)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if at := root.Content[i].Line; at > key.Line {
			end = min(end, at-1)
		}
	}
	for ; end > key.Line; end-- {
		line := lines[end-1]
		bare := strings.TrimLeft(line, " ")
		blank := strings.TrimSpace(line) == ""
		comment := strings.HasPrefix(bare, "#") && len(line)-len(bare) < indent
		if !blank && !comment {
			break
		}
	}
	return end
}

// splice inserts the devices, indented, after the first lines.
func splice(lines []string, after, indent int, list newDevices, kind yaml.Kind) ([]byte, error) {
	item, err := list.text(kind)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, line := range lines[:after] {
		b.WriteString(line)
	}
	for line := range strings.Lines(string(item)) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.WriteString(line)
	}
	for _, line := range lines[after:] {
		b.WriteString(line)
	}
	return b.Bytes(), nil
}
