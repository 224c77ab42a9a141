package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"voltbus/agent"
	"voltbus/agent/journal"
	"voltbus/api/exchange"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
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

// uploads installs the programs of agents, judged by who may shape them.
type uploads struct {
	processes Processes
	agents    Agents // by whose grants it is judged who changes their programs; nil: nobody needs a role for them
	audit     *auditor
}

// installTime is the longest that an installation may take, its upload included.
const installTime = 30 * time.Minute

func (u uploads) routes() []exchange.Route {
	const engineer = identity.Engineer
	const path = exchange.Prefix + "/agents/{name}"
	return []exchange.Route{
		{
			Method: "PUT", Path: path + "/process", Role: engineer, Body: agent.MaxUpload, Serve: u.install,
			Params: []string{"entry", "grant", "memory", "priority"},
		},
		{Method: "POST", Path: path + "/rollback", Role: engineer, Serve: u.rollback},
	}
}

// named returns the name of the agent that a request is about.
func (u uploads) named(r *exchange.Request) (string, error) {
	if u.processes == nil {
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

func (u uploads) install(w http.ResponseWriter, r *exchange.Request) error {
	name, err := u.named(r)
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
	if err := u.mayInstall(r, &req); err != nil {
		return err
	}
	req.May = func() error {
		if err := r.Again(); err != nil {
			return err
		}
		return u.mayInstall(r, &req)
	}
	if r.Header.Get("Content-Type") != "application/gzip" {
		return exchange.Fail(http.StatusUnsupportedMediaType, errGzip)
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(installTime)) // a connection without deadlines has none
	st, err := u.processes.Install(r.Context(), req)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, processes.Shown(&st))
}

// mayInstall reports whether a person may install an agent, or another version of it, as things are now.
func (u uploads) mayInstall(r *exchange.Request, req *agent.Request) error {
	if req.Grant == agent.GrantAll && !r.User.Role.Includes(identity.Administrator) {
		return fault.E("api.install", fault.Refused, "grant", errGrantRole)
	}
	return u.mayShapeNow(r, req.Name)
}

// mayShapeNow is mayShape, and tells the audit log of a refusal; what is done the supervisor tells.
func (u uploads) mayShapeNow(r *exchange.Request, agent string) error {
	err := u.mayShape(r, agent)
	if err != nil {
		u.audit.tellRefusal(r.Request, exchange.Route{Role: identity.Administrator}, r.User, err)
	}
	return err
}

// rollback judges at once, so that a refusal does not wait, and again when it is the agent's turn.
func (u uploads) rollback(w http.ResponseWriter, r *exchange.Request) error {
	name, err := u.named(r)
	if err != nil {
		return err
	}
	if err := u.mayShapeNow(r, name); err != nil {
		return err
	}
	st, err := u.processes.Rollback(r.Context(), name, exchange.ActorOf(r.User), func() error {
		if err := r.Again(); err != nil {
			return err
		}
		return u.mayShapeNow(r, name)
	})
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, processes.Shown(&st))
}

// Agents knows what agents may do.
type Agents interface {
	Agent(name string) (registry.Agent, error)
}

// mayShape reports whether a person may change what an agent does: its code and its configuration.
func (u uploads) mayShape(r *exchange.Request, agent string) error {
	if u.agents == nil || r.User.Role.Includes(identity.Administrator) {
		return nil
	}
	a, err := u.agents.Agent(agent)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	}
	return access.MayShape(agent, &a.Grants, r.User.Role)
}
