// Reference generates the reference page of supported objects and functions from the code: the table of object layouts, and the answers
// of this library's outstation. It runs in the module's root.
package main

import (
	"fmt"
	"os"
)

//go:generate go -C ../../.. run ./protocol/dnp3/reference

const pageFile = "docs/reference/dnp3-objects.md"

func main() {
	page, err := generate()
	if err == nil {
		err = os.WriteFile(pageFile, page, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}
