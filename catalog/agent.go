package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
	"voltbus/identity/registry"
)

// Registry keeps agents, children, and invitations of children.
type Registry struct{ *file }

var (
	_ registry.AgentStorage = (*Registry)(nil)
	_ registry.ChildStorage = (*Registry)(nil)
)

var errNoAgent = errors.New("there is no agent of this name")

// PutAgent implements registry.AgentStorage.
func (r *Registry) PutAgent(ctx context.Context, a registry.Agent) error {
	grants, err := json.Marshal(a.Grants)
	if err != nil {
		return fault.E("catalog.PutAgent", fault.Invalid, a.Name, fmt.Errorf("write the grants: %w", err))
	}
	var revoked sql.NullInt64
	if !a.Revoked.IsZero() {
		revoked = sql.NullInt64{Int64: micros(a.Revoked), Valid: true}
	}
	return r.exec(ctx, "catalog.PutAgent", a.Name, `
		INSERT INTO agent (name, public, grants, created, revoked) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET public = excluded.public, grants = excluded.grants, revoked = excluded.revoked`,
		a.Name, a.Public, string(grants), micros(a.Created), revoked)
}

// Agents implements registry.AgentStorage.
func (r *Registry) Agents(ctx context.Context) ([]registry.Agent, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT name, public, grants, created, revoked FROM agent ORDER BY name`)
	if err != nil {
		return nil, wrap("catalog.Agents", "", err)
	}
	defer rows.Close()
	var list []registry.Agent
	for rows.Next() {
		var a registry.Agent
		var grants []byte
		var created, revoked sql.NullInt64
		if err := rows.Scan(&a.Name, &a.Public, &grants, &created, &revoked); err != nil {
			return nil, wrap("catalog.Agents", "", err)
		}
		if err := json.Unmarshal(grants, &a.Grants); err != nil {
			return nil, fault.E("catalog.Agents", fault.Corrupt, a.Name, fmt.Errorf("the grants cannot be read: %w", err))
		}
		a.Created, a.Revoked = fromMicros(created), fromMicros(revoked)
		list = append(list, a)
	}
	return list, wrap("catalog.Agents", "", rows.Err())
}

// DropAgent implements registry.AgentStorage.
func (r *Registry) DropAgent(ctx context.Context, name string) error {
	return r.drop(ctx, "catalog.DropAgent", `DELETE FROM agent WHERE name = ?`, name, errNoAgent)
}
