package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"voltbus/agent"
	"voltbus/agent/installed"
	"voltbus/api/listener"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/owner"
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
		Isolation: agent.Isolation(cfg.Isolation), Users: agent.UserRange(cfg.Users), Read: cfg.Read, Write: cfg.Write,
		Memory: int64(cfg.Memory), Files: cfg.Files, Processes: cfg.Processes, FileSize: int64(cfg.FileSize), Nice: cfg.Nice, Restart: agent.Restart(cfg.Restart),
		Hang: cfg.RestartSilent, Grace: cfg.Grace,
		LogBytes: int64(cfg.Log.MaxBytes), LogFiles: cfg.Log.Keep, LogLines: cfg.Log.Lines,
		News: func(agent string) {
			_ = n.bus.Notify(agent, wire.NewsStop, nil) // an agent that is not connected gets a signal anyway
		}, Audit: n.report.Process, Log: n.log,
		Right:   n.leases.AgentRights(),
		Install: agent.Installing{Python: cfg.Python, UV: cfg.UV, SDK: func() (string, []byte, error) { return sdk(cfg.SDK, n.opts.SDK) }, Identities: installed.Identities{Registry: n.agents}, Documents: installed.Documents{Store: n.docs}},
	})
	if err != nil {
		return err
	}
	n.installed, err = n.leases.Installed(n.supervisor, n.bus, owner.AgentsConfig{
		Data: n.opts.Config.Node.Data, Identities: installed.Identities{Registry: n.agents}, Documents: installed.Documents{Store: n.docs}, Log: n.log,
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
