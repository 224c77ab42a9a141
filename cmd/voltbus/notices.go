package main

import (
	_ "embed"
	"io"
)

// What the program contains by third parties; tools/notices writes both.
//
//go:generate go -C ../../tools run ./notices
var (
	//go:embed notices/THIRD_PARTY_NOTICES
	thirdParty string
	//go:embed notices/sbom.spdx.json
	billOfMaterials string
)

func writeText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
