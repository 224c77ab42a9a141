// Package installed gives the supervisor of agents what a node knows of them: their keys with grants, and their documents.
package installed

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"voltbus/agent/replicated"
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

// Revoked implements replicated.Identities.
func (r Identities) Revoked(name string) bool {
	a, err := r.Registry.Agent(name)
	return err == nil && !a.Revoked.IsZero()
}

// Revoke implements replicated.Identities.
func (r Identities) Revoke(ctx context.Context, name string) error {
	_, err := r.Registry.Revoke(ctx, name)
	return err
}

// Documents implements agent.Documents and replicated.Documents.
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

// replicas is who a document is from that another replica has.
const replicas = "node"

// All implements replicated.Documents.
func (c Documents) All(ctx context.Context, name string) (map[string]replicated.Document, error) {
	list, err := c.Store.List(ctx, configOf(name).Owner)
	all := map[string]replicated.Document{}
	for i := range list {
		if list[i].Deleted || err != nil {
			continue
		}
		var d document.Document
		if d, err = c.Store.Get(ctx, list[i].Key, 0); err == nil {
			all[d.Name] = replicated.Document{Type: string(d.Type), Text: d.Text}
		}
	}
	return all, err
}

// Set implements replicated.Documents.
func (c Documents) Set(ctx context.Context, agent, name string, d replicated.Document) error {
	key := document.Key{Owner: configOf(agent).Owner, Name: name}
	_, err := c.Store.Set(ctx, document.Document{Key: key, Type: document.Type(d.Type), Text: d.Text, By: replicas, Note: "as at another replica"}, document.AnyVersion)
	return err
}

// Delete implements replicated.Documents.
func (c Documents) Delete(ctx context.Context, agent, name string) error {
	return c.Store.Delete(ctx, document.Key{Owner: configOf(agent).Owner, Name: name}, replicas, "as at another replica", document.AnyVersion)
}
