// Package processes declares and carries out the operations on the agents installed on a node.
package processes

import (
	"context"
	"errors"
	"time"

	"voltbus/agent"
	"voltbus/agent/journal"
	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/query"
)

// Supervisor runs the installed agents, as agent.Supervisor does. by is the actor, for the audit log.
type Supervisor interface {
	List() []agent.Status
	Get(name string) (agent.Status, error)
	Isolation() (names []string, whyNot string)
	Logs(name string) (*journal.Journal, error)
	Crash(name, report string) (agent.Crash, error)
	Remove(ctx context.Context, what agent.Removal) error
	Start(ctx context.Context, name, by string) (agent.Status, error)
	Stop(ctx context.Context, name, by string) (agent.Status, error)
	Restart(ctx context.Context, name, by string) (agent.Status, error)
	Approve(ctx context.Context, name, by string, version int) (agent.Status, error)
	Enable(ctx context.Context, name, by string, a agent.Autostart) (agent.Status, error)
	Rollback(ctx context.Context, name, by string, may agent.May) (agent.Status, error)
}

// The arguments.
type (
	// Nothing is the arguments of operations without any.
	Nothing struct{}
	// Agent names an agent.
	Agent struct {
		Name string `json:"name" api:"required,query,max=64"`
	}
	// Approval names the version of an agent whose requested rights were reviewed.
	Approval struct {
		Agent
		Version int `json:"version" api:"query,min=1" doc:"The version whose wants were seen; 409 if another one was installed meanwhile"`
	}
	// Removal names the agent to remove.
	Removal struct {
		Agent
		KeepConfig bool `json:"keep_config" doc:"Leave its documents; the versions of deleted ones stay in any case"`
	}
	// Lines selects lines that an agent printed.
	Lines struct {
		Agent
		Level  string         `json:"level" doc:"The least important level: debug, info, warning, error or critical"`
		Search string         `json:"search" doc:"Text in the message, the logger or the extra fields, without regard to case"`
		Since  operation.Time `json:"since" doc:"First time, such as now-1h"`
		Limit  int            `json:"limit" api:"min=1,max=10000,default=200" doc:"The newest that many"`
	}
	// Report names the report of a crash.
	Report struct {
		Agent
		Report string `json:"report" api:"required"`
	}
)

func declare[In any](id, verb, http string, role identity.Role, s operation.Spec) operation.Operation[In, answer.Process] {
	s.Name, s.ID, s.HTTP, s.Role, s.Result = "agent."+verb, id, http, role, "The agent"
	if verb != "rollback" {
		s.Owner = operation.AgentNamed
	}
	return operation.Declare[In, answer.Process](s)
}

// The operations.
var (
	List = operation.Declare[Nothing, answer.Processes](operation.Spec{
		Name: "agent.list", ID: "listProcesses", HTTP: "GET /processes", Role: identity.Viewer, Remote: true,
		Summary: "List the agents that are installed on this node", Result: "By name",
	})
	Show = declare[Agent]("getProcess", "show", "GET /agents/{name}/process", identity.Viewer, operation.Spec{
		Remote: true, Summary: "Tell how an installed agent is",
	})
	Start = declare[Agent]("startProcess", "start", "POST /agents/{name}/start", identity.Operator, operation.Spec{
		Remote: true, Summary: "Start an agent",
	})
	Stop = declare[Agent]("stopProcess", "stop", "POST /agents/{name}/stop", identity.Operator, operation.Spec{
		Remote: true, Summary: "End an agent until it is started again",
	})
	Restart = declare[Agent]("restartProcess", "restart", "POST /agents/{name}/restart", identity.Operator, operation.Spec{
		Remote: true, Summary: "End an agent and start it again",
	})
	Enable = declare[Agent]("enableProcess", "enable", "POST /agents/{name}/enable", identity.Engineer, operation.Spec{
		Remote: true, Summary: "Start an agent whenever the node starts",
	})
	Disable = declare[Agent]("disableProcess", "disable", "POST /agents/{name}/disable", identity.Engineer, operation.Spec{
		Remote: true, Summary: "Do not start an agent when the node starts",
	})
	Approve = declare[Approval]("approveProcess", "approve", "POST /agents/{name}/approve", identity.Administrator, operation.Spec{
		Summary: "Allow an agent all that it wants",
	})
	Rollback = declare[Agent]("rollbackProcess", "rollback", "POST /agents/{name}/rollback", identity.Engineer, operation.Spec{
		Audited: true, Summary: "Run the version before the newest again",
		Doc: "Who changes the program of an agent acts with its grants: it needs the role that its commands need.",
	})
	Remove = operation.Declare[Removal, operation.None](operation.Spec{
		Name: "agent.uninstall", ID: "removeProcess", HTTP: "DELETE /agents/{name}/process", Role: identity.Engineer,
		Summary: "End an agent and remove it, with its identity and its documents",
	})
	Logs = operation.Declare[Lines, answer.ProcessLog](operation.Spec{
		Owner: operation.AgentNamed, Name: "agent.logs", ID: "getProcessLogs", HTTP: "GET /agents/{name}/logs", Role: identity.Viewer, Remote: true,
		Summary: "Read what an agent printed", Result: "Oldest first",
	})
	Crash = operation.Declare[Report, answer.ProcessCrash](operation.Spec{
		Owner: operation.AgentNamed, Name: "agent.crash", ID: "getProcessCrash", HTTP: "GET /agents/{name}/crashes/{report}", Role: identity.Viewer,
		Summary: "Read the report of an end that nobody wanted", Result: "The report",
	})
)

