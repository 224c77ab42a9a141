package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/api/answer"
	"voltbus/operation"
)

// Schemas of results are generated from their types. A field is declared like an argument: json is its name, and omitempty omits zero values; doc is
// its meaning; api is a comma-separated list: one-of=a|b, min=, max= (of a number, or of the length of a string or list), default=, schema= (the name
// of another schema, such as Time), items= (that of each element), object (any JSON object), objects (a list of them), optional (it may be absent
// although it is always written) and required (it is always present and never null). A pointer without omitempty may be null. A field _ describes the
// type itself: schema= is its name, doc its meaning.

// schemas collects the types that have their own schema.
type schemas struct {
	types map[string]reflect.Type
	hand  func(name string) bool // whether its schema is hand-written
	clash error
}

func newSchemas(hand func(string) bool) *schemas {
	return &schemas{types: map[string]reflect.Type{}, hand: hand}
}

// tags are the words of a field's tag "api".
type tags map[string]string

func tagsOf(f *reflect.StructField) tags {
	t := tags{}
	for word := range strings.SplitSeq(f.Tag.Get("api"), ",") {
		key, value, _ := strings.Cut(word, "=")
		t[key] = value
	}
	return t
}

func (t tags) has(word string) bool { _, is := t[word]; return is }

// self is what a type declares about itself.
func self(t reflect.Type) (name, doc string) {
	name = t.Name()
	if t.NumField() > 0 && t.Field(0).Name == "_" {
		f := t.Field(0)
		if own := tagsOf(&f)["schema"]; own != "" {
			name = own
		}
		doc = f.Tag.Get("doc")
	}
	return name, doc
}

// nameOf is the name of the schema of a type.
func nameOf(t reflect.Type) string {
	name, _ := self(t)
	return name
}

// add adds a type, and all types in it. It returns its name.
func (s *schemas) add(t reflect.Type) string {
	name := nameOf(t)
	if s.hand(name) {
		return name
	}
	switch known := s.types[name]; {
	case known == nil:
		s.types[name] = t
		s.object(t)
	case known != t:
		s.clash = fmt.Errorf("%v and %v are both called %s in the document; give one of them another name with a field _ and schema=", known, t, name)
	}
	return name
}

// object returns the properties of a type, and which of them are always present.
func (s *schemas) object(t reflect.Type) (properties [][2]string, required []string) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner, always := s.object(f.Type)
			properties, required = append(properties, inner...), append(required, always...)
			continue
		}
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		words := tagsOf(&f)
		absent := strings.HasPrefix(options, "omit") && !words.has("required")
		text := s.value(f.Type, words)
		if f.Type.Kind() == reflect.Pointer && !absent && !words.has("required") && !words.has("schema") {
			text = nullable(text)
		}
		if doc := f.Tag.Get("doc"); doc != "" {
			text = append(text, "description: "+quoted(doc))
		}
		properties = append(properties, [2]string{name, flow(text)})
		if !absent && !words.has("optional") {
			required = append(required, name)
		}
	}
	return properties, required
}

func flow(words []string) string {
	if len(words) == 0 {
		return "{}"
	}
	return "{ " + strings.Join(words, ", ") + " }"
}

func reference(name string) string { return `$ref: "#/components/schemas/` + name + `"` }

// nullable adds null to the permitted values.
func nullable(words []string) []string {
	switch kind, is := strings.CutPrefix(words[0], "type: "); {
	case words[0] == reference("Time"):
		return []string{`type: [string, "null"]`, "format: date-time"}
	case is:
		return append([]string{"type: [" + kind + `, "null"]`}, words[1:]...)
	}
	return []string{"anyOf: [" + flow(words) + `, { type: "null" }]`}
}

