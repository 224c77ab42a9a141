// Openapi writes the part of the API's document that says how declared operations are asked over HTTP, and the page that says who may ask. It runs in the module's root.
package main

import (
	"errors"
	"fmt"
	"os"

	"voltbus/operation/declared"
)

//go:generate go -C ../.. run ./operation/openapi
//go:generate go -C ../.. run ./api/typescript

const documentFile = "api/openapi.yaml"

func main() {
	document, err := os.ReadFile(documentFile)
	if err == nil {
		var next string
		if next, err = replace(string(document), declared.All()); err == nil {
			err = errors.Join(os.WriteFile(documentFile, []byte(next), 0o644), os.WriteFile(rightsFile, []byte(rights(declared.All())), 0o644))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}