// Part carries out the operations on installed agents.
type Part struct {
	// Supervisor returns the supervisor of the agents; nil if there is none, or none yet.
	Supervisor func() Supervisor
	// MayShape returns why people with a role may not change an agent's behaviour; a nil function permits all.
	MayShape func(agent string, role identity.Role) error
	// Concerns returns what is wrong at the node.
	Concerns func(context.Context) []answer.Concern
	Now      func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{
		operation.Bind(List, there[Nothing](p), p.list),
		operation.Bind(Show, there[Agent](p), p.show),
		operation.Bind(Start, there[Agent](p), p.does(Supervisor.Start)),
		operation.Bind(Stop, there[Agent](p), p.does(Supervisor.Stop)),
		operation.Bind(Restart, there[Agent](p), p.does(Supervisor.Restart)),
		operation.Bind(Enable, there[Agent](p), p.does(enable(agent.Enabled))),
		operation.Bind(Disable, there[Agent](p), p.does(enable(agent.Disabled))),
		operation.Bind(Approve, there[Approval](p), p.approve),
		operation.Bind(Rollback, p.mayShape, p.rollback),
		operation.Bind(Remove, there[Removal](p), p.remove),
		operation.Bind(Logs, there[Lines](p), p.logs),
		operation.Bind(Crash, there[Report](p), p.crash),
	}
}

var errLevel = errors.New("must be debug, info, warning, error or critical")

var errAbsent = errors.New("this node does not have it; ask a node with that role")

// there refuses requests to a node that runs no agents.
func there[In any](p *Part) operation.Judge[In] {
	return func(context.Context, *operation.Call, *In) error {
		if p.Supervisor == nil || p.Supervisor() == nil {
			return fault.E("processes", fault.Unavailable, "installed agents", errAbsent)
		}
		return nil
	}
}

func (p *Part) list(ctx context.Context, _ *operation.Call, _ *Nothing) (answer.Processes, error) {
	list := p.Supervisor().List()
	out := answer.Processes{Processes: make([]answer.Process, len(list))}
	all := p.Concerns(ctx)
	for i := range list {
		out.Processes[i] = Shown(&list[i])
		out.Processes[i].Concern = concernOf(all, list[i].Name)
	}
	out.Isolation, out.WhyNot = p.Supervisor().Isolation()
	return out, nil
}

func (p *Part) show(ctx context.Context, _ *operation.Call, in *Agent) (answer.Process, error) {
	st, err := p.Supervisor().Get(in.Name)
	if err != nil {
		return answer.Process{}, err
	}
	out := Shown(&st)
	out.Concern = concernOf(p.Concerns(ctx), in.Name)
	out.Schema, out.Methods = st.Program.Schema, st.Program.Methods
	return out, nil
}

type action func(s Supervisor, ctx context.Context, name, by string) (agent.Status, error)

