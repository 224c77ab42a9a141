// Package upload installs agents' programs, uploaded over HTTP by people with the right to change these agents.
package upload

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
	"voltbus/operation/transport"
)

// Processes are the agents installed on this node. by is the person who requests a change.
type Processes interface {
	Logs(name string) (*journal.Journal, error)
	Install(ctx context.Context, req agent.Request) (agent.Status, error)
}

// LogsOf returns the function that finds an agent's log; nil for a node without agents.
func LogsOf(p Processes) func(agent string) (*journal.Journal, error) {
	if p == nil {
		return nil
	}
	return p.Logs
}

// Uploads installs the programs of agents for those who may change them.
type Uploads struct {
	Processes Processes                                                 // nil for a node that runs no agents
	Agents    Agents                                                    // whose grants decide who may change their programs; nil: no role is needed
	Refused   func(r *exchange.Request, needs identity.Role, err error) // is called with refusals, for the audit log
}

// installTime is the longest that an installation may take, including its upload.
const installTime = 30 * time.Minute

// Routes are the routes that accept programs.
func (u *Uploads) Routes() []exchange.Route {
	return []exchange.Route{exchange.Carried(transport.Install, u.install)}
}

// named returns the name of the agent that a request concerns.
func (u *Uploads) named(r *exchange.Request) (string, error) {
	if u.Processes == nil {
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

func (u *Uploads) install(w http.ResponseWriter, r *exchange.Request) error {
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
	st, err := u.Processes.Install(r.Context(), req)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, processes.Shown(&st))
}

// mayInstall reports whether a person may install an agent, or another version of it, with their current rights.
func (u *Uploads) mayInstall(r *exchange.Request, req *agent.Request) error {
	if req.Grant == agent.GrantAll && !r.User.Role.Includes(identity.Administrator) {
		return fault.E("api.install", fault.Refused, "grant", errGrantRole)
	}
	return u.mayShapeNow(r, req.Name)
}

// mayShapeNow is mayShape, and records a refusal in the audit log; the supervisor records the changes.
func (u *Uploads) mayShapeNow(r *exchange.Request, agent string) error {
	err := u.mayShape(r, agent)
	if err != nil {
		u.Refused(r, identity.Administrator, err)
	}
	return err
}

// Agents knows what agents may do.
type Agents interface {
	Agent(name string) (registry.Agent, error)
}

// mayShape reports whether a person may change what an agent does: its code and its configuration.
func (u *Uploads) mayShape(r *exchange.Request, agent string) error {
	if u.Agents == nil {
		return nil
	}
	return access.Shaping(u.Agents)(agent, r.User.Role)
}
