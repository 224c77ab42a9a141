package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/operation"
	"voltbus/operation/transport"
)

const busFile = "docs/formats/asyncapi.yaml"

// The lines of the bus document between which a generated part stands. Each occurs once in each of these places: the requests and
// the answers of the channels, the operations, messages and schemas.
const (
	beginBus = "# What follows is written by \"go generate ./operation/openapi\".\n"
	endBus   = "# What is written ends here.\n"
)

// bus returns the bus document with the operations open to agents. http is the other document, whose schemas the answers use.
func busDocument(document, http string, list []operation.Declared) (string, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(d operation.Declared) bool { return d.Method == "" || d.People })
	list = append(list, transport.OnBus()...)
	slices.SortFunc(list, func(a, b operation.Declared) int { return strings.Compare(a.Method, b.Method) })
	all := newSchemas(func(name string) bool { return blockOf(http, name) != "" })
	all.results(list)
	parts := make([]strings.Builder, 5)
	for i := range list {
		d := &list[i]
		fmt.Fprintf(&parts[0], "      %s: {$ref: \"#/components/messages/%[1]s\"}\n", d.Method)
		fmt.Fprintf(&parts[1], "      %s: {$ref: \"#/components/messages/%[1]s_answer\"}\n", d.Method)
		writeAsked(&parts[2], d)
		all.writeMessages(&parts[3], d)
		all.writeArguments(&parts[4], d)
	}
	parts[4].WriteString(all.referred(parts[3].String()+parts[4].String(), http))
	for i := range parts {
		before, rest, found := cutMarks(document, i)
		_, after, ended := strings.Cut(rest, endBus)
		if !found || !ended {
			return "", fault.E("openapi.busDocument", fault.Corrupt, busFile, errMarks)
		}
		indent := before[strings.LastIndex(before, "\n")+1:]
		document = before + beginBus + parts[i].String() + indent + endBus + after
	}
	return document, all.clash
}

// cutMarks cuts a document at the beginning of its i-th generated part.
func cutMarks(document string, i int) (before, rest string, found bool) {
	at := 0
	for n := range i + 1 {
		next := strings.Index(document[at:], beginBus)
		if next < 0 {
			return "", "", false
		}
		at += next
		if n < i {
			at += len(beginBus)
		}
	}
	return document[:at], document[at+len(beginBus):], true
}

func writeAsked(b *strings.Builder, d *operation.Declared) {
	fmt.Fprintf(b, "  %s:\n    action: send\n    summary: %s\n", d.Method, quoted(d.Summary+"."))
	if d.Doc != "" {
		fmt.Fprintf(b, "    description: %s\n", quoted(d.Doc))
	}
	fmt.Fprintf(b, "    channel: {$ref: \"#/channels/node\"}\n    messages: [{$ref: \"#/channels/node/messages/%s\"}]\n", d.Method)
	fmt.Fprintf(b, "    reply:\n      channel: {$ref: \"#/channels/inbox\"}\n      messages: [{$ref: \"#/channels/inbox/messages/%s\"}]\n", d.Method)
}

func (s *schemas) writeMessages(b *strings.Builder, d *operation.Declared) {
	fmt.Fprintf(b, "    %s:\n      contentType: application/json\n      payload:\n        type: object\n", d.Method)
	if len(needed(d)) > 0 {
		b.WriteString("        required: [kwargs]\n")
	}
	fmt.Fprintf(b, "        additionalProperties: false\n        properties:\n          kwargs: {$ref: \"#/components/schemas/%s_args\"}\n", d.Method)
	result := flow(s.value(d.Out, tags{}))
	switch {
	case d.Carried != "" && d.Schema != "":
		result = flow([]string{reference(d.Schema)})
	case d.Out == reflect.TypeFor[operation.None]():
		result = `{ type: "null" }`
	}
	fmt.Fprintf(b, "    %s_answer:\n      contentType: application/json\n      payload:\n        oneOf:\n", d.Method)
	fmt.Fprintf(b, "          - type: object\n            required: [result]\n            additionalProperties: false\n            properties: { result: %s }\n", result)
	b.WriteString("          - {$ref: \"#/components/schemas/error\"}\n")
}

// needed lists the arguments that agents must give.
func needed(d *operation.Declared) (names []string) {
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Required && !f.Judged {
			names = append(names, f.Name)
		}
	}
	return names
}

func (s *schemas) writeArguments(b *strings.Builder, d *operation.Declared) {
	fmt.Fprintf(b, "    %s_args:\n      type: object\n      additionalProperties: false\n", d.Method)
	if names := needed(d); len(names) > 0 {
		fmt.Fprintf(b, "      required: [%s]\n", strings.Join(names, ", "))
	}
	if len(d.Fields) > 0 {
		b.WriteString("      properties:\n")
	}
	for i := range d.Fields {
		fmt.Fprintf(b, "        %s: %s\n", d.Fields[i].Name, s.argument(d.Fields[i]))
	}
}

// argument returns the JSON Schema of an argument.
func (s *schemas) argument(f operation.Field) string {
	f.Query, f.Commas = false, false
	if f.Schema != "" {
		return fieldSchema(&f, f.Doc)
	}
	text := []string{"type: [string, number]"}
	switch kind := f.Type.Kind(); {
	case f.Type == reflect.TypeFor[operation.Time]():
	case kind == reflect.Slice && f.Type != reflect.TypeFor[json.RawMessage](), kind == reflect.Map, kind == reflect.Struct:
		text = s.value(f.Type, tags{})
		if f.Max > 0 {
			text = append(text, fmt.Sprintf("maxItems: %d", f.Max))
		}
	default:
		return fieldSchema(&f, f.Doc)
	}
	if f.Doc != "" {
		text = append(text, "description: "+quoted(f.Doc))
	}
	return flow(text)
}

var schemaReference = regexp.MustCompile(`#/components/schemas/([A-Z]\w*)"`)

// referred returns the schemas that a text refers to, transitively: generated from types, or hand-written in the other document.
func (s *schemas) referred(text, http string) string {
	found := map[string]string{}
	for pending := []string{text}; len(pending) > 0; pending = pending[1:] {
		for _, m := range schemaReference.FindAllStringSubmatch(pending[0], -1) {
			if name := m[1]; found[name] == "" {
				if found[name] = blockOf(http, name); found[name] == "" {
					found[name] = s.block(name)
				}
				pending = append(pending, found[name])
			}
		}
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(found)) {
		b.WriteString(found[name])
	}
	return b.String()
}

// blockOf returns a hand-written schema of the HTTP document; "" for none.
func blockOf(http, name string) string {
	hand, _, _ := strings.Cut(http, beginSchemas)
	_, hand, _ = strings.Cut(hand, "\n  schemas:\n")
	_, block, found := strings.Cut("\n"+hand, "\n    "+name+":")
	if !found {
		return ""
	}
	lines := strings.SplitAfter(block, "\n")
	end := 1
	for end < len(lines) && strings.HasPrefix(lines[end], "     ") {
		end++
	}
	return "    " + name + ":" + strings.Join(lines[:end], "")
}
