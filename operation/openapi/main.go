// Openapi generates what follows from the declarations of operations: the paths and schemas of the OpenAPI document, the requests of the
// AsyncAPI document, the operations of the Python SDK, and the page of rights. It runs in the module root.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"voltbus/operation"
	"voltbus/operation/declared"
)

//go:generate go -C ../.. run ./operation/openapi
//go:generate go -C ../.. run ./api/typescript

const documentFile = "api/openapi.yaml"

// written returns all generated files, by their names below a folder, the module root.
func written(root string, list []operation.Declared) (map[string]string, error) {
	document, err := os.ReadFile(root + documentFile)
	if err != nil {
		return nil, err
	}
	bus, err := os.ReadFile(root + busFile)
	if err != nil {
		return nil, err
	}
	next, err := replace(string(document), list)
	if err != nil {
		return nil, err
	}
	nextBus, err := busDocument(string(bus), next, list)
	return map[string]string{documentFile: next, busFile: nextBus, pythonFile: pythonDocument(next, list), rightsFile: rights(list)}, err
}

func main() {
	files, err := written("", declared.All())
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err == nil {
			err = os.WriteFile(name, []byte(files[name]), 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}
