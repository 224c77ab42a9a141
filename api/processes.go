package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// installTime is the longest that an installation may take, its upload included.
const installTime = 30 * time.Minute

const maxLines = 10_000 // of one answer with logs

func (s *server) processRoutes() []exchange.Route {
	const viewer, engineer = identity.Viewer, identity.Engineer
	const path = exchange.Prefix + "/agents/{name}"
	return []exchange.Route{
		{
			Method: "PUT", Path: path + "/process", Role: engineer, Body: agent.MaxUpload, Serve: s.install,
			Params: []string{"entry", "grant", "memory", "priority"},
		},
		{Method: "POST", Path: path + "/rollback", Role: engineer, Serve: s.rollback},
		{
			Method: "GET", Path: path + "/logs/follow", Role: viewer, Stream: true, Serve: s.followLogs,
			Params: []string{"level", "search", "since", "limit", "node"},
		},
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

// followLogs sends each line as an event, until the reader or the agent goes.
func (s *server) followLogs(w http.ResponseWriter, r *exchange.Request) error {
	if node := r.Params.Get("node"); node != "" && s.cfg.Far != nil && !s.cfg.Far.Self(node) {
		return s.followFar(w, r, node)
	}
	lines, _, err := argumentsOf(s, r, processes.Logs)
	if err != nil {
		return err
	}
	f, err := lines.Filter(s.cfg.Now())
	if err != nil {
		return err
	}
	if s.cfg.Processes == nil {
		return exchange.Absent("installed agents")
	}
	j, err := s.cfg.Processes.Logs(lines.Name)
	if err != nil {
		return err
	}
	release, err := s.reader(r)
	if err != nil {
		return err
	}
	defer release()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies must not collect it
	p := exchange.NewPatient(w, s.cfg.WriteTimeout)
	defer p.Limit() // for what the server writes at the end
	if p.Send([]byte(": connected\n\n")) != nil {
		return nil // the reader has gone, which is how streams end
	}
	err = j.Follow(r.Context(), f, func(e journal.Entry) error {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
		return p.Send(exchange.AppendEvent(nil, "line", line))
	})
	if err != nil || r.Context().Err() != nil {
		return s.lastEvent(p, r, err)
	}
	return nil
}
