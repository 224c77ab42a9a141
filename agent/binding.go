package agent

import (
	"context"
	"encoding/json"
)

// bindings keeps which schema checks the configuration of an agent.
type bindings struct {
	documents Documents // nil for a node without
}

// bind makes the configuration of an agent be checked by the schema of the version that runs.
func (b bindings) bind(ctx context.Context, name string, schema json.RawMessage) (wrong []string, err error) {
	if b.documents == nil {
		return nil, nil
	}
	return b.documents.Bind(ctx, name, schema)
}

// release lets go of the documents of an agent that is gone.
func (b bindings) release(ctx context.Context, what Removal) error {
	if _, err := b.bind(ctx, what.Name, nil); err != nil || what.KeepConfig || b.documents == nil {
		return err
	}
	return b.documents.Drop(ctx, what.Name, what.By)
}
