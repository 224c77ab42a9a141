package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/transport"
)

const rightsFile = "docs/reference/operations.md"

const rightsHead = `# Operations

This page is written by ` + "`go generate ./operation/openapi`" + ` from the declarations of operations.

Each line is an operation that a caller can ask of a node: who may, by which ways, and what the audit log is told. A role includes those below
it: viewer, operator, engineer, administrator. Agents ask by the name on the bus, and may what their [grants](capabilities.md) say. Where another
node can be asked, it judges once more, by the role of who asks and by what it allows to its neighbour: the capability in that column, or, where
it says "grants", those of the neighbour. The [API](api.md) says what the arguments are. Where the last column is empty, the operation only reads; of installed agents, what runs them
writes what was done. Paths are below ` + "`/api/v1`" + `, apart from those of other programs' APIs and ` + "`/metrics`" + `.

| Operation | Over HTTP | On the bus | Role | Another node | Audit log |
| --- | --- | --- | --- | --- | --- |
`

// rights returns the page of rights.
func rights(list []operation.Declared) string {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b operation.Declared) int { return cmp.Compare(a.Name, b.Name) })
	var b strings.Builder
	b.WriteString(rightsHead)
	for i := range list {
		d := &list[i]
		role := d.Role.String()
		switch {
		case d.Record:
			role += ", and tokens that can only record"
		case d.Role == identity.Nobody:
			role = "everybody"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", d.Name, code(d.HTTP), bus(d), role, elsewhere(d), told(d))
	}
	b.WriteString(carriedHead)
	for i := range list {
		if d := &list[i]; d.Carried != "" {
			fmt.Fprintf(&b, "| `%s` | %s |\n", d.Name, d.Carried)
		}
	}
	b.WriteString(onBusHead)
	for _, d := range transport.OnBus() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", d.Method, d.Summary)
	}
	return b.String()
}

const onBusHead = `
## What only the bus answers

Every agent asks these of its own node, to begin and keep up its connection; ` + "`ping`, `inspect` and `listen`" + ` also of another one. What is asked
with ` + "`remote` and `record`" + ` is judged by its grants:

| Method | What it does |
| --- | --- |
`

const carriedHead = `
## What only HTTP answers

These are declared, and judged, as all others are. The adapter of HTTP answers them itself, so that they are neither on the bus nor asked with
` + "`voltbus call`" + `:

| Operation | Why |
| --- | --- |
`

// bus is the name on the bus.
func bus(d *operation.Declared) string {
	if d.People {
		return ""
	}
	return code(d.Method)
}

// elsewhere says what a request to another node requires.
func elsewhere(d *operation.Declared) string {
	switch {
	case !d.Remote:
		return "no"
	case d.Granted:
		return "grants"
	}
	return code("call node:" + d.Name)
}

// told describes what the audit log records.
func told(d *operation.Declared) string {
	switch {
	case d.Audited:
		return code(cmp.Or(d.Action, d.Name))
	case d.Watched != "":
		return code(d.Watched) + ", each reader once a minute"
	case d.Name == "control.approve":
		return "what control decided"
	case d.Granted && d.Changes():
		return "what control decided; of another node: " + code("node.call")
	case d.Remote && d.Changes():
		return "of another node: " + code(d.Name)
	}
	return ""
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
