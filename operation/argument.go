package operation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/wire"
)

// Arguments are the arguments of a caller, by name.
type Arguments map[string]json.RawMessage

// Declared is a declaration without its type parameters, for adapters and generators.
type Declared struct {
	Spec
	Fields []Field
	In     reflect.Type
	Out    reflect.Type

	at map[string]int // the fields by name
}

// Field is an argument. It is declared by a struct field with the tags json (its name), doc (its meaning) and api, a comma-separated list: required;
// person (required of people); query (not in the body); object (a JSON object); as= its name in a URL; commas (in a URL a list is one string,
// otherwise it is repeated); min=, max= of a number, or of the length of a string or list; one-of=a|b; schema= its name in OpenAPI; judged (checked
// by the handler with its own messages: required, min, max and one-of are for the documentation only); default= the value of an omitted number,
// string or time, for the documentation and, for numbers and strings, for the handler.
type Field struct {
	Name     string
	Doc      string
	Type     reflect.Type // without a pointer
	Pointer  bool         // whether it is one: the zero value then counts as given
	Required bool
	Person   bool // required of people; an agent that omits it means itself
	Query    bool // in the query or path of a URL
	As       string
	Commas   bool
	Object   bool // a JSON object with any content
	Min, Max int64
	Range    *Range // of a number with a point, if min or max is declared
	OneOf    []string
	Default  string
	Schema   string // its name in OpenAPI
	Judged   bool   // checked by the handler

	index []int
	plain bool // it is decoded as a plain string
	texts bool // it is decoded as a plain list of strings
	any   bool // it is any JSON
	named bool // it has named fields and allows no others
}

// Range is between which numbers a number with a point is.
type Range struct{ Least, Most float64 }

// Texts returns the bounds as people write them: 1000000, not 1e+06.
func (r *Range) Texts() (least, most string) {
	return strconv.FormatFloat(r.Least, 'f', -1, 64), strconv.FormatFloat(r.Most, 'f', -1, 64)
}

func (f *Field) bound(key, value string) {
	if f.Type.Kind() != reflect.Float64 {
		return
	}
	if f.Range == nil {
		f.Range = &Range{0, 1<<31 - 1}
	}
	at := &f.Range.Least
	if key == "max" {
		at = &f.Range.Most
	}
	*at, _ = strconv.ParseFloat(value, 64)
}

// Time is a time in a form that people write, see query.ParseTime, or in milliseconds since 1970; "" for its default.
type Time string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] != '"' && string(text) != "null" {
		*t = Time(text)
		return nil
	}
	return json.Unmarshal(text, (*string)(t))
}

// Named reports whether it is a list of structs with named fields.
func (f *Field) Named() bool { return f.named }

// Address returns its name in a URL.
func (f *Field) Address() string { return cmp.Or(f.As, f.Name) }

// IsList reports whether it is a list of strings, or a map of them.
func (f *Field) IsList() bool {
	return f.Type.Kind() == reflect.Map || (f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.String)
}

// Declared returns the declaration for adapters.
func (o Operation[In, Out]) Declared() Declared {
	in := reflect.TypeFor[In]()
	d := Declared{Spec: o.Spec, Fields: FieldsOf(in), In: in, Out: reflect.TypeFor[Out](), at: map[string]int{}}
	method, _ := d.Path()
	for i := range d.Fields {
		f := &d.Fields[i]
		f.Query = f.Query || len(o.Reads) > 0 || method == "GET" || method == "DELETE" || strings.Contains(o.HTTP, "{"+f.Name+"}")
		d.at[f.Name] = i
	}
	return d
}

// Path returns method and path over HTTP; "" for an operation that only agents use.
func (s *Spec) Path() (method, path string) {
	method, path, is := strings.Cut(s.HTTP, " ")
	if is && !s.Root {
		path = Prefix + path
	}
	return method, path
}

// FieldsOf lists the fields of a struct that JSON encodes, including those of embedded structs.
func FieldsOf(t reflect.Type) (list []Field) {
	for _, sf := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
		if name == "" || sf.Anonymous {
			continue
		}
		f := Field{Name: name, Doc: sf.Tag.Get("doc"), Type: sf.Type, index: sf.Index}
		if f.Type.Kind() == reflect.Pointer {
			f.Type, f.Pointer = f.Type.Elem(), true
		}
		for word := range strings.SplitSeq(sf.Tag.Get("api"), ",") {
			f.constrain(word)
		}
		f.plain = f.Type == reflect.TypeFor[string]() || f.Type == reflect.TypeFor[Time]()
		f.texts = f.Type == reflect.TypeFor[[]string]()
		f.any = f.Type == reflect.TypeFor[json.RawMessage]()
		f.named = f.holder().Kind() == reflect.Struct
		list = append(list, f)
	}
	return list
}

