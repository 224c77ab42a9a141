package api_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"voltbus/agent"
	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/operation"
	"voltbus/operation/processes"
)

// supervisor is one that does not run.
func supervisor(t *testing.T) *agent.Supervisor {
	t.Helper()
	s, err := agent.Open(agent.Config{Data: t.TempDir(), Isolation: agent.Off, Restart: agent.Always, Log: slog.New(slog.DiscardHandler)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// withAgents gives a node a supervisor that does not run.
func withAgents(t *testing.T) func(*api.Config) {
	t.Helper()
	s := supervisor(t)
	return func(c *api.Config) {
		c.Processes = s
		c.Operations = tableOf(c, agentsOf(s))
	}
}

// agentsOf are the operations on installed agents; nil for a node without any.
func agentsOf(s processes.Supervisor) []operation.Bound {
	part := &processes.Part{
		Supervisor: func() processes.Supervisor { return s }, Concerns: func(context.Context) []answer.Concern { return nil }, Now: noon,
	}
	return part.Operations()
}

func TestAgentsThatAreInstalledAreListed(t *testing.T) {
	n := start(t, withAgents(t))
	got := n.get("/api/v1/processes")
	if got.StatusCode != 200 || !strings.Contains(got.body, `"processes":[]`) || !strings.Contains(got.body, "agents.isolation is off") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}

func TestWrongRequestsAboutAgentsSayWhatToDo(t *testing.T) {
	n := start(t, withAgents(t))
	tests := []struct {
		name, method, path string
		status             int
		want               string
	}{
		{"an agent that is not there", "GET", "/agents/absent/process", 404, "voltbus agent list"},
		{"a start of one that is not there", "POST", "/agents/absent/start", 404, "voltbus agent list"},
		{"an approval of one that is not there", "POST", "/agents/absent/approve", 404, "voltbus agent list"},
		{"logs of one that is not there", "GET", "/agents/absent/logs", 404, "voltbus agent list"},
		{"an unknown level", "GET", "/agents/a/logs?level=loud", 400, "debug, info"},
		{"too many lines", "GET", "/agents/a/logs?limit=10001", 400, "from 1 to 10000"},
		{"an installation without a tar", "PUT", "/agents/a/process", 415, "application/gzip"},
		{"an unknown way to grant", "PUT", "/agents/a/process?grant=some", 400, "all, none or refuse"},
		{"a priority that is none", "PUT", "/agents/a/process?priority=100", 400, "from 0 to 99"},
		{"a report that is a path", "GET", "/agents/a/crashes/..%2Fagent.json", 404, "voltbus agent list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := n.do(tt.method, "/api/v1"+tt.path, "", n.bearer())
			if got.StatusCode != tt.status || !strings.Contains(got.problem(t).Detail, tt.want) {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		})
	}
	got := n.do("PUT", "/api/v1/agents/a/process", "x", n.bearer(), header("Content-Type", "application/gzip"))
	if got.StatusCode != 503 || !strings.Contains(got.problem(t).Detail, "voltbus run") {
		t.Errorf("where nothing runs: %d %s", got.StatusCode, got.body)
	}
}

func TestOnlyAdministratorsGrantWhileTheyInstall(t *testing.T) {
	n := start(t, withAgents(t))
	n.put("people/ada", `{"role":"engineer","password":"`+password+`"}`)
	_, ada := n.enter("ada", password)
	got := n.do("PUT", "/api/v1/agents/a/process?grant=all", "x", ada, header("Content-Type", "application/gzip"), header("Origin", n.url))
	if got.StatusCode != 403 {
		t.Errorf("grant=all gives %d %s", got.StatusCode, got.body)
	}
	if got := n.do("POST", "/api/v1/agents/a/approve", "", ada, header("Origin", n.url)); got.StatusCode != 403 {
		t.Errorf("approve gives %d %s", got.StatusCode, got.body)
	}
}
