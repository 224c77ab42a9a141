package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"

	"voltbus/fault"
	"voltbus/point"
)

var (
	errTwice = errors.New("stands twice; write it once")
	errPair  = errors.New("must be name=value; an empty value stands for any")
)

// FromTexts converts an argument from its values in a URL to JSON; false if the URL omits it.
func (f *Field) FromTexts(values []string) (value json.RawMessage, given bool, err error) {
	switch {
	case len(values) == 0:
		return nil, false, nil
	case f.Type.Kind() == reflect.Map:
		value, err = pairs(values)
		return value, true, err
	case f.IsList() && !f.Commas:
		return texts(values), true, nil
	case len(values) > 1:
		return nil, false, errTwice
	case values[0] == "" && (!f.Pointer || !f.plain):
		return nil, false, nil
	case f.IsList():
		return texts(strings.Split(values[0], ",")), true, nil
	}
	value, err = f.FromText(values[0])
	return value, true, err
}

// texts returns a list of strings as JSON.
func texts(values []string) json.RawMessage {
	size := len("[]")
	for _, v := range values {
		size += len(v) + len(`"",`)
	}
	list := append(make([]byte, 0, size), '[')
	for i, v := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = point.AppendQuoted(list, v)
	}
	return append(list, ']')
}

// pairs parses strings of the form name=value.
func pairs(values []string) (json.RawMessage, error) {
	list := make(map[string]string, len(values))
	for _, v := range values {
		name, value, ok := strings.Cut(v, "=")
		if !ok || name == "" {
			return nil, errPair
		}
		list[name] = value
	}
	return json.Marshal(list)
}

// FromText converts an argument from text in a URL to JSON.
func (f *Field) FromText(text string) (json.RawMessage, error) {
	switch f.Type.Kind() { //nolint:exhaustive // the rest comes as text
	case reflect.Int:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < f.Min || n > f.most() {
			return nil, f.outside()
		}
		return strconv.AppendInt(nil, n, 10), nil
	case reflect.Bool:
		switch text {
		case "true", "1":
			return json.RawMessage("true"), nil
		case "false", "0":
			return json.RawMessage("false"), nil
		}
		return nil, fmt.Errorf("must be true or false, not %q", clip(text))
	}
	return point.AppendQuoted(make([]byte, 0, len(text)+len(`""`)), text), nil
}

// Loosened converts declared arguments to the form used between nodes: those of the URL as text, those of a body below "body".
func (d *Declared) Loosened(args Arguments) (Arguments, error) {
	out := Arguments{}
	for name, text := range args {
		var body Arguments
		if name == "body" && json.Unmarshal(text, &body) == nil {
			maps.Copy(out, body)
			continue
		}
		out[name] = text
		i, known := d.at[name]
		var s string
		if !known || d.Fields[i].Type.Kind() == reflect.String || json.Unmarshal(text, &s) != nil {
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

// overHTTP converts arguments to a form that nodes of every version read: those of the URL as text, those of a body below "body".
func (d *Declared) overHTTP(args Arguments) Arguments {
	out, body := Arguments{}, Arguments{}
	for name, text := range args {
		if i, known := d.at[name]; known && !d.Fields[i].Query {
			body[name] = text
			continue
		}
		if !bytes.HasPrefix(text, []byte(`"`)) {
			text = json.RawMessage(strconv.Quote(string(text)))
		}
		out[name] = text
	}
	if d.Body > 0 {
		out["body"], _ = json.Marshal(body) // it was JSON before
	}
	return out
}

// Takes reports whether a value has the JSON type of the argument.
func (f *Field) Takes(value json.RawMessage) bool {
	first := byte(' ')
	if text := bytes.TrimSpace(value); len(text) > 0 {
		first = text[0]
	}
	switch f.Type.Kind() { //nolint:exhaustive // the rest is for who reads it
	case reflect.String:
		return first == '"' || f.Type == reflect.TypeFor[Time]()
	case reflect.Bool:
		return first == 't' || first == 'f'
	case reflect.Int, reflect.Int64, reflect.Float64:
		return first == '-' || (first >= '0' && first <= '9')
	case reflect.Slice:
		return first == '[' || f.Type.Elem().Kind() == reflect.Uint8
	case reflect.Map, reflect.Struct:
		return first == '{'
	}
	return true
}

// Addressed converts an error about an argument for callers who wrote the argument in a URL.
func (d *Declared) Addressed(err error) error {
	e, is := errors.AsType[*fault.Error](err)
	if !is || e.Kind != fault.Invalid {
		return err
	}
	if i, known := d.at[e.Subject]; known && d.Fields[i].Query && d.Fields[i].As != "" {
		return fault.E(e.Op, e.Kind, d.Fields[i].As, e.Err)
	}
	return err
}
