package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"voltbus/agent"
	"voltbus/agent/journal"
	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
)

// Processes are the agents that are installed on this node. by says who wants a change.
type Processes interface {
	List() []agent.Status
	Get(name string) (agent.Status, error)
	Isolation() (names []string, whyNot string)
	Logs(name string) (*journal.Journal, error)
	Crash(name, report string) (agent.Crash, error)
	Install(ctx context.Context, req agent.Request) (agent.Status, error)
	Remove(ctx context.Context, what agent.Removal) error
	Start(ctx context.Context, name, by string) (agent.Status, error)
	Stop(ctx context.Context, name, by string) (agent.Status, error)
	Restart(ctx context.Context, name, by string) (agent.Status, error)
	Rollback(ctx context.Context, name, by string, may agent.May) (agent.Status, error)
	Approve(ctx context.Context, name, by string, version int) (agent.Status, error)
	Enable(ctx context.Context, name, by string, a agent.Autostart) (agent.Status, error)
}

// installTime is the longest that an installation may take, its upload included.
const installTime = 30 * time.Minute

const maxLines = 10_000 // of one answer with logs

func processRoutes() []route {
	const viewer, operator, engineer = identity.Viewer, identity.Operator, identity.Engineer
	const path = prefix + "/agents/{name}"
	do := func(action string, role identity.Role) route {
		remote := ""
		if action != "rollback" && action != "approve" {
			remote = "agent." + action
		}
		var params []string
		if action == "approve" {
			params = []string{"version"}
		}
		return route{method: "POST", path: path + "/" + action, role: role, remote: remote, params: params, serve: func(s *server, w http.ResponseWriter, r *request) error {
			return s.operate(w, r, action)
		}}
	}
	return []route{
		{method: "GET", path: prefix + "/processes", role: viewer, remote: "agent.list", serve: (*server).processes},
		{method: "GET", path: path + "/process", role: viewer, remote: "agent.show", serve: (*server).process},
		{
			method: "PUT", path: path + "/process", role: engineer, body: agent.MaxUpload, serve: (*server).install,
			params: []string{"entry", "grant", "memory", "priority"},
		},
		{method: "DELETE", path: path + "/process", role: engineer, serve: (*server).uninstall, params: []string{"keep_config"}},
		do("start", operator), do("stop", operator), do("restart", operator),
		do("enable", engineer), do("disable", engineer), do("rollback", engineer),
		do("approve", identity.Administrator),
		{
			method: "GET", path: path + "/logs", role: viewer, remote: "agent.logs", serve: (*server).logs,
			params: []string{"level", "search", "since", "limit"},
		},
		{
			method: "GET", path: path + "/logs/follow", role: viewer, stream: true, serve: (*server).followLogs,
			params: []string{"level", "search", "since", "limit", "node"},
		},
		{method: "GET", path: path + "/crashes/{report}", role: viewer, serve: (*server).crash},
	}
}

func (s *server) processes(w http.ResponseWriter, r *request) error {
	if s.cfg.Processes == nil {
		return absent("installed agents")
	}
	list := s.cfg.Processes.List()
	out := answer.Processes{Processes: make([]answer.Process, len(list))}
	all := s.concerns(r.Context())
	for i := range list {
		out.Processes[i] = process(&list[i])
		out.Processes[i].Concern = concernOf(all, "agents", list[i].Name)
	}
	out.Isolation, out.WhyNot = s.cfg.Processes.Isolation()
	return writeJSON(w, out)
}

func process(st *agent.Status) answer.Process {
	p := answer.Process{
		Name: st.Name, State: string(st.State), Since: st.Since, Text: st.Text, Version: st.Version, Release: st.Program.Release,
		Title: st.Program.Title, Installed: st.Installed, Previous: append([]int{}, st.Previous...), Priority: st.Priority,
		Autostart: string(st.Autostart), PID: st.Process.PID, Failures: st.Failures, Next: st.Next,
		Memory: st.Usage.Memory, CPU: st.Usage.CPU, Processes: st.Usage.Processes, Limit: st.Memory,
		Isolation: st.Isolated, Crashes: append([]string{}, st.Crashes...), Wants: st.Program.Wants,
	}
	if st.Last != nil {
		end := endOf(st.Last)
		p.LastEnd = &end
	}
	return p
}