// holder is the type of the argument, or of the elements of a list.
func (f *Field) holder() reflect.Type {
	if f.Type.Kind() == reflect.Slice {
		return f.Type.Elem()
	}
	return f.Type
}

func (f *Field) constrain(word string) {
	key, value, _ := strings.Cut(word, "=")
	number, _ := strconv.ParseInt(value, 10, 64)
	if key == "min" || key == "max" {
		f.bound(key, value)
	}
	switch key {
	case "required":
		f.Required = true
	case "person":
		f.Person = true
	case "query":
		f.Query = true
	case "as":
		f.As = value
	case "commas":
		f.Commas = true
	case "default":
		f.Default = value
	case "judged":
		f.Judged = true
	case "schema":
		f.Schema = value
	case "object":
		f.Object = true
	case "min":
		f.Min = number
	case "max":
		f.Max = number
	case "one-of":
		f.OneOf = strings.Split(value, "|")
	}
}

// Called reports whether a name is, or was, that of the operation.
func (d *Declared) Called(name string) bool {
	return name == d.Name || (name == d.Before && name != "")
}

// Known is the name under which nodes of every version know the operation.
func (d *Declared) Known() string {
	if d.Granted {
		return d.Method
	}
	return cmp.Or(d.Before, d.Name)
}

// Changes reports whether the operation changes something; viewers may never use those.
func (d *Declared) Changes() bool {
	return !strings.HasPrefix(d.HTTP, "GET ") && d.Role != identity.Viewer && !strings.HasSuffix(d.Name, ".check")
}

// Longest is how long the operation may take.
func (d *Declared) Longest() time.Duration { return cmp.Or(d.Wait, UsualWait) }

// Names lists the arguments: all, or those in a URL by their names there.
func (d *Declared) Names(query bool) (list []string) {
	for i := range d.Fields {
		switch f := &d.Fields[i]; {
		case !query:
			list = append(list, f.Name)
		case f.Query:
			list = append(list, f.Address())
		}
	}
	return list
}

var (
	errMissing = errors.New("is missing")
	errNull    = errors.New("is null; leave it out instead")
	errNone    = errors.New("takes no arguments")
)

// decode decodes and checks arguments.
func (d *Declared) decode(c *Caller, args Arguments, into reflect.Value) error {
	for name, text := range args {
		i, known := d.at[name]
		if !known {
			return d.wrong(clip(name), d.unknown())
		}
		if isNull(text) {
			if !d.Granted && !d.Fields[i].IsList() { // an empty list
				return d.wrong(name, errNull)
			}
			delete(args, name)
		}
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		text, given := args[f.Name]
		switch {
		case given && (!d.Granted || !f.isZero(text)):
			if err := f.read(text, into.FieldByIndex(f.index)); err != nil {
				return d.wrong(f.Name, err)
			}
		case f.Judged:
		case f.Required, f.Person && !c.IsAgent():
			return d.wrong(f.Name, errMissing)
		case f.Default != "":
			f.setDefault(into.FieldByIndex(f.index))
		}
	}
	return nil
}

// isZero reports whether a number is present but zero.
func (f *Field) isZero(text json.RawMessage) bool {
	return string(text) == "0" && !f.Pointer && !f.any
}

