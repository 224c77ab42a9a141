package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"voltbus/api/exchange"

	"voltbus/agent"
	"voltbus/agent/journal"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/processes"
)

// Processes are the agents that are installed on this node. by says who wants a change.
type Processes interface {
	Logs(name string) (*journal.Journal, error)
	Install(ctx context.Context, req agent.Request) (agent.Status, error)
	Rollback(ctx context.Context, name, by string, may agent.May) (agent.Status, error)
}

// logsOf returns where the lines of agents are; nil for a node without any.
func logsOf(p Processes) func(agent string) (*journal.Journal, error) {
	if p == nil {
		return nil
	}
	return p.Logs
}

// installTime is the longest that an installation may take, its upload included.
const installTime = 30 * time.Minute

func (s *server) processRoutes() []exchange.Route {
	const engineer = identity.Engineer
	const path = exchange.Prefix + "/agents/{name}"
	return []exchange.Route{
		{
			Method: "PUT", Path: path + "/process", Role: engineer, Body: agent.MaxUpload, Serve: s.install,
			Params: []string{"entry", "grant", "memory", "priority"},
		},
		{Method: "POST", Path: path + "/rollback", Role: engineer, Serve: s.rollback},
	}
}

// named returns the name of the agent that a request is about.
func (s *server) named(r *exchange.Request) (string, error) {
	if s.cfg.Processes == nil {
		return "", exchange.Absent("installed agents")
	}
	in := exchange.Read(r)
	name := in.Segment("name")
	return name, in.Err
}

var (
	errGzip       = errors.New("the body must be a compressed tar; set Content-Type: application/gzip")
	errGrantWords = errors.New("must be all, none or refuse")
	errGrantRole  = errors.New("only an administrator grants; install with grant=none, and let an administrator grant what it wants")
)

func (s *server) install(w http.ResponseWriter, r *exchange.Request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	in := exchange.Read(r)
	req := agent.Request{Name: name, By: exchange.ActorOf(r.User), Upload: r.Body, Grant: agent.GrantRefuse}
	req.Entry, _ = in.Text("entry")
	if grant, ok := in.Text("grant"); ok {
		req.Grant = grant
	}
	switch req.Grant {
	case agent.GrantAll, agent.GrantNone, agent.GrantRefuse:
	default:
		in.Fail("grant", errGrantWords)
	}
	req.Memory = int64(in.Number("memory", 0, 0, 1<<40))
	req.Priority = in.Number("priority", -1, 0, agent.MaxPriority)
	if in.Err != nil {
		return in.Err
	}
	if err := s.mayInstall(r, &req); err != nil {
		return err
	}
	req.May = func() error {
		if err := r.Again(); err != nil {
			return err
		}
		return s.mayInstall(r, &req)
	}
	if r.Header.Get("Content-Type") != "application/gzip" {
		return exchange.Fail(http.StatusUnsupportedMediaType, errGzip)
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(installTime)) // a connection without deadlines has none
	st, err := s.cfg.Processes.Install(r.Context(), req)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, processes.Shown(&st))
}

// mayInstall reports whether a person may install an agent, or another version of it, as things are now.
func (s *server) mayInstall(r *exchange.Request, req *agent.Request) error {
	if req.Grant == agent.GrantAll && !r.User.Role.Includes(identity.Administrator) {
		return fault.E("api.install", fault.Refused, "grant", errGrantRole)
	}
	return s.mayShapeNow(r, req.Name)
}

// mayShapeNow is mayShape, and tells the audit log of a refusal; what is done the supervisor tells.
func (s *server) mayShapeNow(r *exchange.Request, agent string) error {
	err := s.mayShape(r, agent)
	if err != nil {
		s.tellRefusal(r.Request, exchange.Route{Role: identity.Administrator}, r.User, err)
	}
	return err
}

// rollback judges at once, so that a refusal does not wait, and again when it is the agent's turn.
func (s *server) rollback(w http.ResponseWriter, r *exchange.Request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	if err := s.mayShapeNow(r, name); err != nil {
		return err
	}
	st, err := s.cfg.Processes.Rollback(r.Context(), name, exchange.ActorOf(r.User), func() error {
		if err := r.Again(); err != nil {
			return err
		}
		return s.mayShapeNow(r, name)
	})
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, processes.Shown(&st))
}
