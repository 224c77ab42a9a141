// Package installed gives the supervisor of agents what a node knows of them: their keys with grants, and their documents.
package installed

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
)

// Identities implements agent.Identities.
type Identities struct{ Registry *registry.Agents }

// Grants implements agent.Identities.
func (r Identities) Grants(_ context.Context, name string) (identity.Grants, error) {
	a, err := r.Registry.Agent(name)
	return a.Grants, err
}

// Admit implements agent.Identities.
func (r Identities) Admit(ctx context.Context, name, public string, change func(*identity.Grants) error) (added bool, err error) {
	known, err := r.Registry.Agent(name)
	switch {
	case fault.Is(err, fault.NotFound):
		var grants identity.Grants
		if change != nil {
			if err := change(&grants); err != nil {
				return false, err
			}
		}
		_, err = r.Registry.Add(ctx, name, public, grants)
		return err == nil, err
	case err == nil && !strings.EqualFold(known.Public, public):
		err = fault.E("agent.Admit", fault.Conflict, name, errors.New("is registered with another key; remove it with voltbus agent remove, and install it again"))
	case err == nil && change != nil:
		_, err = r.Registry.Regrant(ctx, name, change)
	}
	return false, err
}

// Forget implements agent.Identities.
func (r Identities) Forget(ctx context.Context, name string) error {
	return r.Registry.Remove(ctx, name)
}

// Documents implements agent.Documents.
type Documents struct{ Store *document.Store }

func configOf(name string) document.Key { return document.Key{Owner: "agent/" + name, Name: "config"} }

// Bind implements agent.Documents.
func (c Documents) Bind(ctx context.Context, name string, schema json.RawMessage) ([]string, error) {
	problems, err := c.Store.SetSchema(ctx, configOf(name), string(schema))
	wrong := make([]string, len(problems))
	for i, p := range problems {
		wrong[i] = p.Path + ": " + p.Text
	}
	return wrong, err
}

// Drop implements agent.Documents.
func (c Documents) Drop(ctx context.Context, name, by string) error {
	list, err := c.Store.List(ctx, configOf(name).Owner)
	for i := range list {
		if !list[i].Deleted {
			err = errors.Join(err, c.Store.Delete(ctx, list[i].Key, by, "the agent was removed", document.AnyVersion))
		}
	}
	return err
}