func enable(a agent.Autostart) action {
	return func(s Supervisor, ctx context.Context, name, by string) (agent.Status, error) {
		return s.Enable(ctx, name, by, a)
	}
}

// does returns the handler of an action.
func (p *Part) does(what action) operation.Handler[Agent, answer.Process] {
	return func(ctx context.Context, c *operation.Call, in *Agent) (answer.Process, error) {
		return shownOr(what(p.Supervisor(), ctx, in.Name, c.Name))
	}
}

func (p *Part) approve(ctx context.Context, c *operation.Call, in *Approval) (answer.Process, error) {
	return shownOr(p.Supervisor().Approve(ctx, in.Name, c.Name, in.Version))
}

// mayShape refuses at once, so that callers without the right do not wait for the agent's turn.
func (p *Part) mayShape(ctx context.Context, c *operation.Call, in *Agent) error {
	c.Did(in.Name, nil)
	if err := there[Agent](p)(ctx, c, in); err != nil || p.MayShape == nil {
		return err
	}
	return p.MayShape(in.Name, c.Role)
}

// rollback checks again when it is the agent's turn. The supervisor records the change.
func (p *Part) rollback(ctx context.Context, c *operation.Call, in *Agent) (answer.Process, error) {
	st, err := p.Supervisor().Rollback(ctx, in.Name, c.Name, func() error {
		if err := c.Login.Still(); err != nil {
			return err
		}
		return p.mayShape(ctx, c, in)
	})
	if !fault.Is(err, fault.Refused) {
		c.MarkAudited()
	}
	return shownOr(st, err)
}

func shownOr(st agent.Status, err error) (answer.Process, error) {
	if err != nil {
		return answer.Process{}, err
	}
	return Shown(&st), nil
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Removal) (operation.None, error) {
	return operation.None{}, p.Supervisor().Remove(ctx, agent.Removal{Name: in.Name, KeepConfig: in.KeepConfig, By: c.Name})
}

func (p *Part) logs(_ context.Context, _ *operation.Call, in *Lines) (answer.ProcessLog, error) {
	f, err := in.Filter(p.Now())
	if err != nil {
		return answer.ProcessLog{}, err
	}
	j, err := p.Supervisor().Logs(in.Name)
	if err != nil {
		return answer.ProcessLog{}, err
	}
	found, err := j.Search(f)
	return answer.ProcessLog{Entries: shownLines(found)}, err
}

// Filter returns the requested filter of a journal's lines.
func (l *Lines) Filter(now time.Time) (journal.Filter, error) {
	f := journal.Filter{Level: l.Level, Text: l.Search, Limit: l.Limit}
	if _, known := journal.Level(l.Level); l.Level != "" && !known {
		return f, fault.E("agent.logs", fault.Invalid, "level", errLevel)
	}
	if l.Since == "" {
		return f, nil
	}
	var err error
	if f.Since, err = query.ParseTime(string(l.Since), now); err != nil {
		return f, fault.E("agent.logs", fault.Invalid, "since", err)
	}
	return f, nil
}

func (p *Part) crash(_ context.Context, _ *operation.Call, in *Report) (answer.ProcessCrash, error) {
	c, err := p.Supervisor().Crash(in.Name, in.Report)
	if err != nil {
		return answer.ProcessCrash{}, err
	}
	return answer.ProcessCrash{
		ProcessEnd: endOf(&c.End), Agent: c.Agent, Version: c.Version, Limit: c.Memory, MaxMemory: c.Usage.MaxMemory, Lines: shownLines(c.Lines),
	}, nil
}

// Shown returns the state of an agent as callers see it.
func Shown(st *agent.Status) answer.Process {
	p := answer.Process{
		Name: st.Name, State: string(st.State), Owner: st.Owner, Since: st.Since, Text: st.Text, Version: st.Version, Release: st.Program.Release,
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

func shownLines(entries []journal.Entry) []answer.ProcessLine {
	out := make([]answer.ProcessLine, len(entries))
	for i, e := range entries {
		out[i] = answer.ProcessLine(e)
	}
	return out
}

// concernOf returns what is wrong with an agent; "" for nothing.
func concernOf(all []answer.Concern, name string) string {
	for i := range all {
		if all[i].Part == "agents" && all[i].Subject == name {
			return all[i].Sentence
		}
	}
	return ""
}
