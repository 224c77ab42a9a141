package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"voltbus/agent/journal"
	"voltbus/api"
	"voltbus/api/exchange"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/configuration"
	"voltbus/operation/processes"
)

// logged is a supervisor whose agents all print into one journal.
type logged struct {
	processes.Supervisor
	journal *journal.Journal
}

func (l logged) Logs(string) (*journal.Journal, error) { return l.journal, nil }

// reaches lets a node without agents ask one other node, of any name but n, which lets it do everything.
func reaches(far []operation.Bound) func(*api.Config) {
	tell := func(context.Context, operation.Entry) {}
	there := operation.NewTable(tell, far)
	return func(c *api.Config) {
		c.Remote = neighbour{}
		c.Operations = operation.NewTable(tell, agentsOf(nil), operation.Absent((&configuration.Part{}).Operations())).Reaching(
			func(ctx context.Context, _ *operation.Caller, _, name string, args operation.Arguments) (json.RawMessage, error) {
				return there.AnswerRemote(ctx, &operation.Caller{Name: "node:n", Role: identity.Administrator, Remote: true}, name, args)
			})
	}
}

type neighbour struct{}

func (neighbour) Self(node string) bool     { return node == "n" }
func (neighbour) Role(string) identity.Role { return identity.Operator }

func (neighbour) Ask(context.Context, *operation.Caller, exchange.RemoteCall) (json.RawMessage, error) {
	return nil, errors.New("declared operations go by the table")
}

func TestLinesOfAnAgentOfAnotherNodeAreFollowedEachOnce(t *testing.T) {
	j, err := journal.Open(journal.Config{Dir: t.TempDir()})
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	n := start(t, reaches(agentsOf(logged{journal: j})))
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
	n := start(t, reaches(agentsOf(supervisor(t))))
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
}