func endOf(e *agent.End) answer.ProcessEnd {
	return answer.ProcessEnd{At: e.At.UTC(), Reason: e.Reason, Text: e.Text, Code: e.Code, Signal: e.Signal, Uptime: e.Uptime.Seconds()}
}

// named returns the name of the agent that a request is about.
func (s *server) named(r *request) (string, error) {
	if s.cfg.Processes == nil {
		return "", absent("installed agents")
	}
	in := s.read(r)
	name := in.segment("name")
	return name, in.err
}

func (s *server) process(w http.ResponseWriter, r *request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	st, err := s.cfg.Processes.Get(name)
	if err != nil {
		return err
	}
	p := process(&st)
	p.Concern = concernOf(s.concerns(r.Context()), "agents", name)
	p.Schema, p.Methods = st.Program.Schema, st.Program.Methods
	return writeJSON(w, p)
}

var (
	errGzip       = errors.New("the body must be a compressed tar; set Content-Type: application/gzip")
	errGrantWords = errors.New("must be all, none or refuse")
	errGrantRole  = errors.New("only an administrator grants; install with grant=none, and let an administrator grant what it wants")
)

func (s *server) install(w http.ResponseWriter, r *request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	in := s.read(r)
	req := agent.Request{Name: name, By: ActorOf(r.user), Upload: r.Body, Grant: agent.GrantRefuse}
	req.Entry, _ = in.text("entry")
	if grant, ok := in.text("grant"); ok {
		req.Grant = grant
	}
	switch req.Grant {
	case agent.GrantAll, agent.GrantNone, agent.GrantRefuse:
	default:
		in.fail("grant", errGrantWords)
	}
	req.Memory = int64(in.number("memory", 0, 0, 1<<40))
	req.Priority = in.number("priority", -1, 0, agent.MaxPriority)
	if in.err != nil {
		return in.err
	}
	if err := s.mayInstall(r, &req); err != nil {
		return err
	}
	req.May = func() error {
		if err := r.again(); err != nil {
			return err
		}
		return s.mayInstall(r, &req)
	}
	if r.Header.Get("Content-Type") != "application/gzip" {
		return &statusError{http.StatusUnsupportedMediaType, errGzip}
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(installTime)) // a connection without deadlines has none
	st, err := s.cfg.Processes.Install(r.Context(), req)
	if err != nil {
		return err
	}
	return writeJSON(w, process(&st))
}

// mayInstall reports whether a person may install an agent, or another version of it, as things are now.
func (s *server) mayInstall(r *request, req *agent.Request) error {
	if req.Grant == agent.GrantAll && !r.user.Role.Includes(identity.Administrator) {
		return fault.E("api.install", fault.Refused, "grant", errGrantRole)
	}
	return s.mayShapeNow(r, req.Name)
}

// mayShapeNow is mayShape, and tells the audit log of a refusal; what is done the supervisor tells.
func (s *server) mayShapeNow(r *request, agent string) error {
	err := s.mayShape(r, agent)
	if err != nil {
		s.tellRefusal(r.Request, route{role: identity.Administrator}, r.user, err)
	}
	return err
}

