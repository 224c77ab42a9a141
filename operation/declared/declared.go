// Package declared lists the declarations of all operations, for adapters and generators.
package declared

import (
	"slices"

	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/documents"
	"voltbus/operation/history"
	"voltbus/operation/mqtt"
	"voltbus/operation/points"
)

// All lists the operations that are declared once, in packages below operation.
func All() []operation.Declared {
	return slices.Concat(
		configuration.Declared(),
		documents.Declared(),
		history.Declared(),
		mqtt.Declared(),
		points.Declared(),
	)
}
