package document

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parsed is the content of a text, and where its parts stand.
type parsed struct {
	value any        // of the kinds of encoding/json, numbers as json.Number
	root  *yaml.Node // nil if places are unknown
}

// parse reads a text. An error is Problems.
func parse(t Type, text string) (parsed, error) {
	switch t {
	case YAML:
		return parseYAML(text)
	case JSON:
		return parseJSON(text)
	case CSV:
		v, err := parseCSV(text)
		return parsed{value: v}, err
	case Text:
	}
	return parsed{value: text}, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): `)

func wrong(line int, path, text string) error { return Problems{{Line: line, Path: path, Text: text}} }

func yamlProblem(err error) error {
	text, line := strings.TrimPrefix(err.Error(), "yaml: "), 0
	if at := yamlLine.FindStringSubmatchIndex(text); at != nil {
		line, _ = strconv.Atoi(text[at[2]:at[3]]) // digits
		text = text[:at[0]] + text[at[1]:]
	}
	return wrong(line, "", "is not YAML: "+strings.Join(strings.Fields(text), " "))
}

func parseYAML(text string) (parsed, error) {
	var root yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(text))
	if err := decoder.Decode(&root); errors.Is(err, io.EOF) {
		return parsed{}, wrong(0, "", "is empty; write {} for nothing")
	} else if err != nil {
		return parsed{}, yamlProblem(err)
	}
	var more yaml.Node
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return parsed{}, wrong(more.Line, "", "has a second document behind ---; a text holds one")
	}
	if err := prepare(&root, ""); err != nil {
		return parsed{}, err
	}
	var value any
	if err := root.Decode(&value); err != nil {
		return parsed{}, yamlProblem(err)
	}
	value, err := plain(value)
	return parsed{value, &root}, err
}

// prepare takes times for the texts that they are in JSON, and refuses keys that JSON does not have.
func prepare(n *yaml.Node, path string) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	if n.Kind == yaml.AliasNode {
		return nil // what it stands for is prepared where it stands
	}
	seen := map[string]bool{}
	for i, child := range n.Content {
		at := path
		switch {
		case n.Kind == yaml.MappingNode && i%2 == 0:
			if err := prepareKey(child, path, seen); err != nil {
				return err
			}
		case n.Kind == yaml.MappingNode:
			at = join(path, n.Content[i-1].Value)
		case n.Kind == yaml.SequenceNode:
			at = join(path, strconv.Itoa(i))
		}
		if err := prepare(child, at); err != nil {
			return err
		}
	}
	return nil
}

func prepareKey(key *yaml.Node, path string, seen map[string]bool) error {
	switch {
	case key.Kind != yaml.ScalarNode:
		return wrong(key.Line, path, "has a key that is no text")
	case seen[key.Value]:
		return wrong(key.Line, join(path, key.Value), "stands twice")
	case key.Tag != "!!merge":
		key.Tag = "!!str" // 1: is "1":, as in JSON
	}
	seen[key.Value] = true
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// plain gives the values of YAML the kinds that those of JSON have.
func plain(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if v[k], err = plain(v[k]); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range v {
			if v[i], err = plain(v[i]); err != nil {
				return nil, err
			}
		}
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, wrong(0, "", "has a number that is not finite; write a text such as \"NaN\"")
		}
		return json.Number(strconv.FormatFloat(v, 'g', -1, 64)), nil
	case int:
		return json.Number(strconv.Itoa(v)), nil
	case int64:
		return json.Number(strconv.FormatInt(v, 10)), nil
	case uint64:
		return json.Number(strconv.FormatUint(v, 10)), nil
	}
	return v, nil
}

func parseJSON(text string) (parsed, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil {
		if _, more := decoder.Token(); !errors.Is(more, io.EOF) {
			return parsed{}, wrong(lineAt(text, decoder.InputOffset()), "", "has something behind the JSON")
		}
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return parsed{}, wrong(lineAt(text, syntax.Offset), "", "is not JSON: "+syntax.Error())
	case errors.Is(err, io.EOF):
		return parsed{}, wrong(0, "", "is empty; write {} for nothing")
	case err != nil:
		return parsed{}, wrong(lineAt(text, int64(len(text))), "", "is not JSON: it ends too early")
	}
	var root yaml.Node
	if yaml.Unmarshal([]byte(text), &root) != nil {
		return parsed{value: value}, nil //nolint:nilerr // not all JSON is YAML; then places are unknown
	}
	return parsed{value, &root}, prepare(&root, "")
}

func lineAt(text string, offset int64) int {
	return 1 + strings.Count(text[:min(int(offset), len(text))], "\n")
}

// parseCSV reads rows as objects by the names in the first row.
func parseCSV(text string) (any, error) {
	reader := csv.NewReader(bytes.NewReader([]byte(strings.TrimPrefix(text, "\ufeff"))))
	reader.TrimLeadingSpace = true
	header, err := reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, wrong(0, "", "is empty; the first row names the columns")
	}
	seen := map[string]bool{}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
		if seen[header[i]] && err == nil {
			return nil, wrong(1, header[i], "is the name of two columns")
		}
		seen[header[i]] = true
	}
	rows := []any{}
	for err == nil {
		var fields []string
		if fields, err = reader.Read(); err == nil {
			row := make(map[string]any, len(fields))
			for i, f := range fields {
				row[header[i]] = f
			}
			rows = append(rows, row)
		}
	}
	var bad *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return rows, nil
	case errors.As(err, &bad) && errors.Is(bad.Err, csv.ErrFieldCount):
		return nil, wrong(bad.Line, "", fmt.Sprintf("the row has not the %d fields of the first row", len(header)))
	case errors.As(err, &bad):
		return nil, wrong(bad.Line, "", "is not CSV: "+bad.Err.Error())
	}
	return nil, wrong(0, "", "is not CSV: "+err.Error())
}

// line returns where the value at a path stands, or the deepest part of it that the text has.
func (p *parsed) line(path []string) int {
	n := p.root
	if n == nil {
		return 0
	}
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	line := n.Line
	for _, step := range path {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		next, at := child(n, step)
		if next == nil {
			break
		}
		n, line = next, at
	}
	return line
}

func child(n *yaml.Node, step string) (*yaml.Node, int) {
	switch n.Kind { //nolint:exhaustive // others have no children
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1], n.Content[i].Line
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i].Line
		}
	}
	return nil, 0
}
