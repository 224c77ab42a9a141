package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const head = `// Code generated from api/openapi.yaml by "make generate"; DO NOT EDIT.
// Text here may come from a device, so it is hostile: show it as text only.
`

var errSchemas = errors.New("the document has no components.schemas")

// schema is the subset of JSON Schema that the document uses. Names and properties keep their order.
type schema struct {
	Ref         string    `yaml:"$ref"`
	Description string    `yaml:"description"`
	Type        yaml.Node `yaml:"type"` // a name or a list of names
	Enum        []string  `yaml:"enum"`
	Const       string    `yaml:"const"`
	Required    []string  `yaml:"required"`
	Properties  members   `yaml:"properties"`
	Additional  yaml.Node `yaml:"additionalProperties"` // true, false or a schema
	Items       *schema   `yaml:"items"`
	Prefix      []schema  `yaml:"prefixItems"`
	MinItems    int       `yaml:"minItems"`
	OneOf       []schema  `yaml:"oneOf"`
	AnyOf       []schema  `yaml:"anyOf"`
	AllOf       []schema  `yaml:"allOf"`
}

// members are named schemas in the order of the document.
type members []member

type member struct {
	name   string
	schema schema
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (m *members) UnmarshalYAML(node *yaml.Node) error {
	for i := 0; i+1 < len(node.Content); i += 2 {
		one := member{name: node.Content[i].Value}
		if err := node.Content[i+1].Decode(&one.schema); err != nil {
			return fmt.Errorf("read the schema %s: %w", one.name, err)
		}
		*m = append(*m, one)
	}
	return nil
}

// generate returns the types of all schemas of the document.
func generate(document []byte) ([]byte, error) {
	var d struct {
		Components struct {
			Schemas members `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(document, &d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	if len(d.Components.Schemas) == 0 {
		return nil, errSchemas
	}
	var b strings.Builder
	b.WriteString(head)
	for _, m := range d.Components.Schemas {
		b.WriteString("\n")
		comment(&b, "", m.schema.Description)
		if len(m.schema.Properties) > 0 {
			fmt.Fprintf(&b, "export interface %s %s\n", m.name, m.schema.object(""))
			continue
		}
		fmt.Fprintf(&b, "export type %s = %s;\n", m.name, m.schema.text(""))
	}
	return []byte(b.String()), nil
}

// comment writes a description. It cannot end the comment that contains it.
func comment(b *strings.Builder, indent, text string) {
	text = strings.Join(strings.Fields(text), " ")
	if text != "" {
		fmt.Fprintf(b, "%s/** %s */\n", indent, strings.ReplaceAll(text, "*/", "* /"))
	}
}

// text returns the type of a value that matches the schema.
func (s *schema) text(indent string) string {
	switch {
	case s.Ref != "":
		return s.Ref[strings.LastIndex(s.Ref, "/")+1:]
	case s.Const != "":
		return strconv.Quote(s.Const)
	case len(s.Enum) > 0:
		return union(s.Enum, strconv.Quote, " | ")
	case len(s.OneOf) > 0:
		return joined(s.OneOf, indent, " | ")
	case len(s.AnyOf) > 0:
		return joined(s.AnyOf, indent, " | ")
	case len(s.AllOf) > 0:
		return joined(s.AllOf, indent, " & ")
	}
	types := []string{s.Type.Value}
	if s.Type.Kind == yaml.SequenceNode {
		types = nil
		for _, n := range s.Type.Content {
			types = append(types, n.Value)
		}
	}
	return union(types, func(name string) string { return s.named(name, indent) }, " | ")
}

// named returns the type of a value of the schema that has one of its types.
func (s *schema) named(name, indent string) string {
	switch name {
	case "string", "boolean", "number", "null":
		return name
	case "integer":
		return "number"
	case "array":
		return s.array(indent)
	case "object":
		return s.object(indent)
	}
	return "unknown"
}

func (s *schema) array(indent string) string {
	if len(s.Prefix) > 0 {
		parts := make([]string, len(s.Prefix))
		for i := range s.Prefix {
			if parts[i] = s.Prefix[i].text(indent); i >= s.MinItems {
				parts[i] += "?"
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	if s.Items == nil {
		return "unknown[]"
	}
	item := s.Items.text(indent)
	if strings.ContainsAny(item, "|&") && !strings.HasPrefix(item, "{") {
		item = "(" + item + ")"
	}
	return item + "[]"
}

func (s *schema) object(indent string) string {
	if len(s.Properties) == 0 {
		var value schema
		if s.Additional.Kind != yaml.MappingNode || s.Additional.Decode(&value) != nil {
			return "Record<string, unknown>"
		}
		return "Record<string, " + value.text(indent) + ">"
	}
	var b strings.Builder
	b.WriteString("{\n")
	for i := range s.Properties {
		p := &s.Properties[i]
		comment(&b, indent+"  ", p.schema.Description)
		mark := "?"
		if slices.Contains(s.Required, p.name) {
			mark = ""
		}
		fmt.Fprintf(&b, "%s  %s%s: %s;\n", indent, p.name, mark, p.schema.text(indent+"  "))
	}
	b.WriteString(indent + "}")
	return b.String()
}

func union(names []string, text func(string) string, between string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = text(n)
	}
	return strings.Join(parts, between)
}

func joined(list []schema, indent, between string) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = list[i].text(indent)
	}
	return strings.Join(parts, between)
}
