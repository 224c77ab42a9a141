package agent

import (
	"context"
	"encoding/json"
)

// bindings keeps the schema that checks each agent's configuration.
type bindings struct {
	documents Documents // nil for a node without documents
}

// bind makes the schema of the running version check an agent's configuration.
func (b bindings) bind(ctx context.Context, name string, schema json.RawMessage) (wrong []string, err error) {
	if b.documents == nil {
		return nil, nil
	}
	return b.documents.Bind(ctx, name, schema)
}

// release unbinds the documents of a removed agent.
func (b bindings) release(ctx context.Context, what Removal) error {
	if _, err := b.bind(ctx, what.Name, nil); err != nil || what.KeepConfig || b.documents == nil {
		return err
	}
	return b.documents.Drop(ctx, what.Name, what.By)
}
