package node_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/control"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/auditlog"
	control0 "voltbus/operation/control"
	"voltbus/point"
)

// As over HTTP at the node itself, each for the points that the link may command.
func TestControlOfAnotherNodeIsAskedAsThatOfThisOne(t *testing.T) {
	campus, plant, _ := couple(t, commandedRooms+"uplink: {allow: [\"command site/room@5\", \"command site/hall@9\", \"read site\"]}\n")
	engineer, token := campus.as(t, "ada", identity.Engineer)
	far := engineer.At("plant")
	results, err := client.Do(wait(t), far, control0.Command, answer.NewCommands{Commands: []answer.NewCommand{{ID: "1", Point: "site/room/setpoint", Value: json.RawMessage("23")}, {ID: "2", Point: "site/room/setpoint", Value: json.RawMessage("22"), Level: 5}, {ID: "3", Point: "site/hall/setpoint", Value: json.RawMessage("22")}}})
	if err != nil || len(results.Results) != 3 || results.Results[0].Status != "accepted" || results.Results[1].Status != "accepted" ||
		results.Results[2].Error == nil || !strings.Contains(results.Results[2].Error.Message, "missing: command site/hall/setpoint@8") {
		t.Fatalf("commands: %+v, %v", results, err)
	}
	who, err := client.Do(wait(t), far, control0.Who, control0.Path{Path: "site/room"})
	if err != nil || len(who.Points) != 1 || len(who.Points[0].Array) != 2 || who.Points[0].Array[0].Requester != "person:campus/ada" {
		t.Errorf("who: %+v, %v", who, err)
	}
	if held, err := client.Do(wait(t), far, control0.Held, control0.Requester{Requester: ""}); err != nil || len(held.Commands) != 2 {
		t.Errorf("held: %+v, %v", held, err)
	}
	if _, err := client.Do(wait(t), far, control0.Reserve, answer.NewTask{Task: "tests", Windows: []answer.Window{{Path: "site/hall", To: "2100-01-01T00:00:00Z"}}}); err != nil {
		t.Error(err)
	}
	if tasks, err := client.Do(wait(t), far, control0.Tasks, control0.Span{Path: "site", From: operation.Time("now"), To: operation.Time("")}); err != nil || len(tasks.Tasks) != 1 || tasks.Tasks[0].Requester != "person:campus/ada" {
		t.Errorf("schedule: %+v, %v", tasks, err)
	}
	if _, err := client.Do(wait(t), far, control0.Cancel, control0.Task{Task: "tests"}); err != nil {
		t.Error(err)
	}
	if _, err := client.Do(wait(t), far, control0.Override, answer.NewOverride{Pattern: "site/hall"}); !fault.Is(err, fault.Refused) {
		t.Errorf("points are overridden that may be commanded at level 9 only: %v", err)
	}
	if _, err := client.Do(wait(t), far, control0.Override, answer.NewOverride{Pattern: "site/room/**", Reason: "service"}); err != nil {
		t.Error(err)
	}
	if list, err := client.Do(wait(t), far, control0.Overrides, control0.Nothing{}); err != nil || len(list.Overrides) != 1 || list.Overrides[0].Requester != "person:campus/ada" {
		t.Errorf("overrides: %+v, %v", list, err)
	}
	if _, err := client.Do(wait(t), far, control0.ClearOverride, control0.Pattern{Pattern: "site/room/**"}); err != nil {
		t.Error(err)
	}
	if _, err := client.Do(wait(t), plant.Client, control0.Command, answer.NewCommands{Commands: []answer.NewCommand{{Point: "site/room/setpoint", Value: json.RawMessage("24"), Level: 10}}}); err != nil {
		t.Fatal(err)
	}
	// An engineer ends what others hold, but not by a link that does not administer.
	if _, err := client.Do(wait(t), far, control0.Release, answer.CommandSelection{All: true, Requester: "person:admin"}); !fault.Is(err, fault.Refused) {
		t.Errorf("what somebody of the plant holds is released: %v", err)
	}
	if _, err := client.Do(wait(t), far, control0.Release, answer.CommandSelection{All: true}); err != nil {
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
	if held, err := client.Do(wait(t), far, control0.Held, control0.Requester{Requester: "person:campus/ada"}); err != nil || len(held.Commands) != 1 || held.Commands[0].Command != "once" {
		t.Errorf("with a key: %+v, %v", held, err)
	}
}

// A revert ends what others command: of a device and of a branch, at once and over a time, here and from another node.
func TestARevertSendsPointsBackWhoeverCommandsThem(t *testing.T) {
	rooms := strings.ReplaceAll(commandedRooms, "approval: true", "approval: false")
	rooms = strings.ReplaceAll(rooms, "points: [setpoint]", "points: [setpoint], default: 21")
	campus, plant, _ := couple(t, rooms+"uplink: {allow: [administer]}\n")
	take := func() {
		t.Helper()
		for i, path := range []point.Path{"site/room/setpoint", "site/hall/setpoint"} {
			for k, by := range []string{"agent:tune", "person:bob"} {
				c := control.Command{ID: rand.Text(), Point: path, Requester: by, Level: control.Level(10 + k), Value: point.FloatOf(float64(23 + i))}
				if done, err := plant.Control().Command(wait(t), c, time.Minute); err != nil || done.Status != control.Accepted {
					t.Fatalf("%+v, %v", done, err)
				}
			}
		}
	}
	commanded := func(path point.Path) int {
		t.Helper()
		v, err := plant.Control().View(wait(t), path)
		if err != nil {
			t.Fatal(err)
		}
		return len(v.Array)
	}
	engineer, _ := campus.as(t, "ada", identity.Engineer)
	operator, _ := campus.as(t, "bob", identity.Operator)
	here, _ := plant.as(t, "eve", identity.Operator)
	take()
	for name, c := range map[string]*client.Client{"from above": operator.At("plant"), "at the node": here} {
		if _, err := client.Do(wait(t), c, control0.Revert, answer.Revert{Path: "site"}); !fault.Is(err, fault.Refused) {
			t.Errorf("an operator %s reverts: %v", name, err)
		}
	}
	far := engineer.At("plant")
	if done, err := client.Do(wait(t), far, control0.Revert, answer.Revert{Path: "site/room"}); err != nil || done.Points != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	if commanded("site/room/setpoint") != 0 || commanded("site/hall/setpoint") != 2 {
		t.Error("a revert of one device did not end its commands, or ended those of another one")
	}
	awaitTrue(t, "the device reports the default", func() bool {
		got, err := client.Do(wait(t), far, control0.Get, control0.Points{Points: []string{"site/room/setpoint"}})
		return err == nil && string(got.Readings[0].Value) == "21"
	})
	take()
	done, err := client.Do(wait(t), far, control0.Revert, answer.Revert{Path: "site", Spread: 3600})
	if err != nil || done.Points != 2 || done.Until == nil {
		t.Fatalf("%+v, %v", done, err)
	}
	if commanded("site/hall/setpoint") != 0 || commanded("site/room/setpoint") != 2 {
		t.Error("the first point did not go back at once, or the second before its turn")
	}
	who, err := client.Do(wait(t), far, control0.Who, control0.Path{Path: "site/room/setpoint"})
	if err != nil || who.Points[0].Array[0].Until == nil || who.Points[0].Array[0].Until.Sub(*done.Until).Abs() > time.Minute {
		t.Errorf("who does not show the turn of the point: %+v, %v", who, err)
	}
	if _, err := client.Do(wait(t), far, control0.Revert, answer.Revert{Path: "site/nothing"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a revert of nothing: %v", err)
	}
	admin, _ := plant.as(t, "root", identity.Administrator)
	log, err := client.Do(wait(t), admin, auditlog.List, client.AuditFilter{Action: "control.revert"}.Page())
	if err != nil {
		t.Fatal(err)
	}
	text := string(mustJSON(t, log))
	for _, part := range []string{"person:campus/ada", `"spread":"1h0m0s"`, "person:campus/bob", "person:eve"} {
		if !strings.Contains(text, part) {
			t.Errorf("the audit log does not say %s: %s", part, text)
		}
	}
}
