// Reference generates the JSON Schema of a lab run's result from its Go types. It runs in the module's root.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/invopop/jsonschema"

	"voltbus/lab/experiment"
)

//go:generate go -C ../../.. run ./lab/report/reference

const schemaFile = "docs/reference/lab-result.schema.json"

func main() {
	data, err := generate(".")
	if err == nil {
		err = os.WriteFile(schemaFile, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

// generate returns the schema; root is the module's.
func generate(root string) ([]byte, error) {
	r := jsonschema.Reflector{AllowAdditionalProperties: true}
	for _, room := range []string{"experiment", "account", "load", "machine"} {
		if err := r.AddGoComments("voltbus", root+"/lab/"+room); err != nil {
			return nil, fmt.Errorf("read the comments: %w", err)
		}
	}
	s := r.Reflect(&experiment.Result{})
	s.ID = "https://voltbus.invalid/lab-result.schema.json"
	s.Title = "Result of a lab run"
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(data, '\n'), nil
}
