package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
	"voltbus/wire"
)

var (
	errMedia   = errors.New("the body must be JSON; set Content-Type: application/json")
	errCharset = errors.New("is not UTF-8, which JSON must be")
	errObject  = errors.New("must be a JSON object")
	errNull    = errors.New("must have a value; leave it out if there is none")
	// ErrMissing says that a value is required.
	ErrMissing = errors.New("is missing")
)

// ReadJSON reads a body strictly: JSON, no unknown fields, nothing after it.
func ReadJSON(_ http.ResponseWriter, r *Request, to any) error {
	b, err := ReadBody(r, to)
	if err != nil {
		return err
	}
	return NoNull(b)
}

// NoNullIn refuses fields without a value at every depth.
func NoNullIn(name string, value json.RawMessage) error {
	var content any
	if err := json.Unmarshal(value, &content); err != nil {
		return fault.E("api.readJSON", fault.Invalid, "body", errObject)
	}
	return noNullWithin(name, content)
}

func noNullWithin(name string, content any) error {
	switch content := content.(type) {
	case nil:
		return fault.E("api.readJSON", fault.Invalid, Clip(name), errNull)
	case []any:
		for _, v := range content {
			if err := noNullWithin(name, v); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, v := range content {
			if err := noNullWithin(name, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// ReadBody reads a body and returns it. Its sender may have lost the role or the login while it arrived: their rights are
// checked again, and r.User is updated.
func ReadBody(r *Request, to any) ([]byte, error) { return ReadNamed(r, to, FieldsOf(to)) }

// ReadNamed is ReadBody for a body whose permitted fields are given.
func ReadNamed(r *Request, to any, fields []string) ([]byte, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, Fail(http.StatusUnsupportedMediaType, errMedia)
	}
	b, err := io.ReadAll(&roomy{r.Body, r.Room})
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, Fail(http.StatusRequestEntityTooLarge, fmt.Errorf("the body may have %d bytes", large.Limit))
	}
	if slow, ok := errors.AsType[*StatusError](err); ok {
		return nil, slow
	}
	if crowded, ok := errors.AsType[*crowdedError](err); ok {
		return nil, crowded.error
	}
	if err == nil && r.Room != nil {
		if err := r.Room(int64(wire.Weight(b) - len(b))); err != nil { // a list of {} takes a hundred times its length
			return nil, err
		}
	}
	if err != nil {
		return nil, fault.E("api.readJSON", fault.Invalid, "body", fmt.Errorf("cannot be read: %w", err))
	}
	if r.Again != nil {
		if err := r.Again(); err != nil {
			return nil, err
		}
	}
	if !utf8.Valid(b) { // the decoder would replace invalid bytes
		return nil, fault.E("api.readJSON", fault.Invalid, "body", errCharset)
	}
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return nil, fault.E("api.readJSON", fault.Invalid, "body", explain(err, fields))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, fault.E("api.readJSON", fault.Invalid, "body", errors.New("has something behind the JSON"))
	}
	return b, nil
}

// roomy reserves memory for what it reads.
type roomy struct {
	from io.Reader
	room func(octets int64) error
}

// crowdedError says that there is no memory for a body.
type crowdedError struct{ error }

// Read implements io.Reader.
func (b *roomy) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if n > 0 && b.room != nil {
		if err := b.room(int64(n)); err != nil {
			return n, &crowdedError{err}
		}
	}
	return n, err
}

// NoNull refuses fields without a value: the decoder would treat them as absent.
func NoNull(body []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return fault.E("api.readJSON", fault.Invalid, "body", errObject)
	}
	for name, value := range fields {
		if string(value) == "null" {
			return fault.E("api.readJSON", fault.Invalid, Clip(name), errNull)
		}
	}
	return nil
}

// explain describes in plain words what is wrong with a body that may have the fields.
func explain(err error, fields []string) error {
	names := strings.Join(fields, ", ")
	if unknown, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok { // has no error type
		return fmt.Errorf("unknown field %s; there are %s", Clip(unknown), names)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("must be a JSON object with the fields %s", names)
		}
		return fmt.Errorf("the field %q must be a %s", wrong.Field, TypeName(wrong.Type.Kind()))
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("is not JSON: byte %d does not belong there", syntax.Offset)
	}
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("is empty; send a JSON object with the fields %s", names)
	}
	return errors.New("is not JSON: it ends too early")
}

// TypeName returns what JSON calls values of the kind; bodies hold strings, numbers and booleans.
func TypeName(kind reflect.Kind) string {
	switch kind { //nolint:exhaustive // all others are numbers
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Slice:
		return "list"
	case reflect.Map, reflect.Struct:
		return "JSON object"
	case reflect.Int, reflect.Int64:
		return "whole number"
	}
	return "number"
}

// FieldsOf lists the JSON names of the fields of the struct that to points to; none for anything else.
func FieldsOf(to any) []string {
	t := reflect.TypeOf(to).Elem()
	if t.Kind() != reflect.Struct {
		return nil
	}
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}
	return names
}
