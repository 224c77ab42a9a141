package agent

import (
	"context"
	"encoding/json"
)

// Installing says what installations need.
type Installing struct {
	Identities Identities // nil for a node without
}

// Identities is where agents' keys and rights are kept.
type Identities interface {
	// Admit makes the key of an agent known with the grants, as JSON, or changes its grants.
	Admit(ctx context.Context, name, public string, grants json.RawMessage) error
	// Forget removes an agent; fault.NotFound if there is none.
	Forget(ctx context.Context, name string) error
}
