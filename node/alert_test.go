package node_test

import (
	"testing"

	apiclient "voltbus/api/client"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/alerts"
)

func TestEverybodySeesAlertsAndOperatorsClearThem(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	agent := join(t, r, cfg, "boiler", identity.Grants{})
	people := map[identity.Role]*apiclient.Client{}
	for _, role := range []identity.Role{identity.Viewer, identity.Operator} {
		token, err := r.Issue(t.Context(), identity.User{Name: "the " + role.String(), Role: role})
		if err != nil {
			t.Fatal(err)
		}
		if people[role], err = apiclient.New(r.HTTPAddr(), token, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := agent.Alert("hot", "critical", "too hot"); err != nil {
		t.Fatal(err)
	}
	for role, person := range people {
		eventually(t, "the "+role.String()+" sees the alert", func() bool {
			a, err := apiclient.Do(wait(t), person, alerts.List, struct{}{})
			return err == nil && len(a.Alerts) == 1 && a.Alerts[0].Text == "too hot" && a.Refused == 0
		})
	}
	if err := apiclient.Tell(wait(t), people[identity.Viewer], alerts.Clear, alerts.Alert{Agent: "boiler", Key: "hot"}); !fault.Is(err, fault.Refused) {
		t.Errorf("a viewer clears it: %v", err)
	}
	if err := apiclient.Tell(wait(t), people[identity.Operator], alerts.Clear, alerts.Alert{Agent: "boiler", Key: "hot"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("an operator clears what lasts: %v", err)
	}
	if err := agent.ClearAlert("hot"); err != nil {
		t.Fatal(err)
	}
	if err := agent.Alert("hot", "fatal", "too hot"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the alert of a wrong severity is counted", func() bool {
		a, err := apiclient.Do(wait(t), people[identity.Viewer], alerts.List, struct{}{})
		return err == nil && len(a.Alerts) == 0 && a.Refused == 1
	})
	if err := agent.Alert("hot", "info", "warm"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is open again", func() bool {
		a, err := apiclient.Do(wait(t), people[identity.Viewer], alerts.List, struct{}{})
		return err == nil && len(a.Alerts) == 1
	})
	if err := r.Agents().Remove(wait(t), "boiler"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it went with the agent", func() bool {
		a, err := apiclient.Do(wait(t), people[identity.Viewer], alerts.List, struct{}{})
		return err == nil && len(a.Alerts) == 0
	})
}