func (s *server) uninstall(w http.ResponseWriter, r *request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	in := s.read(r)
	keep := in.truth("keep_config")
	if in.err != nil {
		return in.err
	}
	if err := s.cfg.Processes.Remove(r.Context(), agent.Removal{Name: name, KeepConfig: keep, By: ActorOf(r.user)}); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// operate does one of the actions on an agent.
func (s *server) operate(w http.ResponseWriter, r *request, action string) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	ctx, by, p := r.Context(), ActorOf(r.user), s.cfg.Processes
	var st agent.Status
	switch action {
	case "start":
		st, err = p.Start(ctx, name, by)
	case "stop":
		st, err = p.Stop(ctx, name, by)
	case "restart":
		st, err = p.Restart(ctx, name, by)
	case "enable":
		st, err = p.Enable(ctx, name, by, agent.Enabled)
	case "disable":
		st, err = p.Enable(ctx, name, by, agent.Disabled)
	case "rollback":
		st, err = s.rollback(r, name)
	case "approve":
		in := s.read(r)
		version := in.number("version", 0, 1, 1<<31-1)
		if in.err != nil {
			return in.err
		}
		st, err = p.Approve(ctx, name, by, version)
	}
	if err != nil {
		return err
	}
	return writeJSON(w, process(&st))
}

// rollback judges at once, so that a refusal does not wait, and again when it is the agent's turn.
func (s *server) rollback(r *request, name string) (agent.Status, error) {
	if err := s.mayShapeNow(r, name); err != nil {
		return agent.Status{}, err
	}
	return s.cfg.Processes.Rollback(r.Context(), name, ActorOf(r.user), func() error {
		if err := r.again(); err != nil {
			return err
		}
		return s.mayShapeNow(r, name)
	})
}

// lines reads what of a journal is asked for.
func (s *server) lines(r *request) (*journal.Journal, journal.Filter, error) {
	name, err := s.named(r)
	if err != nil {
		return nil, journal.Filter{}, err
	}
	in := s.read(r)
	var f journal.Filter
	f.Level, _ = in.text("level")
	if _, known := journal.Level(f.Level); f.Level != "" && !known {
		in.fail("level", errors.New("must be debug, info, warning, error or critical"))
	}
	f.Text, _ = in.text("search")
	if since, ok := in.text("since"); ok && since != "" {
		f.Since = in.time("since")
	}
	f.Limit = in.number("limit", 0, 1, maxLines)
	if in.err != nil {
		return nil, f, in.err
	}
	j, err := s.cfg.Processes.Logs(name)
	return j, f, err
}

func (s *server) logs(w http.ResponseWriter, r *request) error {
	j, f, err := s.lines(r)
	if err != nil {
		return err
	}
	found, err := j.Search(f)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.ProcessLog{Entries: shownLines(found)})
}

func shownLines(entries []journal.Entry) []answer.ProcessLine {
	out := make([]answer.ProcessLine, len(entries))
	for i, e := range entries {
		out[i] = answer.ProcessLine(e)
	}
	return out
}

// followLogs sends each line as an event, until the reader or the agent goes.
func (s *server) followLogs(w http.ResponseWriter, r *request) error {
	if node := r.params.Get("node"); node != "" && s.cfg.Far != nil && !s.cfg.Far.Self(node) {
		return s.followFar(w, r, node)
	}
	j, f, err := s.lines(r)
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
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	if p.send([]byte(": connected\n\n")) != nil {
		return nil // the reader has gone, which is how streams end
	}
	err = j.Follow(r.Context(), f, func(e journal.Entry) error {
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("write a line: %w", err)
		}
		return p.send(appendEvent(nil, "line", line))
	})
	if err != nil || r.Context().Err() != nil {
		return s.lastEvent(p, r, err)
	}
	return nil
}

func (s *server) crash(w http.ResponseWriter, r *request) error {
	name, err := s.named(r)
	if err != nil {
		return err
	}
	in := s.read(r)
	report := in.segment("report")
	if in.err != nil {
		return in.err
	}
	c, err := s.cfg.Processes.Crash(name, report)
	if err != nil {
		return err
	}
	return writeJSON(w, answer.ProcessCrash{
		ProcessEnd: endOf(&c.End), Agent: c.Agent, Version: c.Version, Limit: c.Memory, MaxMemory: c.Usage.MaxMemory, Lines: shownLines(c.Lines),
	})
}
