package api_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"voltbus/agent/journal"
	"voltbus/api"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration"
)

// logged is a supervisor whose agents all print into one journal.
type logged struct {
	api.Processes
	journal *journal.Journal
}

func (l logged) Logs(string) (*journal.Journal, error) { return l.journal, nil }

// neighbour reaches one other node, of any name but n, which lets it do everything.
type neighbour struct{ handler http.Handler }

func (neighbour) Self(node string) bool     { return node == "n" }
func (neighbour) Role(string) identity.Role { return identity.Operator }

func (f neighbour) Ask(ctx context.Context, _ api.Caller, c api.FarCall) (json.RawMessage, error) {
	return api.Visit(ctx, f.handler, identity.User{Name: "@n", Role: identity.Administrator}, c.Method, c.Args.Kwargs)
}

func TestLinesOfAnAgentOfAnotherNodeAreFollowedEachOnce(t *testing.T) {
	j, err := journal.Open(journal.Config{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	far := start(t, withAgents(t), func(c *api.Config) { c.Processes = logged{c.Processes, j} })
	n := start(t, func(c *api.Config) { c.Far = neighbour{far.server.Config.Handler} })
	j.Print(journal.Stdout, []byte("one"))
	j.Print(journal.Stdout, []byte("one"))
	lines, hangUp := n.listen("/api/v1/agents/boiler/logs/follow?node=plant", n.bearer())
	defer hangUp()
	for i, want := range []string{"one", "one", "two", "three"} {
		if i == 2 {
			j.Print(journal.Stdout, []byte("two"))
			j.Print(journal.Stderr, []byte("three"))
		}
		if name, data := event(t, lines); name != "line" || !strings.Contains(data, `"message":"`+want+`"`) {
			t.Errorf("line %d: %s %s, want %s", i, name, data, want)
		}
	}
}

func TestWhatIsAskedOfAnotherNodeIsJudgedThere(t *testing.T) {
	far := start(t, withAgents(t))
	n := start(t, func(c *api.Config) {
		c.Far = neighbour{far.server.Config.Handler}
		c.Operations = operation.NewTable(func(context.Context, operation.Entry) {}, operation.Absent((&configuration.Part{}).Operations())).Reaching(
			func(context.Context, *operation.Caller, string, string, operation.Arguments) (json.RawMessage, error) {
				t.Error("the other node is asked")
				return nil, nil
			})
	})
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
		want                     string
	}{
		{"a list", "GET", "/processes?node=plant", "", 200, `"processes":[]`},
		{"this node's own, which has none", "GET", "/processes?node=n", "", 503, "this node does not have it"},
		{"an agent that is not there", "POST", "/agents/a%2Fb/start?node=plant", "", 404, "a/b"},
		{"an unknown level", "GET", "/agents/a/logs?level=loud&node=plant", "", 400, "debug, info"},
		{"an operation that is not for other nodes", "POST", "/agents/a/rollback?node=plant", "", 400, "takes no parameters"},
		{"a body that is none", "PUT", "/config?node=plant", "[", 400, "JSON"},
		{"a bound that is none", "PUT", "/config?node=plant", `{"text":"","version":"x","confirm":0.1}`, 400, "seconds"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := n.do(tt.method, "/api/v1"+tt.path, tt.body, n.bearer(), header("Content-Type", "application/json"))
			if got.StatusCode != tt.status || !strings.Contains(got.body, tt.want) {
				t.Errorf("%d %s", got.StatusCode, got.body)
			}
		})
	}
	if _, err := api.Visit(t.Context(), far.server.Config.Handler, identity.User{Name: "@n"}, "agent.list", nil); err == nil {
		t.Error("a visitor without a role lists agents")
	}
}
