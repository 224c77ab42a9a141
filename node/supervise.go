package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"voltbus/agent"
	"voltbus/agent/claim"
	"voltbus/api/listener"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// openAgents opens the supervisor of the agents installed here, if the node has one.
func openAgents(_ context.Context, n *Node) error {
	if len(n.opts.AgentExec) == 0 || n.opts.Idle {
		return nil
	}
	cfg := n.opts.Config.Agents
	var err error
	n.supervisor, err = agent.Open(agent.Config{
		Data: n.opts.Config.Node.Data, Exec: n.opts.AgentExec, Bus: func() string { return listener.FromHere(n.bus.Addr()) },
		CA:        filepath.Join(n.opts.Config.Node.Data, identity.TLSFolder, "ca.pem"),
		Isolation: agent.Isolation(cfg.Isolation), Users: claim.Range(cfg.Users), Read: cfg.Read, Write: cfg.Write,
		Memory: int64(cfg.Memory), Files: cfg.Files, Processes: cfg.Processes, FileSize: int64(cfg.FileSize), Nice: cfg.Nice, Restart: agent.Restart(cfg.Restart),
		Hang: cfg.RestartSilent, Grace: cfg.Grace,
		LogBytes: int64(cfg.Log.MaxBytes), LogFiles: cfg.Log.Keep, LogLines: cfg.Log.Lines,
		News: func(agent string) {
			_ = n.bus.Notify(agent, wire.NewsStop, nil) // an agent that is not connected gets a signal anyway
		}, Audit: n.report.Process, Log: n.log,
		Install: agent.Installing{Python: cfg.Python, UV: cfg.UV, SDK: func() (string, []byte, error) { return sdk(cfg.SDK, n.opts.SDK) }, Identities: registered{n.agents}, Documents: configured{n.docs}},
	})
	return err
}

// sdk returns the wheel of the Python SDK: the configured one, or the one in the program.
func sdk(file string, builtIn func() (string, []byte, error)) (name string, wheel []byte, err error) {
	if file == "" {
		if builtIn == nil {
			return "", nil, fault.E("node.sdk", fault.Unavailable, "", errors.New("this program has no Python SDK; name its wheel in agents.sdk"))
		}
		if name, wheel, err = builtIn(); err != nil {
			return "", nil, fault.E("node.sdk", fault.Unavailable, "", fmt.Errorf("%w; or name its wheel in agents.sdk", err))
		}
		return name, wheel, nil
	}
	wheel, err = os.ReadFile(file)
	if err != nil {
		return "", nil, fault.E("node.sdk", fault.Invalid, "agents.sdk", fmt.Errorf("read the SDK: %w", err))
	}
	return filepath.Base(file), wheel, nil
}

// heardOf passes an agent's health report to the supervisor.
func heardOf(agents *agent.Supervisor, name string, health []byte) {
	var m struct {
		Interval float64 `json:"interval"`
	}
	if agents != nil && json.Unmarshal(health, &m) == nil {
		agents.Heard(name, time.Duration(m.Interval*float64(time.Second)))
	}
}

// registered implements agent.Identities.
type registered struct{ registry *registry.Agents }

// Grants implements agent.Identities.
func (r registered) Grants(_ context.Context, name string) (identity.Grants, error) {
	a, err := r.registry.Agent(name)
	return a.Grants, err
}

// Admit implements agent.Identities.
func (r registered) Admit(ctx context.Context, name, public string, change func(*identity.Grants) error) (added bool, err error) {
	known, err := r.registry.Agent(name)
	switch {
	case fault.Is(err, fault.NotFound):
		var grants identity.Grants
		if change != nil {
			if err := change(&grants); err != nil {
				return false, err
			}
		}
		_, err = r.registry.Add(ctx, name, public, grants)
		return err == nil, err
	case err == nil && !strings.EqualFold(known.Public, public):
		err = fault.E("node.Admit", fault.Conflict, name, errors.New("is registered with another key; remove it with voltbus agent remove, and install it again"))
	case err == nil && change != nil:
		_, err = r.registry.Regrant(ctx, name, change)
	}
	return false, err
}

// Forget implements agent.Identities.
func (r registered) Forget(ctx context.Context, name string) error {
	return r.registry.Remove(ctx, name)
}

// configured implements agent.Documents.
type configured struct{ docs *document.Store }

func configOf(name string) document.Key { return document.Key{Owner: "agent/" + name, Name: "config"} }

// Bind implements agent.Documents.
func (c configured) Bind(ctx context.Context, name string, schema json.RawMessage) ([]string, error) {
	problems, err := c.docs.SetSchema(ctx, configOf(name), string(schema))
	wrong := make([]string, len(problems))
	for i, p := range problems {
		wrong[i] = p.Path + ": " + p.Text
	}
	return wrong, err
}

// Drop implements agent.Documents.
func (c configured) Drop(ctx context.Context, name, by string) error {
	list, err := c.docs.List(ctx, configOf(name).Owner)
	for i := range list {
		if !list[i].Deleted {
			err = errors.Join(err, c.docs.Delete(ctx, list[i].Key, by, "the agent was removed", document.AnyVersion))
		}
	}
	return err
}
