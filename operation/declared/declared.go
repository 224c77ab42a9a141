// Package declared lists the declarations of all operations, for adapters and generators.
package declared

import "voltbus/operation"

// All lists the operations of all parts.
func All() []operation.Declared { return operation.DeclaredOf((&Parts{}).Operations()) }
