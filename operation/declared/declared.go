// Package declared lists the declarations of all operations, for adapters and generators.
package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/transport"
)

// All lists the operations: those that the parts do, and those that the adapter of HTTP answers itself.
func All() []operation.Declared {
	return slices.Concat(operation.DeclaredOf((&Parts{}).Operations()), transport.Declared())
}
