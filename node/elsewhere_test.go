package node_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
)

// As over HTTP at the node itself, each for the points that the link may command.
func TestControlOfAnotherNodeIsAskedAsThatOfThisOne(t *testing.T) {
	campus, plant, _ := couple(t, commandedRooms+"uplink: {allow: [\"command site/room@5\", \"command site/hall@9\", \"read site\"]}\n")
	engineer, token := campus.as(t, "ada", identity.Engineer)
	far := engineer.At("plant")
	results, err := far.Command(wait(t), answer.NewCommands{Commands: []answer.NewCommand{
		{ID: "1", Point: "site/room/setpoint", Value: json.RawMessage("23")},
		{ID: "2", Point: "site/room/setpoint", Value: json.RawMessage("22"), Level: 5},
		{ID: "3", Point: "site/hall/setpoint", Value: json.RawMessage("22")},
	}})
	if err != nil || len(results.Results) != 3 || results.Results[0].Status != "accepted" || results.Results[1].Status != "accepted" ||
		results.Results[2].Error == nil || !strings.Contains(results.Results[2].Error.Message, "missing: command site/hall/setpoint@8") {
		t.Fatalf("commands: %+v, %v", results, err)
	}
	who, err := far.Who(wait(t), "site/room")
	if err != nil || len(who.Points) != 1 || len(who.Points[0].Array) != 2 || who.Points[0].Array[0].Requester != "person:campus/ada" {
		t.Errorf("who: %+v, %v", who, err)
	}
	if held, err := far.Held(wait(t), ""); err != nil || len(held.Commands) != 2 {
		t.Errorf("held: %+v, %v", held, err)
	}
	if _, err := far.Reserve(wait(t), answer.NewTask{Task: "tests", Windows: []answer.Window{{Path: "site/hall", To: "2100-01-01T00:00:00Z"}}}); err != nil {
		t.Error(err)
	}
	if tasks, err := far.Tasks(wait(t), "site", "now", ""); err != nil || len(tasks.Tasks) != 1 || tasks.Tasks[0].Requester != "person:campus/ada" {
		t.Errorf("schedule: %+v, %v", tasks, err)
	}
	if _, err := far.CancelTask(wait(t), "tests"); err != nil {
		t.Error(err)
	}
	if _, err := far.Override(wait(t), answer.NewOverride{Pattern: "site/hall"}); !fault.Is(err, fault.Refused) {
		t.Errorf("points are overridden that may be commanded at level 9 only: %v", err)
	}
	if _, err := far.Override(wait(t), answer.NewOverride{Pattern: "site/room/**", Reason: "service"}); err != nil {
		t.Error(err)
	}
	if list, err := far.Overrides(wait(t)); err != nil || len(list.Overrides) != 1 || list.Overrides[0].Requester != "person:campus/ada" {
		t.Errorf("overrides: %+v, %v", list, err)
	}
	if _, err := far.ClearOverride(wait(t), "site/room/**"); err != nil {
		t.Error(err)
	}
	if _, err := plant.Client.Command(wait(t), answer.NewCommands{Commands: []answer.NewCommand{{Point: "site/room/setpoint", Value: json.RawMessage("24"), Level: 10}}}); err != nil {
		t.Fatal(err)
	}
	// An engineer ends what others hold, but not by a link that does not administer.
	if _, err := far.Release(wait(t), answer.CommandSelection{All: true, Requester: "person:admin"}); !fault.Is(err, fault.Refused) {
		t.Errorf("what somebody of the plant holds is released: %v", err)
	}
	if _, err := far.Release(wait(t), answer.CommandSelection{All: true}); err != nil {
		t.Error(err)
	}
	if owners := ownersOf(t, plant); len(owners) != 1 || owners[0] != "person:admin" {
		t.Errorf("then the points belong to %q", owners)
	}
	// A key makes a repeat harmless there, too.
	for range 2 {
		req, err := http.NewRequestWithContext(wait(t), http.MethodPost, campus.HTTPAddr()+"/api/v1/control/commands?node=plant",
			strings.NewReader(`{"commands":[{"point":"site/room/setpoint","value":20,"level":9}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", "once")
		resp, err := http.DefaultClient.Do(req)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%+v, %v", resp, err)
		}
		_ = resp.Body.Close()
	}
	if held, err := far.Held(wait(t), "person:campus/ada"); err != nil || len(held.Commands) != 1 || held.Commands[0].Command != "once" {
		t.Errorf("with a key: %+v, %v", held, err)
	}
}