// value returns the schema of a value.
func (s *schemas) value(t reflect.Type, words tags) []string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case words["schema"] != "":
		return []string{reference(words["schema"])}
	case t == reflect.TypeFor[time.Time]():
		return []string{reference("Time")}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		switch {
		case words.has("object"):
			return []string{"type: object"}
		case words.has("objects"):
			return []string{"type: array", "items: { type: object }"}
		}
		return nil
	}
	switch t.Kind() { //nolint:exhaustive // the rest is a number
	case reflect.Struct:
		return []string{reference(s.add(t))}
	case reflect.Slice:
		text := append([]string{"type: array"}, words.limits("Items")...)
		return append(text, "items: "+s.element(t, words))
	case reflect.Map:
		return []string{"type: object", "additionalProperties: " + s.element(t, words)}
	case reflect.String:
		text := append([]string{"type: string"}, words.limits("Length")...)
		if of := words["one-of"]; of != "" {
			text = append(text, "enum: ["+choices(strings.Split(of, "|"))+"]")
		}
		return words.withDefault(text)
	case reflect.Bool:
		return words.withDefault([]string{"type: boolean"})
	case reflect.Float64:
		return words.withDefault(append([]string{"type: number"}, words.limits("imum")...))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return []string{reference("Count")}
	}
	return words.withDefault(append([]string{"type: integer"}, words.limits("imum")...))
}

// choices writes strings as a YAML list.
func choices(list []string) string {
	out := make([]string, len(list))
	for i, text := range list {
		if out[i] = quoted(text); slices.Contains([]string{"", "null", "true", "false", "yes", "no", "on", "off"}, text) {
			out[i] = strconv.Quote(text)
		}
	}
	return strings.Join(out, ", ")
}

// element is the schema of what a list or map holds.
func (s *schemas) element(t reflect.Type, words tags) string {
	inner := tags{}
	if of := words["one-of"]; of != "" {
		inner["one-of"] = of
	}
	if items := words["items"]; items != "" {
		inner["schema"] = items
	}
	text := s.value(t.Elem(), inner)
	if t.Elem().Kind() == reflect.Pointer && !inner.has("schema") {
		text = nullable(text)
	}
	return flow(text)
}

// limits are the bounds of a number or length.
func (t tags) limits(of string) (text []string) {
	for _, end := range []string{"min", "max"} {
		if n, is := t[end]; is {
			text = append(text, end+of+": "+n)
		}
	}
	return text
}

func (t tags) withDefault(text []string) []string {
	if d := t["default"]; d != "" {
		return append(text, "default: "+quoted(d))
	}
	return text
}

// beside lists the types of what is not the result of an operation: events of streams, and answers to requests without a declaration.
func beside() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[answer.Problem](), reflect.TypeFor[answer.Source](), reflect.TypeFor[answer.NodeLogLost](), reflect.TypeFor[answer.ControlEvent](),
		reflect.TypeFor[answer.NodesChange](), reflect.TypeFor[answer.LedgerChange](), reflect.TypeFor[answer.BusMessage](), reflect.TypeFor[answer.BusRates](),
		reflect.TypeFor[answer.LabProgress](), reflect.TypeFor[answer.InfluxError](),
	}
}

// results adds the types of results and of whole bodies.
func (s *schemas) results(list []operation.Declared) {
	for _, t := range beside() {
		s.add(t)
	}
	for i := range list {
		d := &list[i]
		out := d.Out
		if out.Kind() == reflect.Pointer {
			out = out.Elem()
		}
		if d.Schema == "" && out.Kind() == reflect.Struct && out != reflect.TypeFor[operation.None]() {
			s.add(out)
		}
		if d.Takes != "" && nameOf(d.In) == d.Takes {
			s.add(d.In)
		}
	}
}

// text writes all schemas, by name.
func (s *schemas) text() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.types)) {
		b.WriteString(s.block(name))
	}
	return b.String()
}

// block writes a schema under its name.
func (s *schemas) block(name string) string {
	var b strings.Builder
	_, doc := self(s.types[name])
	properties, required := s.object(s.types[name])
	fmt.Fprintf(&b, "    %s:\n      type: object\n", name)
	if doc != "" {
		fmt.Fprintf(&b, "      description: %s\n", quoted(doc))
	}
	if len(required) > 0 {
		fmt.Fprintf(&b, "      required: [%s]\n", strings.Join(required, ", "))
	}
	b.WriteString("      additionalProperties: false\n")
	if len(properties) > 0 {
		b.WriteString("      properties:\n")
	}
	for _, p := range properties {
		fmt.Fprintf(&b, "        %s: %s\n", p[0], p[1])
	}
	return b.String()
}
