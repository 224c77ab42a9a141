// Package declared lists the declarations of all operations, for adapters and generators.
package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/transport"
)

// All lists the operations: those of the parts, and those that the HTTP adapter answers itself.
func All() []operation.Declared {
	return slices.Concat(operation.DeclaredOf((&Parts{}).Operations()), transport.Declared())
}
