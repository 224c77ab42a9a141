package registry

import (
	"context"
	"time"

	"voltbus/identity"
)

// Agent is a program with its own identity on the bus. Values are not modified once they are shared.
type Agent struct {
	Name    string          `json:"name"`
	Public  string          `json:"public"` // nkey, such as "UABC…"; the private key stays with the agent
	Grants  identity.Grants `json:"grants"`
	Created time.Time       `json:"created"`
	Revoked time.Time       `json:"revoked,omitzero"` // zero: not revoked
}

// Active reports whether the agent may connect.
func (a *Agent) Active() bool { return a.Revoked.IsZero() }

// AgentStorage stores agents. Methods are safe for concurrent use and durable when they return.
type AgentStorage interface {
	// PutAgent adds an agent, or replaces the one of the same name.
	PutAgent(ctx context.Context, a Agent) error
	// Agents lists all agents by name, including revoked ones.
	Agents(ctx context.Context) ([]Agent, error)
	// DropAgent removes an agent; fault.NotFound if there is none.
	DropAgent(ctx context.Context, name string) error
}
