package main

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/config"
	"voltbus/internal/strictyaml"
)

// key is one key of the file.
type key struct {
	path     string // such as "log.max_bytes" or "zones[].name"
	kind     string // for people: "size", "list of text"
	fallback string // its default; "" for none
	enum     []string
	meaning  string
}

// keysOf lists the keys of a struct with its defaults, each section followed by its own keys.
func keysOf(v reflect.Value, prefix string, c comments) []key {
	var keys []key
	for sf := range v.Type().Fields() {
		name, inline := yamlName(sf)
		value := v.FieldByIndex(sf.Index)
		if inline {
			keys = append(keys, keysOf(value, prefix, c)...)
		}
		if name == "" {
			continue
		}
		k := keyOf(v.Type(), sf, value, c)
		k.path = prefix + name
		keys = append(keys, k)
		if below := sectionOf(sf.Type); below != nil && sf.Type.Kind() == reflect.Struct {
			keys = append(keys, keysOf(value, k.path+".", c)...)
		} else if below != nil {
			keys = append(keys, keysOf(reflect.New(below).Elem(), k.path+"[].", c)...)
		}
	}
	return keys
}

// keysOfSection lists the keys of a section, which may be a list.
func keysOfSection(v reflect.Value, name string, c comments) []key {
	if v.Kind() == reflect.Slice {
		return keysOf(reflect.New(v.Type().Elem()).Elem(), name+"[].", c)
	}
	return keysOf(v, name+".", c)
}

// keyOf describes a field of the parent.
func keyOf(parent reflect.Type, sf reflect.StructField, value reflect.Value, c comments) key {
	name, _ := yamlName(sf)
	k := key{path: name, kind: kindOf(sf.Type), meaning: c.of(parent, sf.Name)}
	if enum := sf.Tag.Get("enum"); enum != "" {
		k.enum = strings.Split(enum, ",")
	}
	if sectionOf(sf.Type) == nil {
		k.fallback = textOf(value)
	}
	return k
}

// yamlName returns the key of a field; "" if it has none.
func yamlName(sf reflect.StructField) (name string, inline bool) {
	name, options, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
	switch {
	case strings.Contains(options, "inline"):
		return "", true
	case name == "-" || !sf.IsExported():
		return "", false
	case name == "":
		return strings.ToLower(sf.Name), false
	}
	return name, false
}

// sectionOf returns the struct of a key's section: the type itself, or that of its elements.
func sectionOf(t reflect.Type) reflect.Type {
	if t == reflect.TypeFor[[]config.Device]() {
		return nil // described separately
	}
	if t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || decodesItself(t) {
		return nil
	}
	return t
}

// decodesItself reports whether the type has its own syntax in the file.
func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t == reflect.TypeFor[yaml.Node]() || t == reflect.TypeFor[time.Time]() ||
		p.Implements(reflect.TypeFor[yaml.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// kindOf names a type for people.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "duration"
	case reflect.TypeFor[config.Size]():
		return "size"
	case reflect.TypeFor[config.Address]():
		return "address"
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[[]config.Device]():
		return "list or keys"
	case reflect.TypeFor[yaml.Node]():
		return "keys"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.Slice:
		return "list of " + kindOf(t.Elem())
	case reflect.Map:
		return "keys with " + kindOf(t.Elem())
	case reflect.Bool:
		return "true, false"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.String:
		return "text"
	case reflect.Struct:
		if decodesItself(t) {
			return "any"
		}
		return "keys"
	default:
		if t.ConvertibleTo(reflect.TypeFor[int64]()) {
			return "whole number"
		}
		return "any"
	}
}

// textOf formats a default as in the file; "" for none.
func textOf(v reflect.Value) string {
	if v.Kind() == reflect.Bool {
		return strconv.FormatBool(v.Bool())
	}
	if v.IsZero() && !v.CanInt() && !v.CanUint() && !v.CanFloat() {
		return ""
	}
	switch x := v.Interface().(type) {
	case time.Duration:
		return strictyaml.FormatDuration(x)
	case time.Time:
		return x.Format(time.RFC3339)
	case fmt.Stringer:
		return x.String()
	case []string:
		return "[" + strings.Join(x, ", ") + "]"
	}
	if slices.Contains([]reflect.Kind{reflect.Slice, reflect.Map, reflect.Struct, reflect.Pointer, reflect.Interface}, v.Kind()) {
		return ""
	}
	return fmt.Sprint(v.Interface())
}