func isNull(text json.RawMessage) bool {
	return len(text) >= 4 && string(bytes.TrimSpace(text)) == "null"
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

// read decodes one argument and checks it.
func (f *Field) read(text json.RawMessage, into reflect.Value) error {
	if f.Pointer {
		into.Set(reflect.New(f.Type))
		into = into.Elem()
	}
	if !f.quick(text, into) {
		if err := f.decode(text, into.Addr().Interface()); err != nil {
			return f.typed(err)
		}
	}
	if f.Judged {
		return nil
	}
	return f.check(into)
}

func (f *Field) decode(text json.RawMessage, into any) error {
	if !f.named {
		return json.Unmarshal(text, into)
	}
	if quick, is := into.(interface{ Scan(data []byte) bool }); is && quick.Scan(text) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a misspelt field would count as omitted
	return decoder.Decode(into)
}

// quick decodes strings and lists of strings without escapes, the usual case; it returns false, and decodes nothing, if package json must do it.
func (f *Field) quick(text json.RawMessage, to reflect.Value) bool {
	in := wire.NewReader(text)
	switch {
	case f.plain:
		word, ok := in.Plain()
		if ok = ok && in.Ended(); ok {
			to.SetString(string(word))
		}
		return ok
	case f.texts:
		list := make([]string, 0, bytes.Count(text, []byte{','})+1)
		ok := in.Each(func() bool {
			word, ok := in.Plain()
			list = append(list, string(word))
			return ok
		}) && in.Ended()
		if ok {
			to.Set(reflect.ValueOf(list))
		}
		return ok
	}
	return false
}

// typed explains what is wrong with an argument of the wrong type.
func (f *Field) typed(err error) error {
	wrong, is := errors.AsType[*json.UnmarshalTypeError](err)
	name, unknown := strings.CutPrefix(err.Error(), "json: unknown field ") // has no error type
	switch {
	case unknown:
		return fmt.Errorf("unknown field %s; there are %s", clip(name), strings.Join(namesOf(FieldsOf(f.holder())), ", "))
	case !is:
		return err
	case f.Type.Kind() == reflect.Int && strings.HasPrefix(wrong.Value, "number"):
		return f.outside()
	case wrong.Field != "":
		return fmt.Errorf("%s must be %s, not %s", wrong.Field, words(wrong.Type), wrong.Value)
	}
	return fmt.Errorf("must be %s, not %s", words(wrong.Type), wrong.Value)
}

func (f *Field) setDefault(into reflect.Value) {
	switch {
	case f.Pointer || f.Type == reflect.TypeFor[Time](): // the handler parses it
	case f.Type.Kind() == reflect.String:
		into.SetString(f.Default)
	case f.Type.Kind() == reflect.Int:
		n, _ := strconv.ParseInt(f.Default, 10, 64)
		into.SetInt(n)
	case f.Type.Kind() == reflect.Float64:
		x, _ := strconv.ParseFloat(f.Default, 64)
		into.SetFloat(x)
	}
}

// check checks one argument.
func (f *Field) check(v reflect.Value) error {
	switch v.Kind() { //nolint:exhaustive // the rest is for the handler
	case reflect.String:
		return f.checkText(v.String())
	case reflect.Int:
		if n := v.Int(); n < f.Min || n > f.most() {
			return f.outside()
		}
	case reflect.Float64:
		if x, r := v.Float(), f.Range; r != nil && (x < r.Least || x > r.Most) {
			least, most := r.Texts()
			return fmt.Errorf("must be a number from %s to %s", least, most)
		}
	case reflect.Slice, reflect.Map:
		if raw, is := reflect.TypeAssert[json.RawMessage](v); is && f.Object && !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
			return errObject
		}
		if f.IsList() && f.Max > 0 && int64(v.Len()) > f.Max {
			return fmt.Errorf("may be %d at most", f.Max)
		}
	}
	return nil
}

func (f *Field) outside() error {
	return fmt.Errorf("must be a whole number from %d to %d", f.Min, f.most())
}

var errObject = errors.New("must be a JSON object")

// most is the greatest whole number that every program reads exactly, or a lower maximum.
func (f *Field) most() int64 { return cmp.Or(f.Max, 1<<31-1) }

func (f *Field) checkText(s string) error {
	switch n := int64(utf8.RuneCountInString(s)); {
	case f.Max > 0 && n > f.Max:
		return fmt.Errorf("has %d characters; %d at most", n, f.Max)
	case n < f.Min:
		return errMissing
	case len(f.OneOf) > 0 && !slices.Contains(f.OneOf, s):
		return fmt.Errorf("must be one of %s, not %q", choices(f.OneOf), clip(s))
	}
	return nil
}

// choices joins words: a, b or c.
func choices(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " or " + list[last]
}

// Words describes the argument in words.
func (f *Field) Words() string { return words(f.Type) }

// words names a Go type in terms of JSON.
func words(t reflect.Type) string {
	switch t.Kind() { //nolint:exhaustive // the rest is a number
	case reflect.String:
		return "a string"
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

// clip shortens received text before it is repeated.
func clip(s string) string {
	if len(s) <= mostClip {
		return s
	}
	return strings.ToValidUTF8(s[:mostClip], "") + "…"
}

// Returns describes the result by the names of its fields.
func (d *Declared) Returns() string {
	if d.Out == reflect.TypeFor[None]() {
		return "null"
	}
	if d.Out.Kind() != reflect.Struct {
		return "any"
	}
	return "{" + strings.Join(namesOf(FieldsOf(d.Out)), ", ") + "}"
}

func namesOf(fields []Field) (names []string) {
	for i := range fields {
		names = append(names, fields[i].Name)
	}
	return names
}
