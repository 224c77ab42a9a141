// Reference generates the reference of the configuration file from the structs that it is decoded into: the JSON Schema for editors, and
// the page for people. It runs in the module root.
package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"voltbus/config"
	"voltbus/driver"
)

//go:generate go -C ../.. run ./config/reference

const (
	schemaFile = "docs/reference/config.schema.json"
	servedFile = "config/schema.json" // the same, embedded in the program
	pageFile   = "docs/reference/configuration.md"
)

func main() {
	files, err := generate(kinds())
	for name, data := range files {
		if err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// generate returns the content of the generated files by name.
func generate(kinds []driver.Kind) (map[string][]byte, error) {
	kinds = slices.Clone(kinds)
	slices.SortFunc(kinds, func(a, b driver.Kind) int { return cmp.Compare(a.Name, b.Name) })
	comments, err := readComments(kinds)
	if err != nil {
		return nil, err
	}
	schema, err := schemaOf(config.Default(), config.NewEntry(), kinds, comments)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{schemaFile: schema, servedFile: schema, pageFile: pageOf(kinds, comments)}, nil
}
