// Package declared lists the declarations of all operations, for adapters and generators.
package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/metering"
)

// All lists the operations that are declared once, in packages below operation.
func All() []operation.Declared {
	return slices.Concat(
		configuration.Declared(),
		operation.DeclaredOf((&Parts{}).Operations()),
		metering.Declared(),
	)
}
