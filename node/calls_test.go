package node_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/agents"
)

func TestPeopleCallMethodsOfAgents(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "platform.boiler", identity.Grants{}))
	if _, err := r.Agents().Add(wait(t), "ghost", access(t, cfg, "ghost").Key.Public(), identity.Grants{}); err != nil {
		t.Fatal(err)
	}
	list := func(args ...string) (out []json.RawMessage) {
		for _, a := range args {
			out = append(out, json.RawMessage(a))
		}
		return out
	}
	named := map[string]json.RawMessage{"device": json.RawMessage(`"b"`), "limit": json.RawMessage("7.5")}
	for _, tt := range []struct {
		name, agent string
		call        client.Call
		kind        fault.Kind
		words       string
	}{
		{"by place", "platform.boiler", client.Call{Method: "limit", Args: list(`"a"`)}, 0, `"node a 15"`},
		{"by name", "platform.boiler", client.Call{Method: "limit", Kwargs: named}, 0, `"node b 7.5"`},
		{"what other agents must hold", "platform.boiler", client.Call{Method: "tune"}, 0, `"tuned"`},
		{"a method that fails", "platform.boiler", client.Call{Method: "fail"}, fault.Rejected, "too hot"},
		{"a method that breaks down", "platform.boiler", client.Call{Method: "panic"}, fault.Rejected, "burst"},
		{"a fault of the method", "platform.boiler", client.Call{Method: "absent"}, fault.NotFound, "too hot"},
		{"an argument of another type", "platform.boiler", client.Call{Method: "limit", Args: list("1")}, fault.Invalid, "device"},
		{"no such method", "platform.boiler", client.Call{Method: "boil"}, fault.NotFound, "inspect"},
		{"no method", "platform.boiler", client.Call{}, fault.Invalid, "missing"},
		{"too slow", "platform.boiler", client.Call{Method: "sleep", Timeout: 50 * time.Millisecond}, fault.Timeout, ""},
		{"too patient", "platform.boiler", client.Call{Method: "ping", Timeout: time.Hour}, fault.Invalid, "at most 300"},
		{"an agent that is not connected", "ghost", client.Call{Method: "ping"}, fault.Unreachable, "not connected"},
		{"an agent that nobody knows", "nobody", client.Call{Method: "ping"}, fault.NotFound, ""},
		{"the node itself", "node", client.Call{Method: "ping"}, fault.NotFound, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result, err := r.CallAgent(wait(t), tt.agent, tt.call)
			switch {
			case tt.kind == 0 && (err != nil || string(result) != tt.words):
				t.Errorf("gives %s, %v", result, err)
			case tt.kind != 0 && (!fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.words)):
				t.Errorf("gives %s, %v, %v", result, fault.KindOf(err), err)
			}
		})
	}
	want := `person:admin agent.call ok {"kwargs":{"device":"b","limit":7.5}}`
	if told := r.told(client.AuditFilter{Action: "agent.call"}); !slices.Contains(told, want) {
		t.Errorf("the audit log says %q", told)
	}
}

func TestAnAgentTellsPeopleItsMethods(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "boiler", identity.Grants{}))
	m, err := client.Do(wait(t), r.Client, agents.Methods, agents.Agent{Name: "boiler"})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(m.Methods, func(m answer.Method) bool { return m.Name == "limit" })
	if len(m.Methods) != 9 || i < 0 || m.Methods[i].Doc != "Set a limit." || len(m.Methods[i].Params) != 2 || string(m.Methods[i].Params[1].Default) != "15" {
		t.Errorf("gives %+v", m.Methods)
	}
	i = slices.IndexFunc(m.Methods, func(m answer.Method) bool { return m.Name == "tune" })
	if i < 0 || !slices.Equal(m.Methods[i].Needs, []string{"tune"}) {
		t.Errorf("gives %+v", m.Methods)
	}
}

func TestAViewerCallsNothing(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "boiler", identity.Grants{}))
	token, err := r.Issue(t.Context(), identity.User{Name: "eve", Role: identity.Viewer})
	if err != nil {
		t.Fatal(err)
	}
	eve, err := client.New(r.HTTPAddr(), token, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := eve.CallAgent(wait(t), "boiler", client.Call{Method: "tune"}); !fault.Is(err, fault.Refused) {
		t.Errorf("gives %v", err)
	}
	if _, err := client.Do(wait(t), eve, agents.Methods, agents.Agent{Name: "boiler"}); err != nil {
		t.Errorf("a viewer may look: %v", err)
	}
}

func TestAnOperatorCallsOnlyWhatDemandsNoCapability(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "boiler", identity.Grants{}))
	as := func(role identity.Role, c client.Call) error {
		token, err := r.Issue(t.Context(), identity.User{Name: role.String() + "1", Role: role})
		if err != nil {
			t.Fatal(err)
		}
		person, err := client.New(r.HTTPAddr(), token, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = person.CallAgent(wait(t), "boiler", c)
		return err
	}
	limit := client.Call{Method: "limit", Args: []json.RawMessage{json.RawMessage(`"a"`)}}
	if err := as(identity.Operator, limit); err != nil {
		t.Errorf("an operator calls a method without demands: %v", err)
	}
	if err := as(identity.Operator, client.Call{Method: "tune"}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "tune of agents, and the role engineer") {
		t.Errorf("an operator calls a method that demands tune: %v", err)
	}
	if err := as(identity.Operator, client.Call{Method: "boil"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("an operator calls a method that is not listed: %v", err)
	}
	if err := as(identity.Engineer, client.Call{Method: "tune"}); err != nil {
		t.Errorf("an engineer: %v", err)
	}
}

func TestTheAuditLogHasNoSecretsOfCalls(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "boiler", identity.Grants{}))
	_, err := r.CallAgent(wait(t), "boiler", client.Call{
		Method: "boil", Args: []json.RawMessage{json.RawMessage(`[{"API-Key": "s3", "limit": 7.50, "deep": {"user_password": ["s3"]}}]`)},
		Kwargs: map[string]json.RawMessage{"Token": json.RawMessage(`"s3"`), "device": json.RawMessage(`"b"`)},
	})
	if !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	told := strings.Join(r.told(client.AuditFilter{Action: "agent.call"}), " ")
	for _, want := range []string{`"API-Key":"(hidden)"`, `"limit":7.50`, `"user_password":"(hidden)"`, `"Token":"(hidden)"`, `"device":"b"`} {
		if !strings.Contains(told, want) || strings.Contains(told, "s3") {
			t.Errorf("the audit log says %s, want %s", told, want)
		}
	}
}
