package service

import (
	"context"
	"errors"
	"sync"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/presence"
)

// hello are the arguments of the method.
type hello struct {
	SDK     string `json:"sdk"`
	PID     int    `json:"pid"`
	Host    string `json:"host"`
	Version string `json:"version"`
}

// maxFact bounds each string that an agent reports about itself.
const maxFact = 200

var errFact = errors.New("sdk, host and version have at most 200 bytes each")

// clients holds what agents reported about themselves when they connected.
type clients struct {
	mu   sync.Mutex
	list map[string]answer.AgentClient
}

func (c *clients) set(name string, is answer.AgentClient) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list[name] = is
}

func (c *clients) get(name string) answer.AgentClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.list[name]
}

func (c *clients) drop(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.list, name)
}

// Forget removes a deleted agent with its open alerts.
func (s *Service) Forget(name string) {
	s.clients.drop(name)
	s.cfg.Presence.Leave(name)
}

// hello tells an agent its name and rights.
func (s *Service) hello(_ context.Context, r *request) ([]byte, error) {
	var in hello
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if len(in.SDK) > maxFact || len(in.Host) > maxFact || len(in.Version) > maxFact {
		return nil, fault.E("service.hello", fault.Invalid, r.agent.Name, errFact)
	}
	standing, err := s.cfg.Registry.Permissions(r.agent.Name)
	if err != nil {
		return nil, err
	}
	s.clients.set(r.agent.Name, answer.AgentClient(in))
	s.cfg.Presence.Forget(r.agent.Name)
	return encode(answer.Hello{Node: s.cfg.Node, Name: r.agent.Name, Time: s.cfg.Now().UTC(), Standing: standing})
}

func (s *Service) standing(_ context.Context, r *request) ([]byte, error) {
	if err := r.decode(&none{}); err != nil {
		return nil, err
	}
	standing, err := s.cfg.Registry.Permissions(r.agent.Name)
	if err != nil {
		return nil, err
	}
	return encode(standing)
}

// peers lists the agents.
func (s *Service) peers(_ context.Context, r *request) ([]byte, error) {
	if err := r.decode(&none{}); err != nil {
		return nil, err
	}
	list, err := s.Peers()
	if err != nil {
		return nil, err
	}
	return encode(list)
}

// Peers lists the agents that may connect, by name, with their health.
func (s *Service) Peers() ([]answer.Peer, error) {
	conns, err := s.cfg.Bus.Connections()
	if err != nil {
		return nil, err
	}
	on := make(map[string]Connection, len(conns))
	for _, c := range conns {
		if first, twice := on[c.Agent]; !twice || c.Since.Before(first.Since) {
			on[c.Agent] = c
		}
	}
	list := []answer.Peer{}
	for _, a := range s.cfg.Registry.List() {
		if !a.Active() {
			continue
		}
		c, online := on[a.Name]
		h := s.cfg.Presence.Look(a.Name, c.Since)
		is := s.clients.get(a.Name)
		p := answer.Peer{Name: a.Name, Online: online, Status: string(h.Status), Version: is.Version, SDK: is.SDK, Host: is.Host}
		if online {
			p.Since = &c.Since
		}
		if h.Status != presence.Offline {
			p.Context = h.Context
		}
		list = append(list, p)
	}
	return list, nil
}

// refused are the arguments of the method.
type refused struct {
	Method  string `json:"method"`
	From    string `json:"from"`
	Missing string `json:"missing"`
	Args    raw    `json:"args"`
}

var errRefused = errors.New("needs method, from and missing, each of at most 200 bytes, and args of at most 4096")

// refused receives the report of a refusal.
func (s *Service) refused(_ context.Context, r *request) ([]byte, error) {
	var in refused
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	for _, text := range []string{in.Method, in.From, in.Missing} {
		if text == "" || len(text) > maxFact || len(in.Args) > 4096 {
			return nil, fault.E("service.refused", fault.Invalid, "refused", errRefused)
		}
	}
	if s.cfg.Refused != nil {
		s.cfg.Refused(Refusal{Callee: r.agent.Name, Caller: in.From, Method: in.Method, Missing: in.Missing, Args: in.Args})
	}
	return []byte("null"), nil
}
