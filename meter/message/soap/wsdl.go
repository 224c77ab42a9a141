package soap

import (
	_ "embed"
	"strings"
)

//go:embed metering.wsdl
var wsdl string

// WSDL returns the description of the service at an address.
func WSDL(address string) []byte {
	var b strings.Builder
	escape(&b, address)
	return []byte(strings.ReplaceAll(wsdl, "{address}", b.String()))
}
