package node_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	agent "voltbus/bus/client"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	controlop "voltbus/operation/control"
	"voltbus/uplink/tree"
)

const commandedRooms = "devices:\n  site/room: {driver: sim, interval: 1s, config: {model: zone}, control: [{points: [setpoint], approval: false}]}\n" +
	"  site/hall: {driver: sim, interval: 1s, config: {model: zone}, control: [{points: [setpoint], approval: true}]}\n"

// ownersChain is region ◀ campus ◀ plant, where those above may command the rooms of the plant.
func ownersChain(t *testing.T) *chain {
	t.Helper()
	return plantChain(t, map[string]string{
		"campus": "uplink: {allow: [\"call plant/*\"]}\n",
		"plant":  commandedRooms + "uplink: {allow: [\"command site@8\", \"call boiler\", \"read **\"]}\n",
	}, map[string]identity.Grants{"plant": remoteCalls("region/tariff"), "campus": remoteCalls("tariff")})
}

// set has an agent command a setpoint of the plant.
func set(t *testing.T, from *agent.Client, room, id string, value float64) (done answer.Commanded) {
	t.Helper()
	err := from.CallNamed(wait(t), "plant/node", "set", &done, map[string]any{"point": "site/" + room + "/setpoint", "value": value, "id": id, "level": 10})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func ownersOf(t *testing.T, at member) (owners []string) {
	t.Helper()
	held, err := client.Do(wait(t), at.Client, controlop.Held, controlop.Requester{Requester: ""})
	if err != nil {
		t.Fatal(err)
	}
	for i := range held.Commands {
		owners = append(owners, held.Commands[i].Requester)
	}
	slices.Sort(owners)
	return owners
}

func TestAgentsOfOneNodeAreDifferentOwnersTwoNodesFurther(t *testing.T) {
	c := ownersChain(t)
	first := join(t, c.region.running, c.region.cfg, "optimizer", remoteCalls("plant/node"))
	second := join(t, c.region.running, c.region.cfg, "night", remoteCalls("plant/node"))
	if done := set(t, first, "room", "1", 23); done.Status != "accepted" {
		t.Fatalf("the first command: %+v", done)
	}
	done := set(t, second, "room", "1", 18)
	if done.Status != "refused" || done.Error == nil || done.Error.Why != "held" || !strings.Contains(done.Error.Message, "agent:region/optimizer") {
		t.Errorf("another agent of the same node takes the level: %+v", done)
	}
	release := func(from *agent.Client, args map[string]any) error {
		return from.CallNamed(wait(t), "plant/node", "release", nil, args)
	}
	if err := release(second, map[string]any{"point": "site/room/setpoint"}); err == nil {
		t.Error("it releases what the other one holds")
	}
	if err := release(second, map[string]any{"all": true}); err != nil {
		t.Errorf("it releases all of its own: %v", err)
	}
	if owners := ownersOf(t, c.plant); !slices.Equal(owners, []string{"agent:region/optimizer"}) {
		t.Errorf("the plant knows the owners %q", owners)
	}
	window := map[string]any{"task": "night", "windows": []map[string]string{{"path": "site/room", "to": "2100-01-01T00:00:00Z"}}}
	if err := second.CallNamed(wait(t), "plant/node", "reserve", nil, window); err != nil {
		t.Fatal(err)
	}
	if done := set(t, first, "room", "2", 22); done.Status != "refused" || done.Error == nil || done.Error.Why != "reserved" {
		t.Errorf("what another agent has reserved is commanded: %+v", done)
	}
	if err := first.CallNamed(wait(t), "plant/node", "cancel", nil, map[string]any{"task": "night"}); err == nil {
		t.Error("a reservation is cancelled by somebody else")
	}
	for _, told := range []struct {
		at             *member
		action, begins string
	}{
		{&c.region, "node.call", "agent:optimizer node.call ok"},
		{&c.campus, "node.pass", "agent:region/optimizer node.pass ok"},
		{&c.plant, "node.answer", "agent:region/optimizer node.answer ok"},
		{&c.plant, "control.command", "agent:region/optimizer control.command accepted"},
		{&c.plant, "control.reserve", "agent:region/night control.reserve accepted"},
	} {
		awaitTrue(t, told.at.cfg.Node.Name+" tells its audit log "+told.begins, func() bool { return told.at.hasTold(told.action, told.begins) })
	}
}

func TestAnAgentTellsItsCallersOfOtherNodesApart(t *testing.T) {
	c := ownersChain(t)
	for at, name := range map[*member]string{&c.plant: "boiler", &c.region: "tariff"} {
		callee := join(t, at.running, at.cfg, name, identity.Grants{})
		if err := callee.Handle(agent.Method{Name: "who", Do: func(_ context.Context, r *agent.Request) (any, error) { return r.From, nil }}); err != nil {
			t.Fatal(err)
		}
	}
	weather := join(t, c.region.running, c.region.cfg, "weather", remoteCalls("plant/boiler"))
	meter := join(t, c.plant.running, c.plant.cfg, "meter", remoteCalls("region/tariff"))
	var got string
	if err := weather.Call(wait(t), "plant/boiler", "who", &got); err != nil || got != "agent:region/weather" {
		t.Errorf("the plant's agent is called by %q, %v", got, err)
	}
	if err := meter.Call(wait(t), "region/tariff", "who", &got); err != nil || got != "agent:plant/meter" {
		t.Errorf("the region's agent is called by %q, %v", got, err)
	}
	if result, err := c.region.CallNode(wait(t), "plant", "boiler", client.Call{Method: "who"}); err != nil || string(result) != `"person:region/admin"` {
		t.Errorf("the plant's agent is called by a person: %s, %v", result, err)
	}
}

func TestASecondPersonApprovesWhatWasAskedAtAnotherNode(t *testing.T) {
	c := ownersChain(t)
	optimizer := join(t, c.region.running, c.region.cfg, "optimizer", remoteCalls("plant/node"))
	if done := set(t, optimizer, "hall", "1", 23); done.Status != "pending" {
		t.Fatalf("it needs approval: %+v", done)
	}
	_, err := c.region.CallNode(wait(t), "plant", "node", client.Call{Method: "set", Kwargs: map[string]json.RawMessage{
		"point": json.RawMessage(`"site/hall/setpoint"`), "value": json.RawMessage("21"), "id": json.RawMessage(`"2"`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	if _, err := client.Do(wait(t), c.plant.Client, controlop.Approve, answer.Approval{Requester: "person:region/admin", ID: "2", Agree: &yes}); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "second person") {
		t.Errorf("an account of the same name approves: %v", err)
	}
	if done, err := client.Do(wait(t), c.plant.Client, controlop.Approve, answer.Approval{Requester: "agent:region/optimizer", ID: "1", Agree: &yes}); err != nil || done.Status != "accepted" {
		t.Errorf("somebody at the plant approves: %+v, %v", done, err)
	}
	if owners := ownersOf(t, c.plant); !slices.Equal(owners, []string{"agent:region/optimizer"}) {
		t.Errorf("it belongs to %q", owners)
	}
	awaitTrue(t, "the audit log says who asked and who approved", func() bool {
		return c.plant.hasTold("control.command", "agent:region/optimizer control.command pending") &&
			c.plant.hasTold("control.approve", "person:admin control.approve accepted") &&
			c.plant.hasTold("control.approve", "person:admin control.approve refused")
	})
}

func TestAttackAChildThatSpeaksForItsParentIsRefusedAndTold(t *testing.T) {
	t.Parallel()
	c := ownersChain(t)
	offerAll(t, join(t, c.region.running, c.region.cfg, "tariff", identity.Grants{}))
	as := access(t, c.campus.cfg, "liar")
	_, err := client.Do(wait(t), c.campus.Client, children.Add, client.NewChild{Name: "liar", Public: as.Key.Public(), Grants: remoteCalls("region/tariff")}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	liar, err := peer.DialParent(wait(t), peer.Way{Address: c.campus.BusAddr(), TLS: &tls.Config{RootCAs: as.CA, MinVersion: tls.VersionTLS13}}, as.Key, "@liar")
	if err != nil {
		t.Fatal(err)
	}
	defer liar.Close()
	awaitTrue(t, "the region knows of the child", func() bool { return len(c.region.Subtree().Nodes()) == 3 })
	ask := func(who string) error {
		body, err := json.Marshal(tree.Request{Node: "region", Agent: "tariff", Method: "ping", Caller: "agent:x", For: who, Path: []string{"liar"}, Timeout: 5})
		if err != nil {
			t.Fatal(err)
		}
		_, err = liar.Ask(wait(t), tree.RelayMethod, body)
		return err
	}
	for _, who := range []string{"agent:region/optimizer", "person:campus/admin", "agent:plant/boiler"} {
		if err := ask(who); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "cannot speak for it") {
			t.Errorf("it speaks for %s: %v", who, err)
		}
	}
	awaitTrue(t, "campus tells its audit log of each lie", func() bool {
		told := c.campus.told(client.AuditFilter{Action: "node.forged"})
		return len(told) == 3 && strings.HasPrefix(told[0], "node:liar node.forged")
	})
	if err := ask("agent:liar/x"); err != nil {
		t.Errorf("it speaks for itself: %v", err)
	}
	awaitTrue(t, "the region knows it", func() bool { return c.region.hasTold("node.answer", "agent:liar/x node.answer ok") })
	if n := len(c.region.told(client.AuditFilter{Action: "node.answer"})); n != 1 {
		t.Errorf("%d requests came to the region, want the honest one", n)
	}
}

func TestWhatANeighbourMayNotCommandAnyMoreEndsForAllWhoAskByIt(t *testing.T) {
	c := ownersChain(t)
	optimizer := join(t, c.region.running, c.region.cfg, "optimizer", remoteCalls("plant/node"))
	if done := set(t, optimizer, "room", "1", 23); done.Status != "accepted" {
		t.Fatalf("it is commanded: %+v", done)
	}
	now, err := configurationOf(t, c.plant)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setConfig(t, c.plant, strings.Replace(now.Text, `"command site@8", `, "", 1), now.Version, 0); err != nil {
		t.Fatal(err)
	}
	awaitTrue(t, "nobody holds anything", func() bool { return len(ownersOf(t, c.plant)) == 0 })
	if done := set(t, optimizer, "room", "2", 23); done.Status != "refused" {
		t.Errorf("it is commanded all the same: %+v", done)
	}
}
