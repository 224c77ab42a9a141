package control_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	model "voltbus/control"
	"voltbus/control/access"
	"voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/point"
)

// asked is a dispatcher that accepts every command, and remembers what it was asked.
type asked struct {
	access.Dispatcher

	commands []model.Command
	wait     time.Duration
}

func (a *asked) CommandMany(_ context.Context, commands []model.Command, wait time.Duration) ([]dispatch.Result, error) {
	a.commands, a.wait = append(a.commands, commands...), wait
	out := make([]dispatch.Result, len(commands))
	for i := range out {
		out[i].Status = model.Accepted
	}
	return out, nil
}

func tableOf(d access.Dispatcher, ask operation.AskNode) *operation.Table {
	part := control.Part{Access: access.New(access.Config{Dispatcher: d}), Now: time.Now}
	return operation.NewTable(func(context.Context, operation.Entry) {}, part.Operations()).Reaching(ask)
}

func args(pairs ...string) operation.Arguments {
	out := operation.Arguments{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return out
}

// Zero is a value and a time to wait, also where other zeros are arguments that are left out.
func TestZeroIsAValueToSetAndATimeToWait(t *testing.T) {
	agent := operation.Caller{Name: "agent:tune", Agent: "tune", Grants: identity.Grants{Command: []identity.CommandGrant{{Path: "b/**", Level: 1}}}}
	d := &asked{}
	result, err := tableOf(d, nil).Run(t.Context(), &agent, "control.set", args("point", `"b/x"`, "value", "0", "wait", "0", "level", "0", "lease", "0", "reason", "null"))
	if err != nil || !strings.Contains(string(result), `"status":"accepted"`) {
		t.Fatalf("%s, %v", result, err)
	}
	if c := d.commands[0]; c.Value.Kind() == point.None || c.Value.String() != "0" || d.wait != 0 || c.Level != access.AgentLevel || c.Lease != 0 {
		t.Errorf("the dispatcher is asked for %+v, and to wait %v", c, d.wait)
	}
}

func TestWhatIsNoFieldOfACommandIsRefusedByItsName(t *testing.T) {
	ada := operation.Caller{Name: "person:ada", Role: identity.Operator}
	for _, tt := range []struct{ name, commands, words string }{
		{"an unknown field", `[{"point":"b/x","value":1,"levl":8}]`, `unknown field "levl"; there are id, point, value, level`},
		{"a text for a level", `[{"point":"b/x","value":1,"level":"8"}]`, "must be a number"},
		{"no list", `7`, "must be a list"},
	} {
		_, err := tableOf(&asked{}, nil).Run(t.Context(), &ada, "control.command", args("commands", tt.commands))
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.words)
		}
	}
}

func TestAKeyNamesCommandsThatHaveNoIdentifier(t *testing.T) {
	ada := operation.Caller{Name: "person:ada", Role: identity.Operator, Key: "once"}
	for commands, want := range map[string][]string{
		`[{"point":"b/x","value":1}]`: {"once"},
		`[{"point":"b/x","value":1},{"point":"b/y","value":1,"id":"own"},{"point":"b/z","value":1}]`: {"once/0", "own", "once/2"},
	} {
		d := &asked{}
		if _, err := tableOf(d, nil).Run(t.Context(), &ada, "control.command", args("commands", commands)); err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range d.commands {
			got = append(got, d.commands[i].ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s are named %q, want %q", commands, got, want)
		}
	}
}

// A node of an older version judges neither the role nor the key, so that both are settled before commands leave.
func TestCommandsForAnotherNodeLeaveWithTheLevelAndIdentifierOfHome(t *testing.T) {
	var went operation.Arguments
	table := tableOf(&asked{}, func(_ context.Context, _ *operation.Caller, _, name string, a operation.Arguments) (json.RawMessage, error) {
		went = a
		return json.RawMessage(`{"results":[]}`), nil
	})
	ada := operation.Caller{Name: "person:ada", Role: identity.Operator, Key: "once"}
	for _, tt := range []struct{ commands, goes string }{
		{`[{"point":"b/x","value":0}]`, `[{"id":"once","point":"b/x","value":0,"level":8}]`},
		{`[{"point":"b/x","value":1,"level":9,"id":"own"}]`, `[{"id":"own","point":"b/x","value":1,"level":9}]`},
		{`[{"point":"b/x","value":1,"level":7}]`, ""},
		{`[{"point":"b/x","value":1},{"point":"b/y","value":1,"level":1}]`, ""},
	} {
		went = nil
		_, err := table.RunElsewhere(t.Context(), &ada, "plant", "control.command", args("commands", tt.commands))
		if string(went["commands"]) != tt.goes || fault.Is(err, fault.Refused) != (tt.goes == "") || went["wait"] != nil {
			t.Errorf("%s goes as %s, %v", tt.commands, went, err)
		}
	}
	if _, known, err := table.Leaving(t.Context(), &ada, "set", args("point", `"b/x"`, "value", "1", "level", "7")); !known || !fault.Is(err, fault.Refused) {
		t.Errorf("a single command above the own levels leaves: %v, %v", known, err)
	}
	for _, commands := range []string{`[null]`, `[{"point":"b/x","value":1},null]`, `7`} {
		if _, known, err := table.Leaving(t.Context(), &ada, "set_many", args("commands", commands)); !known || fault.Is(err, fault.Internal) {
			t.Errorf("%s leaves as a defect: %v, %v", commands, known, err)
		}
	}
}

func TestOverridesAreForPeopleOfEveryNodeAndForNoAgent(t *testing.T) {
	agent := operation.Caller{Name: "agent:tune", Agent: "tune", Grants: identity.Grants{Administer: true}}
	for _, name := range []string{"control.override", "control.override.clear", "control.overrides", "control.held", "control.points", "control.approve"} {
		for _, visits := range []bool{false, true} {
			agent.Remote = visits
			if _, err := tableOf(&asked{}, nil).Run(t.Context(), &agent, name, args("pattern", `"b/x"`)); !fault.Is(err, fault.Refused) {
				t.Errorf("an agent asks for %s (visits: %v): %v", name, visits, err)
			}
		}
	}
}
