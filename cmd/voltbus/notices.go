package main

import (
	_ "embed"
	"errors"
	"io"

	"voltbus/fault"
)

// What the program contains by third parties; tools/notices writes them.
//
//go:generate go -C ../../tools run ./notices
var (
	//go:embed notices/THIRD_PARTY_NOTICES
	thirdParty string
	//go:embed notices/sbom.spdx.json
	billSPDX string
	//go:embed notices/sbom.cdx.json
	billCycloneDX string
)

// writeBill prints the bill of materials in a format.
func writeBill(w io.Writer, format string) error {
	switch format {
	case "spdx":
		return writeText(w, billSPDX)
	case "cyclonedx":
		return writeText(w, billCycloneDX)
	}
	return fault.E("version", fault.Invalid, format, errors.New("no such format of a bill of materials; write --sbom=spdx or --sbom=cyclonedx"))
}

func writeText(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}
