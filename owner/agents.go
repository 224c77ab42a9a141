package owner

import (
	"voltbus/agent"
	"voltbus/agent/replicated"
	"voltbus/bus"
)

// Agents are the agents that are installed at all replicas.
type Agents = replicated.Agents

// AgentsConfig is what Agents need besides the bus and the leases.
type AgentsConfig = replicated.Config

// AgentRights returns the rights to agents; nil for a node alone.
func (l *Leases) AgentRights() func(name string) agent.Right {
	if l == nil {
		return nil
	}
	return func(name string) agent.Right { return l.Agent(name) }
}

// Installed returns the agents of a supervisor, which are shared with the other replicas if there are some.
func (l *Leases) Installed(s *agent.Supervisor, b *bus.Bus, cfg AgentsConfig) (*Agents, error) {
	if l == nil {
		return replicated.New(s, AgentsConfig{}), nil
	}
	shared, err := bus.BucketOf(b, "agents", replicated.MaxBytes)
	if err != nil {
		return nil, err
	}
	cfg.Store, cfg.Want = shared, l.Agents
	return replicated.New(s, cfg), nil
}
