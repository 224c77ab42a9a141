package strictyaml

import (
	"encoding"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

const (
	maxDepth = 100     // of nesting, which also ends an alias that contains itself
	maxNodes = 2000000 // visited, which ends aliases that multiply
)

// Decode decodes node into what out points to. file and key are the location of node; key is "" for a whole
// file. It returns all problems in the order of the file. Invalid values keep their defaults, so that out can
// still be validated.
func Decode(file, key string, node *yaml.Node, out any) []Problem {
	d := &decoder{file: file}
	d.decode(node, key, field{}, reflect.ValueOf(out).Elem(), 0)
	return d.problems
}

type decoder struct {
	file     string
	problems []Problem
	nodes    int
	overrun  bool
}

func (d *decoder) report(node *yaml.Node, key, format string, args ...any) {
	d.problems = append(d.problems, New(d.file, node.Line, key, format, args...))
}

// decode decodes node into v, which must be settable. The field holds the struct tags.
func (d *decoder) decode(node *yaml.Node, key string, f field, v reflect.Value, depth int) {
	if d.tooMuch(node, key, depth) {
		return
	}
	if v.Type() == reflect.TypeFor[yaml.Node]() {
		v.Set(reflect.ValueOf(*resolve(node)))
		return
	}
	if node = resolve(node); isNull(node) {
		return
	}
	if d.decodeSelf(node, key, v) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		d.decode(node, key, f, v.Elem(), depth+1)
	case reflect.Struct:
		d.decodeStruct(node, key, v, depth)
	case reflect.Map:
		d.decodeMap(node, key, f, v, depth)
	case reflect.Slice:
		d.decodeSlice(node, key, f, v, depth)
	case reflect.Interface:
		d.decodeAny(node, key, v, depth)
	default:
		d.decodeScalar(node, key, f, v)
	}
}

// tooMuch stops endless decoding: deep nesting and multiplying aliases. It reports once.
func (d *decoder) tooMuch(node *yaml.Node, key string, depth int) bool {
	d.nodes++
	if depth < maxDepth && d.nodes < maxNodes {
		return false
	}
	if !d.overrun {
		d.overrun = true
		d.report(node, key, "nested too deeply, or an alias repeats too much; write it out")
	}
	return true
}

// decodeSelf lets types with their own syntax decode themselves.
func (d *decoder) decodeSelf(node *yaml.Node, key string, v reflect.Value) bool {
	if v.Type() == reflect.TypeFor[time.Time]() || !v.CanAddr() {
		return false
	}
	switch u := v.Addr().Interface().(type) {
	case yaml.Unmarshaler:
		if err := u.UnmarshalYAML(node); err != nil {
			d.report(node, key, "%s", withoutLine(err))
		}
	case encoding.TextUnmarshaler:
		if node.Kind != yaml.ScalarNode {
			d.wrongKind(node, key, "one value", "")
		} else if err := u.UnmarshalText([]byte(node.Value)); err != nil {
			d.report(node, key, "%s", err.Error())
		}
	default:
		return false
	}
	return true
}

// withoutLine removes the line from an error of the YAML package: the problem has its own.
func withoutLine(err error) string {
	if list, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts := make([]string, len(list.Errors))
		for i, e := range list.Errors {
			_, texts[i] = splitLine(e)
		}
		return strings.Join(texts, "; ")
	}
	_, text := splitLine(err.Error())
	return text
}

func (d *decoder) decodeStruct(node *yaml.Node, key string, v reflect.Value, depth int) {
	if v.Type() == reflect.TypeFor[time.Time]() {
		d.decodeScalar(node, key, field{}, v)
		return
	}
	if node.Kind != yaml.MappingNode {
		d.wrongKind(node, key, "keys below it", "")
		return
	}
	fields := fieldsOf(v.Type())
	for _, p := range d.pairs(node, key) {
		f, ok := find(fields, p.name)
		if !ok {
			d.report(p.key, join(key, p.name), "unknown key; %s", suggestKey(p.name, fields))
			continue
		}
		d.decode(p.value, join(key, p.name), f, v.FieldByIndex(f.index), depth+1)
	}
}

func (d *decoder) decodeMap(node *yaml.Node, key string, f field, v reflect.Value, depth int) {
	if node.Kind != yaml.MappingNode {
		d.wrongKind(node, key, "keys below it", f.example)
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range d.pairs(node, key) {
		k := reflect.New(v.Type().Key()).Elem()
		before := len(d.problems)
		d.decodeScalar(p.key, join(key, p.name), field{}, k)
		if len(d.problems) > before {
			continue
		}
		value := reflect.New(v.Type().Elem()).Elem()
		d.decode(p.value, join(key, p.name), f, value, depth+1)
		v.SetMapIndex(k, value)
	}
}

func (d *decoder) decodeSlice(node *yaml.Node, key string, f field, v reflect.Value, depth int) {
	if node.Kind != yaml.SequenceNode {
		example := f.example
		if node.Kind == yaml.ScalarNode && example == "" {
			example = "[" + node.Value + "]"
		}
		d.wrongKind(node, key, "a list", example)
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, len(node.Content))
	for i, item := range node.Content {
		value := reflect.New(v.Type().Elem()).Elem()
		d.decode(item, key+"["+strconv.Itoa(i)+"]", field{enum: f.enum}, value, depth+1)
		list = reflect.Append(list, value)
	}
	v.Set(list)
}

// decodeAny builds the types that JSON decoding yields: map[string]any, []any, string, bool, int64, float64.
func (d *decoder) decodeAny(node *yaml.Node, key string, v reflect.Value, depth int) {
	if v.NumMethod() > 0 {
		d.report(node, key, "cannot be written in a file")
		return
	}
	var to reflect.Value
	switch {
	case node.Kind == yaml.MappingNode:
		to = reflect.New(reflect.TypeFor[map[string]any]()).Elem()
	case node.Kind == yaml.SequenceNode:
		to = reflect.New(reflect.TypeFor[[]any]()).Elem()
	case node.ShortTag() == "!!bool":
		to = reflect.New(reflect.TypeFor[bool]()).Elem()
	case node.ShortTag() == "!!int":
		to = reflect.New(reflect.TypeFor[int64]()).Elem()
	case node.ShortTag() == "!!float":
		to = reflect.New(reflect.TypeFor[float64]()).Elem()
	default:
		to = reflect.New(reflect.TypeFor[string]()).Elem()
	}
	d.decode(node, key, field{}, to, depth+1)
	v.Set(to)
}

func (d *decoder) wrongKind(node *yaml.Node, key, want, example string) {
	if example != "" {
		want += ", such as " + example
	}
	is := map[yaml.Kind]string{yaml.MappingNode: "keys", yaml.SequenceNode: "a list"}[node.Kind]
	if is == "" {
		is = quote(node.Value)
	}
	d.report(node, key, "has %s here; write %s", is, want)
	d.problems[len(d.problems)-1].Kind = "has another form; write keys and values as the reference shows them"
}

// join appends a key to the path of its parent. A path is one line, whatever a key contains.
func join(key, name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
		name = quote(name)
	}
	if key == "" {
		return name
	}
	return key + "." + name
}

// isNull reports whether there is no node, or no value.
func isNull(node *yaml.Node) bool {
	return node.Kind == 0 || (node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null")
}

// quote quotes a value from a file, truncated to a reasonable length.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return strconv.Quote(s)
}
