package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path"
	"reflect"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"voltbus/config"
	"voltbus/driver"
)

const (
	durationPattern = `^0$|^([0-9]+d)?(([0-9]*\.)?[0-9]+(ns|us|µs|ms|s|m|h))*$`
	sizePattern     = `^0$|^([0-9]*\.)?[0-9]+ ?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$`
	numberPattern   = `\{n` // a number inserted by repetition
)

// schemaOf returns the JSON Schema for editors.
func schemaOf(defaults *config.Config, entry config.Entry, kinds []driver.Kind, c comments) ([]byte, error) {
	root := reflector(c, false).Reflect(defaults)
	root.ID, root.Title = "", "Voltbus configuration"
	describe(root.Definitions, nameOf(reflect.TypeOf(*defaults)), reflect.ValueOf(*defaults))
	defs := root.Definitions

	devices := reflector(c, true)
	mergeDefs(defs, devices.Reflect(&entry))
	entryName := nameOf(reflect.TypeOf(entry))
	describe(defs, entryName, reflect.ValueOf(entry))
	var names []any
	for _, k := range kinds {
		cfg := k.NewConfig()
		mergeDefs(defs, devices.Reflect(cfg))
		name := nameOf(reflect.TypeOf(cfg).Elem())
		describe(defs, name, reflect.ValueOf(cfg).Elem())
		names = append(names, k.Name)
		defs[entryName].AllOf = append(defs[entryName].AllOf, &jsonschema.Schema{
			If:   property("driver", &jsonschema.Schema{Const: k.Name}, "driver"),
			Then: property("config", &jsonschema.Schema{Ref: "#/$defs/" + name}),
		})
	}
	if p, ok := defs[entryName].Properties.Get("driver"); ok {
		p.Enum = names
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(root)
	return b.Bytes(), err
}

func mergeDefs(to jsonschema.Definitions, s *jsonschema.Schema) {
	maps.Copy(to, s.Definitions)
}

// property is a schema that constrains one property, and requires the required ones.
func property(name string, s *jsonschema.Schema, required ...string) *jsonschema.Schema {
	props := jsonschema.NewProperties()
	props.Set(name, s)
	return &jsonschema.Schema{Properties: props, Required: required}
}

// nameOf names a struct in the schema, such as "config.Log". Other types have no name.
func nameOf(t reflect.Type) string {
	if t.Kind() != reflect.Struct {
		return ""
	}
	return path.Base(t.PkgPath()) + "." + t.Name()
}

// reflector returns the generator of schemas from types. In a repeated device any number may be written as a
// string with a placeholder.
func reflector(c comments, repeated bool) *jsonschema.Reflector {
	return &jsonschema.Reflector{
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
		Anonymous:                  true,
		Namer:                      nameOf,
		LookupComment:              c.of,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			s := mapType(t)
			if s == nil && repeated && t.Kind() != reflect.Bool && isNumber(t) {
				return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number(t), {Type: "string", Pattern: numberPattern}}}
			}
			return s
		},
	}
}

// mapType returns the schemas of types that the reflector does not know.
func mapType(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: durationPattern}, {Const: 0}}}
	case reflect.TypeFor[config.Size]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string", Pattern: sizePattern}, {Const: 0}}}
	case reflect.TypeFor[config.Address]():
		return &jsonschema.Schema{Type: "string", Pattern: `^off$|:[0-9]{1,5}$`}
	case reflect.TypeFor[map[string]string]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{Type: "object"}}}
	case reflect.TypeFor[map[string]float64]():
		return &jsonschema.Schema{Type: "object", AdditionalProperties: &jsonschema.Schema{Type: "number"}}
	case reflect.TypeFor[[]config.Device]():
		entry := &jsonschema.Schema{Ref: "#/$defs/" + nameOf(reflect.TypeFor[config.Entry]())}
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
			{Type: "array", Items: entry},
			{Type: "object", AdditionalProperties: entry},
			{Type: "null"},
		}}
	}
	if decodesItself(t) {
		return &jsonschema.Schema{}
	}
	return nil
}

func isNumber(t reflect.Type) bool {
	return strings.HasSuffix(kindOf(t), "number") && t.Kind() != reflect.Slice
}

func number(t reflect.Type) *jsonschema.Schema {
	if kindOf(t) == "number" {
		return &jsonschema.Schema{Type: "number"}
	}
	return &jsonschema.Schema{Type: "integer"}
}

// describe adds to the schema of a struct, by name, what the reflector does not see: the defaults, from v,
// and the allowed words.
func describe(defs jsonschema.Definitions, name string, v reflect.Value) {
	def, ok := defs[name]
	if !ok {
		return
	}
	for sf := range v.Type().Fields() {
		name, inline := yamlName(sf)
		value := v.FieldByIndex(sf.Index)
		if inline {
			defs[nameOf(sf.Type)] = def // during the call: its keys are part of this one
			describe(defs, nameOf(sf.Type), value)
			delete(defs, nameOf(sf.Type))
		} else if p, ok := def.Properties.Get(name); ok {
			describeKey(defs, p, sf, value)
		}
	}
}

func describeKey(defs jsonschema.Definitions, p *jsonschema.Schema, sf reflect.StructField, v reflect.Value) {
	if sectionOf(sf.Type) != nil && sf.Type.Kind() == reflect.Struct {
		describe(defs, nameOf(sf.Type), v)
		return
	}
	target := p
	if p.Items != nil {
		target = p.Items
	}
	if enum := sf.Tag.Get("enum"); enum != "" {
		for word := range strings.SplitSeq(enum, ",") {
			target.Enum = append(target.Enum, word)
		}
	}
	if text := textOf(v); text != "" {
		p.Default = defaultOf(v, text)
	}
}

// defaultOf returns a default as a JSON value.
func defaultOf(v reflect.Value, text string) any {
	switch {
	case v.Kind() == reflect.Bool, v.Kind() == reflect.Slice, isNumber(v.Type()):
		return v.Interface()
	default:
		return text
	}
}
