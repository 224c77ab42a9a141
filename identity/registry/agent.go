package registry

import (
	"context"
	"time"

	"voltbus/identity"
)

// Agent is a program with an identity of its own on the bus. Values are not changed after they
// were handed over.
type Agent struct {
	Name    string          `json:"name"`
	Public  string          `json:"public"` // nkey, such as "UABC…"; the private half stays with the agent
	Grants  identity.Grants `json:"grants"`
	Created time.Time       `json:"created"`
	Revoked time.Time       `json:"revoked,omitzero"` // zero: it may connect
}

// Active reports whether the agent may connect.
func (a *Agent) Active() bool { return a.Revoked.IsZero() }

// AgentStorage is where agents are kept. Methods are safe for concurrent use and durable when they
// return.
type AgentStorage interface {
	// PutAgent adds an agent, or replaces the one of the name.
	PutAgent(ctx context.Context, a Agent) error
	// Agents lists all agents by name, the revoked ones too.
	Agents(ctx context.Context) ([]Agent, error)
	// DropAgent removes an agent; fault.NotFound if there is none.
	DropAgent(ctx context.Context, name string) error
}
