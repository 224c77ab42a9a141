package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// The errors of the YAML parser have no type. It omits the line for the first line, and for an undefined
// alias.
var (
	syntaxPattern = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?(.*)`)
	anchorPattern = regexp.MustCompile(`unknown anchor '([^']*)'`)
)

const twoDocuments = `a second document begins here; remove the line "---" and write one document`

// Parse reads the single document of a YAML file. The file name is only used in problems. An empty document
// gives an empty mapping. After a problem the node is nil.
func Parse(file string, data []byte) (*yaml.Node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: 1, Column: 1}, nil
	} else if err != nil {
		return nil, syntaxProblem(file, data, err)
	}
	var next yaml.Node
	if err := dec.Decode(&next); err == nil {
		return nil, &Problem{File: file, Line: next.Line, Text: twoDocuments, Kind: twoDocuments}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(file, data, err)
	}
	return doc.Content[0], nil
}

func syntaxProblem(file string, data []byte, err error) *Problem {
	line, text := splitLine(err.Error())
	if line == 0 {
		line = 1 + bytes.Count(data[:offender(data, text)], []byte("\n"))
	}
	return &Problem{File: file, Line: line, Text: "not YAML: " + text + hint(text), Kind: "is not YAML" + hint(text)}
}

// splitLine removes "yaml: line 3: " from an error of the YAML package.
func splitLine(text string) (line int, rest string) {
	m := syntaxPattern.FindStringSubmatch(strings.ReplaceAll(text, "\n", " "))
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// offender returns the line at which the parser stopped, if the parser did not name it.
func offender(data []byte, text string) int {
	at := 0
	switch m := anchorPattern.FindStringSubmatch(text); {
	case m != nil:
		at = bytes.Index(data, []byte("*"+m[1]))
	case strings.Contains(text, "control characters"):
		at = bytes.IndexFunc(data, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f })
	case strings.Contains(text, "UTF-8"):
		at = bytes.IndexRune(data, utf8.RuneError)
	}
	return max(at, 0)
}

// hint explains the usual cause of a YAML parser error.
func hint(text string) string {
	switch {
	case strings.Contains(text, "cannot start any token"):
		return "; indent with spaces, not tabs, and put quotes around text that begins with @, % or `"
	case strings.Contains(text, "did not find expected key"), strings.Contains(text, "mapping values are not allowed"):
		return "; align the key with the ones beside it, and put quotes around text that contains a colon"
	case strings.Contains(text, "control characters"), strings.Contains(text, "UTF-8"):
		return "; save the file as UTF-8 text"
	}
	return ""
}

// Line returns the line of the key below node, such as "registry[3].type". If it is absent, the line of the
// part that exists; 0 if node is nil.
func Line(node *yaml.Node, key string) int {
	if node == nil {
		return 0
	}
	line := node.Line
	for key != "" {
		keyNode, value, rest := step(node, key)
		if value == nil {
			break
		}
		line, node, key = keyNode.Line, value, rest
	}
	return line
}

// step follows the first part of key. The node that names the part and its value are nil if it is absent.
// Keys may contain dots: the longest match counts.
func step(node *yaml.Node, key string) (name, value *yaml.Node, rest string) {
	node = resolve(node)
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			k := node.Content[i]
			after, ok := strings.CutPrefix(key, k.Value)
			if !ok || (after != "" && after[0] != '.' && after[0] != '[') {
				continue
			}
			if name == nil || len(k.Value) > len(name.Value) {
				name, value, rest = k, node.Content[i+1], strings.TrimPrefix(after, ".")
			}
		}
	case yaml.SequenceNode:
		number, after, ok := strings.Cut(strings.TrimPrefix(key, "["), "]")
		i, err := strconv.Atoi(number)
		if ok && err == nil && i >= 0 && i < len(node.Content) {
			return node.Content[i], node.Content[i], strings.TrimPrefix(after, ".")
		}
	case yaml.DocumentNode, yaml.ScalarNode, yaml.AliasNode:
	}
	return name, value, rest
}

// resolve follows aliases. A document node is replaced by its content.
func resolve(node *yaml.Node) *yaml.Node {
	for range maxDepth {
		switch {
		case node.Kind == yaml.AliasNode && node.Alias != nil:
			node = node.Alias
		case node.Kind == yaml.DocumentNode && len(node.Content) > 0:
			node = node.Content[0]
		default:
			return node
		}
	}
	return node
}
