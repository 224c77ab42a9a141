package answer

import (
	"time"

	"voltbus/identity"
)

// Agent is a program with its own identity on the bus.
type Agent struct {
	Name    string          `json:"name"`
	Public  string          `json:"public" doc:"The public half of its key"`
	Grants  identity.Grants `json:"grants"`
	Created time.Time       `json:"created"`
	Revoked *time.Time      `json:"revoked,omitempty"` // since when it has been shut out
	Online  *AgentOnline    `json:"online,omitempty" doc:"Left out if it is not connected"`
}

// AgentOnline is an agent's connection.
type AgentOnline struct {
	Since   time.Time `json:"since"`
	Address string    `json:"address"`
	In      Traffic   `json:"in"`  // from the agent, since it connected
	Out     Traffic   `json:"out"` // to it
}

// Agents are the agents by name.
type Agents struct {
	Agents []Agent `json:"agents"`
}
