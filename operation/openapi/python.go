package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"voltbus/operation"
)

const pythonFile = "python/src/voltbus/operations.py"

const pythonHead = `"""What agents may ask the node for: a method for each operation, as the node declares it.

Written by ` + "``go generate ./operation/openapi``" + ` from the declarations. ` + "``bus.operations``" + ` has these
methods; what is left out is None. An answer is a dictionary as JSON has it; its times are texts.
With ` + "``node``" + ` another node is asked, as far as it lets who asks from here.
"""

# ruff: noqa: PLR0913 - operations have as many arguments as they have
from __future__ import annotations

from typing import Any, TypedDict

from ._asking import Asking`

const pythonClass = `

class Operations:
    """The operations of a node, for the agent of a bus."""

    def __init__(self, bus: Asking) -> None:
        self._bus = bus

    async def _ask(self, method: str, given: dict[str, Any], node: str, timeout: float) -> Any:
        ask = {name: value for name, value in given.items() if value is not None}
        callee = f"{node}/node" if node else "node"
        return await self._bus.request(callee, method, (), ask, timeout=timeout)
`

// pythonDocument returns the module of the Python SDK with a method for each operation that agents may ask for.
func pythonDocument(http string, list []operation.Declared) string {
	list = slices.DeleteFunc(slices.Clone(list), func(d operation.Declared) bool { return d.Method == "" || d.People })
	slices.SortFunc(list, func(a, b operation.Declared) int { return strings.Compare(a.Name, b.Name) })
	all := newSchemas(func(name string) bool { return blockOf(http, name) != "" })
	var methods, types strings.Builder
	for i := range list {
		all.pythonMethod(&methods, &list[i])
	}
	for known := -1; known < len(all.types); { // a type may name others
		known = len(all.types)
		types.Reset()
		for _, name := range slices.Sorted(maps.Keys(all.types)) {
			all.pythonType(&types, name)
		}
	}
	return pythonHead + "\n" + pythonClass + strings.TrimSuffix(methods.String(), "\n") + types.String() + "\n\n\n__all__ = [\"Operations\"]\n"
}

// pythonName is a name that Python allows.
func pythonName(name string) string {
	name = strings.NewReplacer(".", "_", "-", "_").Replace(name)
	if slices.Contains([]string{"as", "assert", "class", "def", "from", "global", "if", "import", "in", "is", "not", "or", "pass", "with"}, name) {
		name += "_"
	}
	return name
}

// pythonOf returns the type of a value in Python.
func (s *schemas) pythonOf(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return s.pythonOf(t.Elem()) + " | None"
	case t == reflect.TypeFor[time.Time]():
		return "str"
	case t == reflect.TypeFor[operation.Time]():
		return "str | int"
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return "Any"
	}
	switch t.Kind() { //nolint:exhaustive // the rest is a whole number
	case reflect.Struct:
		if name := s.add(t); !s.hand(name) {
			return name
		}
		return "Any"
	case reflect.Slice:
		return "list[" + s.pythonOf(t.Elem()) + "]"
	case reflect.Map:
		return "dict[str, " + s.pythonOf(t.Elem()) + "]"
	case reflect.String:
		return "str"
	case reflect.Bool:
		return "bool"
	case reflect.Float64:
		return "float"
	}
	return "int"
}

// pythonType writes a type; one of whose names Python does not allow in another form.
func (s *schemas) pythonType(b *strings.Builder, name string) {
	fields := s.pythonFields(s.types[name])
	if slices.ContainsFunc(fields, func(f [2]string) bool { return pythonName(f[0]) != f[0] }) {
		fmt.Fprintf(b, "\n\n\n%s = TypedDict(\n    \"%[1]s\",\n    {\n", name)
		for _, f := range fields {
			fmt.Fprintf(b, "        %q: %q,\n", f[0], f[1])
		}
		b.WriteString("    },\n    total=False,\n)")
		return
	}
	fmt.Fprintf(b, "\n\n\nclass %s(TypedDict, total=False):\n    \"\"\"%s of an answer, or of an argument.\"\"\"\n", name, name)
	for _, f := range fields {
		fmt.Fprintf(b, "\n    %s: %s", f[0], f[1])
	}
}

func (s *schemas) pythonFields(t reflect.Type) (fields [][2]string) {
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			fields = append(fields, s.pythonFields(f.Type)...)
		case name != "" && name != "-" && f.IsExported():
			fields = append(fields, [2]string{name, s.pythonOf(f.Type)})
		}
	}
	return fields
}

func (s *schemas) pythonMethod(b *strings.Builder, d *operation.Declared) {
	result := "None"
	if d.Out != reflect.TypeFor[operation.None]() {
		result = s.pythonOf(d.Out)
	}
	fmt.Fprintf(b, "\n    async def %s(\n        self,\n        *,\n", pythonName(d.Name))
	for i := range d.Fields {
		f := &d.Fields[i]
		if f.Required && !f.Judged {
			fmt.Fprintf(b, "        %s: %s,\n", pythonName(f.Name), s.pythonOf(f.Type))
		}
	}
	for i := range d.Fields {
		f := &d.Fields[i]
		if !f.Required || f.Judged {
			fmt.Fprintf(b, "        %s: %s = None,\n", pythonName(f.Name), s.pythonOf(f.Type)+" | None")
		}
	}
	fmt.Fprintf(b, "        node: str = \"\",\n        timeout: float = %g,\n    ) -> %s:\n", d.Longest().Seconds(), result)
	fmt.Fprintf(b, "        \"\"\"%s.", strings.TrimSuffix(strings.TrimSpace(wrapped(d.Summary)), "."))
	if words := pythonWords(d); len(words) > 0 {
		b.WriteString("\n\n")
		for _, text := range words {
			b.WriteString(wrapped(text))
		}
		b.WriteString("        ")
	}
	b.WriteString("\"\"\"\n        given: dict[str, Any] = {\n")
	for i := range d.Fields {
		fmt.Fprintf(b, "            %q: %s,\n", d.Fields[i].Name, pythonName(d.Fields[i].Name))
	}
	b.WriteString("        }\n")
	call := fmt.Sprintf("await self._ask(%q, given, node, timeout)", d.Method)
	if result == "None" {
		fmt.Fprintf(b, "        %s\n", call)
		return
	}
	fmt.Fprintf(b, "        answer: %s = %s\n        return answer\n", result, call)
}

// pythonWords are the paragraphs behind the first line of what a method says of itself.
func pythonWords(d *operation.Declared) (list []string) {
	if d.Doc != "" {
		list = append(list, d.Doc)
	}
	for i := range d.Fields {
		if f := &d.Fields[i]; f.Doc != "" {
			list = append(list, "``"+pythonName(f.Name)+"``: "+f.Doc+".")
		}
	}
	return list
}

// wrapped returns a text in lines that are not too long, as a part of what a method says of itself.
func wrapped(text string) string {
	const most = 88
	var b strings.Builder
	line := ""
	for word := range strings.FieldsSeq(strings.ReplaceAll(text, `\`, `\\`)) {
		if line != "" && len(line)+1+len(word) > most {
			b.WriteString("        " + line + "\n")
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return b.String() + "        " + line + "\n"
}
