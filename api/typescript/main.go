// Typescript generates the TypeScript types of the page's client from the schemas of the OpenAPI document. It runs in the module root.
package main

import (
	"fmt"
	"os"
)

//go:generate go -C ../.. run ./api/typescript

const (
	documentFile = "api/openapi.yaml"
	typesFile    = "web/src/generated/api.ts"
)

func main() {
	document, err := os.ReadFile(documentFile)
	if err == nil {
		var types []byte
		if types, err = generate(document); err == nil {
			err = os.WriteFile(typesFile, types, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "typescript:", err)
		os.Exit(1)
	}
}
