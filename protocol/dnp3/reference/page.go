package main

import (
	"bytes"
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

const intro = `# DNP3: supported objects and functions

Generated from the code by "make generate": do not edit. *Read by the library*: the master accepts the object from an
outstation, and a program gets it as a point or as bytes with a typed view. *Answered*: the library's outstation, with
points of every kind, returns it on request. Interoperability tests are in [DNP3 conformance](dnp3-conformance.md).

## Objects

| object | meaning | read by the library | answered by the outstation |
| --- | --- | --- | --- |
`

// generate returns the page.
func generate() ([]byte, error) {
	device := newDevice()
	var page bytes.Buffer
	page.WriteString(intro)
	for v := range object.Variations() {
		if !listed(v) {
			continue
		}
		answered, err := device.answers(v)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&page, "| %v | %s | %s | %s |\n", v, v.Describe(), tick(v.Layout().Form() != object.FormNone), tick(answered))
	}
	page.WriteString("\nOctet strings and virtual terminals exist with every length from 0 to 255 as their variation,\n" +
		"attributes with every number; they stand here once.\n\n## Functions\n\n" +
		"| code | function | carried out by the outstation |\n| --- | --- | --- |\n")
	for code := range 256 {
		f := app.Function(code)
		if !f.Known() || f.Response() {
			continue
		}
		known, err := device.performs(f)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&page, "| %d | %v | %s |\n", code, f, tick(known))
	}
	return page.Bytes(), nil
}

// listed leaves one of the groups whose variation is a number or a length.
func listed(v object.Variation) bool {
	switch v.Kind() {
	case object.KindAttribute:
		return v.Number() == 252 || v == object.G0V254 || v == object.G0V255
	case object.KindOctetString, object.KindTerminal:
		return v.Number() <= 1
	default:
		return true
	}
}

func tick(yes bool) string {
	if yes {
		return "yes"
	}
	return ""
}
