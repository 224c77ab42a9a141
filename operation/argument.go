package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
)

// Arguments are what a caller sends, by name.
type Arguments map[string]json.RawMessage

// Declared is a declaration without its types, as adapters and generators need it.
type Declared struct {
	Spec
	Fields []Field
	Out    reflect.Type
}

// Field is an argument. It is declared by the field of a struct with the tags json (its name), doc (its meaning in words) and api:
// words behind commas, which are required; person (required of people); query (not in the body); min=, max= of a number, or of the length of a text; one-of=a|b.
type Field struct {
	Name     string
	Doc      string
	Type     reflect.Type // without a pointer
	Pointer  bool         // it is one: the zero value is an argument, too
	Required bool
	Person   bool // required of people; an agent that leaves it out means itself
	Query    bool // in the query of an address, or in its path
	Min, Max int64
	OneOf    []string
}

// Declared returns what adapters need.
func (o Operation[In, Out]) Declared() Declared {
	d := Declared{Spec: o.Spec, Fields: FieldsOf(reflect.TypeFor[In]()), Out: reflect.TypeFor[Out]()}
	method, _, _ := strings.Cut(o.HTTP, " ")
	for i := range d.Fields {
		f := &d.Fields[i]
		f.Query = f.Query || method == "GET" || method == "DELETE" || strings.Contains(o.HTTP, "{"+f.Name+"}")
	}
	return d
}

// FieldsOf lists the fields of a struct that JSON names, those of structs within it too.
func FieldsOf(t reflect.Type) (list []Field) {
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || sf.Anonymous {
			continue
		}
		f := Field{Name: name, Doc: sf.Tag.Get("doc"), Type: sf.Type}
		if f.Type.Kind() == reflect.Pointer {
			f.Type, f.Pointer = f.Type.Elem(), true
		}
		for word := range strings.SplitSeq(sf.Tag.Get("api"), ",") {
			f.constrain(word)
		}
		list = append(list, f)
	}
	return list
}

func (f *Field) constrain(word string) {
	key, value, _ := strings.Cut(word, "=")
	number, _ := strconv.ParseInt(value, 10, 64)
	switch key {
	case "required":
		f.Required = true
	case "person":
		f.Person = true
	case "query":
		f.Query = true
	case "min":
		f.Min = number
	case "max":
		f.Max = number
	case "one-of":
		f.OneOf = strings.Split(value, "|")
	}
}

// Names lists the arguments, those of the query alone or all.
func (d *Declared) Names(query bool) (list []string) {
	for i := range d.Fields {
		if d.Fields[i].Query || !query {
			list = append(list, d.Fields[i].Name)
		}
	}
	return list
}

var (
	errMissing = errors.New("is missing")
	errNull    = errors.New("is null; leave it out instead")
	errNone    = errors.New("takes no arguments")
)

// decode reads and judges arguments.
func (d *Declared) decode(c *Caller, args Arguments, into any) error {
	for name, text := range args {
		if !slices.ContainsFunc(d.Fields, func(f Field) bool { return f.Name == name }) {
			return d.wrong(clip(name), d.unknown())
		}
		if string(bytes.TrimSpace(text)) == "null" {
			return d.wrong(name, errNull)
		}
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		text, given := args[f.Name]
		switch {
		case given:
			if err := f.check(text); err != nil {
				return d.wrong(f.Name, err)
			}
		case f.Required, f.Person && !c.IsAgent():
			return d.wrong(f.Name, errMissing)
		}
	}
	whole, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(whole, into)
	}
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return d.wrong(wrong.Field, fmt.Errorf("must be %s, not %s", words(wrong.Type), wrong.Value))
	}
	if err != nil {
		return d.wrong("", err)
	}
	return nil
}

func (d *Declared) wrong(name string, err error) error {
	return fault.E(d.Name, fault.Invalid, name, err)
}

func (d *Declared) unknown() error {
	if len(d.Fields) == 0 {
		return errNone
	}
	return fmt.Errorf("is no argument; there are %s", strings.Join(d.Names(false), ", "))
}

// check judges one argument.
func (f *Field) check(text json.RawMessage) error {
	var s string
	if f.Type.Kind() == reflect.String && json.Unmarshal(text, &s) == nil {
		return f.checkText(s)
	}
	var n int64
	if f.Type.Kind() == reflect.Int {
		if err := json.Unmarshal(text, &n); err != nil || n < f.Min || n > f.most() {
			return fmt.Errorf("must be a whole number from %d to %d", f.Min, f.most())
		}
	}
	return nil
}

// most is the greatest whole number that every program reads alike, or less.
func (f *Field) most() int64 { return cmp.Or(f.Max, 1<<31-1) }

func (f *Field) checkText(s string) error {
	switch n := int64(utf8.RuneCountInString(s)); {
	case f.Max > 0 && n > f.Max:
		return fmt.Errorf("has %d characters; %d at most", n, f.Max)
	case n < f.Min:
		return errMissing
	case len(f.OneOf) > 0 && !slices.Contains(f.OneOf, s):
		return fmt.Errorf("must be one of %s, not %q", strings.Join(f.OneOf, ", "), clip(s))
	}
	return nil
}

// FromText returns an argument as JSON that came as text, in an address.
func (f *Field) FromText(text string) (json.RawMessage, error) {
	switch f.Type.Kind() { //nolint:exhaustive // the rest comes as text
	case reflect.Int:
		if n, err := strconv.ParseInt(text, 10, 64); err != nil || n < f.Min || n > f.most() {
			return nil, fmt.Errorf("must be a whole number from %d to %d", f.Min, f.most())
		}
		return json.RawMessage(text), nil
	case reflect.Bool:
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("must be true or false, not %q", clip(text))
		}
		return json.RawMessage(text), nil
	}
	return json.Marshal(text)
}

// Loosened returns arguments as they are declared that came from another node: those in addresses as texts, those in a body below "body".
func (d *Declared) Loosened(args Arguments) (Arguments, error) {
	out := Arguments{}
	for name, text := range args {
		var body Arguments
		if name == "body" && json.Unmarshal(text, &body) == nil {
			maps.Copy(out, body)
			continue
		}
		out[name] = text
		i := slices.IndexFunc(d.Fields, func(f Field) bool { return f.Name == name })
		var s string
		if i < 0 || d.Fields[i].Type.Kind() == reflect.String || json.Unmarshal(text, &s) != nil {
			continue
		}
		value, err := d.Fields[i].FromText(s)
		if err != nil {
			return nil, d.wrong(name, err)
		}
		out[name] = value
	}
	return out, nil
}

// words says in words of JSON what a Go type is.
func words(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the rest is a number
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

const mostClip = 200

// clip shortens what a stranger sent, before it is repeated.
func clip(s string) string {
	if len(s) <= mostClip {
		return s
	}
	return strings.ToValidUTF8(s[:mostClip], "") + "…"
}

// Returns says what comes back, as the names of its fields.
func (d *Declared) Returns() string {
	if d.Out == reflect.TypeFor[None]() {
		return "null"
	}
	if d.Out.Kind() != reflect.Struct {
		return "any"
	}
	var names []string
	for _, f := range FieldsOf(d.Out) {
		names = append(names, f.Name)
	}
	return "{" + strings.Join(names, ", ") + "}"
}
