package node_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	agent "voltbus/bus/client"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/control"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/link"
)

// member is a node of a tree of nodes.
type member struct {
	*running
	cfg *config.Config
}

// chain is region ◀ campus ◀ plant, with links that can be cut.
type chain struct {
	region, campus, plant member
	toRegion, toCampus    *link.Link
}

// plantChain runs three nodes. extra are sections of the configuration of campus and plant, such as
// uplink, and grants what each child may do at its parent.
func plantChain(t *testing.T, extra map[string]string, grants map[string]identity.Grants) *chain {
	t.Helper()
	c := &chain{toRegion: link.New(t), toCampus: link.New(t)}
	grow := func(name string) member {
		text := extra[name]
		if !strings.HasPrefix(text, "listen:") {
			text = listenAnywhere + text
		}
		cfg := nodeOf(t, t.TempDir(), name, text)
		return member{run(t, cfg), cfg}
	}
	c.region = grow("region")
	c.toRegion.Lead(c.region.BusAddr())
	c.campus = grow("campus")
	c.toCampus.Lead(c.campus.BusAddr())
	c.plant = grow("plant")
	hang := func(parent, child member, way *link.Link, prefix string) {
		invited, err := client.Do(wait(t), parent.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: prefix, Grants: grants[child.cfg.Node.Name], Addresses: []string{way.Addr()}}.Arguments())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(wait(t), child.Client, parentop.Join, parentop.Code{Code: invited.Code, Name: ""}); err != nil {
			t.Fatal(err)
		}
	}
	hang(c.region, c.campus, c.toRegion, "campus")
	hang(c.campus, c.plant, c.toCampus, "plant")
	awaitTrue(t, "the region knows the plant, and the plant the region", func() bool {
		above, _ := c.plant.Lineage().Ancestors()
		below := c.region.Subtree().Nodes()
		return len(above) == 2 && len(below) == 2 && below[0].Away.IsZero() && below[1].Away.IsZero()
	})
	return c
}

// awaitTrue waits until something holds.
func awaitTrue(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx := wait(t)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			t.Fatalf("it did not come to this: %s", what)
		case <-tick.C:
		}
	}
}

func remoteCalls(names ...string) identity.Grants {
	var g identity.Grants
	for _, n := range names {
		agent, method, _ := strings.Cut(n, ":")
		g.Call = append(g.Call, identity.CallGrant{Agent: agent, Method: method})
	}
	return g
}

func TestNodesAndAgentsOfATreeCallEachOtherByName(t *testing.T) {
	c := plantChain(t, map[string]string{
		"campus": "uplink: {allow: [\"call plant/boiler\", \"call */node:ping\", \"read **\"]}\n",
		"plant":  "uplink: {allow: [\"call boiler\", \"read **\"]}\n",
	}, map[string]identity.Grants{"plant": remoteCalls("region/tariff:limit"), "campus": remoteCalls("tariff")})
	offerAll(t, join(t, c.plant.running, c.plant.cfg, "boiler", identity.Grants{}))
	offerAll(t, join(t, c.region.running, c.region.cfg, "tariff", identity.Grants{}))
	weather := join(t, c.region.running, c.region.cfg, "weather", remoteCalls("plant/boiler:limit", "plant/boiler:fail", "plant/boiler:tune", "campus/*", "plant/node"))
	var got string
	if err := weather.Call(wait(t), "plant/boiler", "limit", &got, "a"); err != nil || got != "agent:region/weather a 15" {
		t.Errorf("an agent of the region calls one of the plant: %q, %v", got, err)
	}
	result, err := c.region.CallNode(wait(t), "plant", "boiler", client.Call{Method: "limit", Kwargs: map[string]json.RawMessage{"device": json.RawMessage(`"b"`)}})
	if err != nil || string(result) != `"person:region/admin b 15"` {
		t.Errorf("a person at the region calls it: %s, %v", result, err)
	}
	up := join(t, c.plant.running, c.plant.cfg, "meter", remoteCalls("region/tariff"))
	if err := up.Call(wait(t), "region/tariff", "limit", &got, "c"); err != nil || got != "agent:plant/meter c 15" {
		t.Errorf("an agent of the plant calls one of the region: %q, %v", got, err)
	}
	if err := up.Call(wait(t), "region/tariff", "ping", nil); !fault.Is(err, fault.Refused) || identity.MissingOf(err) != "call region/tariff:ping" {
		t.Errorf("what campus does not let the plant ask: %v", err)
	}
	if err := weather.Call(wait(t), "plant/boiler", "fail", nil); err == nil || !strings.Contains(err.Error(), "too hot") {
		t.Errorf("what a method raises comes as %v", err)
	}
	// It demands the capability tune, which uplink.allow of the plant does not give.
	if err := weather.Call(wait(t), "plant/boiler", "tune", nil); !fault.Is(err, fault.Refused) || identity.MissingOf(err) != "hold tune" {
		t.Errorf("what a method demands: %v", err)
	}
	if err := weather.Call(wait(t), "plant/boiler", "sleep", nil); identity.MissingOf(err) != "call plant/boiler:sleep" {
		t.Errorf("what the caller may not at home: %v", err)
	}
	if err := weather.Call(wait(t), "plant/node", "ping", &got); err != nil || got != "pong" {
		t.Errorf("the plant itself is asked: %q, %v", got, err)
	}
	if err := weather.Call(wait(t), "campus/boiler", "limit", nil); !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "campus says: missing: call boiler:limit") {
		t.Errorf("what campus does not allow: %v", err)
	}
	if err := weather.Call(wait(t), "campus/node", "config_get", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("a method that is not asked from afar: %v", err)
	}
	for _, audited := range []struct {
		at    member
		actor string
		what  string
	}{{c.region, "agent:weather", "node.call"}, {c.campus, "agent:region/weather", "node.pass"}, {c.plant, "agent:region/weather", "node.answer"}} {
		awaitTrue(t, audited.what+" is in the audit log", func() bool {
			return slices.ContainsFunc(audited.at.told(client.AuditFilter{Action: audited.what}), func(line string) bool {
				return strings.HasPrefix(line, audited.actor+" "+audited.what+" ok")
			})
		})
	}
}

func TestNothingIsCommandedFromAboveUnlessItIsAllowed(t *testing.T) {
	c := plantChain(t, nil, nil)
	offerAll(t, join(t, c.plant.running, c.plant.cfg, "boiler", identity.Grants{}))
	_, err := c.region.CallNode(wait(t), "plant", "boiler", client.Call{Method: "limit"})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "campus says: missing: call plant/boiler:limit") {
		t.Errorf("without uplink.allow the region calls the plant's agent: %v", err)
	}
	set := client.Call{Method: "set", Kwargs: map[string]json.RawMessage{"point": json.RawMessage(`"ahu1/fan"`), "value": json.RawMessage("1")}}
	result, err := c.campus.CallNode(wait(t), "plant", "node", set)
	if err != nil || !strings.Contains(string(result), `"status":"refused"`) || !strings.Contains(string(result), "missing: command ahu1/fan@8") {
		t.Errorf("a command from above: %s, %v", result, err)
	}
	_, err = c.plant.CallNode(wait(t), "region", "node", client.Call{Method: "latest", Kwargs: map[string]json.RawMessage{"pattern": json.RawMessage(`"**"`)}})
	if !fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), "campus says: missing: call region/node:latest") {
		t.Errorf("the plant reads at the region: %v", err)
	}
}

func TestANodeBehindACutLinkIsUnreachableAtOnce(t *testing.T) {
	t.Parallel()
	allow := "uplink: {allow: [\"call */*\", \"call boiler\"]}\n"
	c := plantChain(t, map[string]string{"campus": allow, "plant": allow}, nil)
	boiler := join(t, c.plant.running, c.plant.cfg, "boiler", identity.Grants{})
	arrived := make(chan struct{})
	err := boiler.Handle(agent.Method{Name: "hold", Do: func(ctx context.Context, _ *agent.Request) (any, error) {
		close(arrived)
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	// A link that is cut while a call is under way ends the call.
	done := make(chan error, 1)
	go func() {
		_, err := c.region.CallNode(context.Background(), "plant", "boiler", client.Call{Method: "hold", Timeout: time.Minute})
		done <- err
	}()
	select {
	case <-arrived:
	case err := <-done:
		t.Fatalf("the call came back: %v", err)
	}
	c.toCampus.Lead("")
	c.toCampus.Cut()
	if err := <-done; !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "plant") {
		t.Errorf("a call over a link that is cut: %v", err)
	}
	awaitTrue(t, "the region knows that the plant is away", func() bool { return !c.region.Subtree().Nodes()[1].Away.IsZero() })
	_, err = c.region.CallNode(wait(t), "plant", "boiler", client.Call{Method: "ping", Timeout: time.Minute})
	if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "plant is not connected to campus since ") {
		t.Errorf("a call to a node that is away: %v", err)
	}
	c.toRegion.Lead("")
	c.toRegion.Cut()
	awaitTrue(t, "campus is away", func() bool { return !c.region.Subtree().Nodes()[0].Away.IsZero() })
	_, err = c.region.CallNode(wait(t), "plant", "boiler", client.Call{Method: "ping", Timeout: time.Minute})
	if !fault.Is(err, fault.Unreachable) || !strings.Contains(err.Error(), "campus is not connected to region") {
		t.Errorf("a call behind a node that is away: %v", err)
	}
	c.toRegion.Lead(c.region.BusAddr())
	c.toCampus.Lead(c.campus.BusAddr())
	awaitTrue(t, "the plant answers again", func() bool {
		_, err := c.region.CallNode(wait(t), "plant", "node", client.Call{Method: "ping"})
		return err == nil
	})
}

func TestANameStandsOnceInATreeOfNodes(t *testing.T) {
	t.Parallel()
	c := plantChain(t, nil, nil)
	cfg := nodeOf(t, t.TempDir(), "harbour", listenAnywhere)
	harbour := run(t, cfg)
	twin := run(t, nodeOf(t, t.TempDir(), "Plant", listenAnywhere))
	below(t, c.region.running, harbour, c.region.BusAddr(), "harbour")
	below(t, harbour, twin, harbour.BusAddr(), "twin")
	awaitTrue(t, "harbour is told that its Plant is not let in", func() bool {
		_, refused := harbour.Lineage().Ancestors()
		return len(refused) == 1 && refused[0].Name == "Plant" && strings.Contains(refused[0].Why, "campus/plant")
	})
	awaitTrue(t, "the audit log of the region says so", func() bool {
		told := c.region.told(client.AuditFilter{Action: "node.refused"})
		return len(told) == 1 && strings.HasPrefix(told[0], "child:harbour node.refused")
	})
	if list := c.region.Subtree().Nodes(); len(list) != 3 {
		t.Errorf("the region knows %+v, want campus, plant and harbour", list)
	}
}

func TestWhatUplinkAllowSaysMustBeGrantable(t *testing.T) {
	for text, words := range map[string]string{
		"call a b:c":        "uplink.allow[1]",
		"command campus":    "uplink.allow[1]",
		"subscribe campus*": "uplink.allow[1]",
	} {
		cfg := nodeOf(t, t.TempDir(), "plant", listenAnywhere+"uplink: {allow: [\"read a\", \""+text+"\"]}\n")
		if n, err := openLogged(cfg, slog.New(slog.DiscardHandler)); err == nil || !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", text, err)
			if err == nil {
				_ = n.Close()
			}
		}
	}
}

func TestTheLedgerOfASubtreeBalancesThroughACut(t *testing.T) {
	t.Parallel()
	c := plantChain(t, nil, nil)
	base := time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	record := func(from, n int) {
		t.Helper()
		samples := make([]point.Sample, n)
		for i := range samples {
			samples[i] = point.Sample{Point: "ahu1/temp", Time: base.Add(time.Duration(from+i) * time.Second), Value: point.IntOf(int64(from + i))}
		}
		if err := c.plant.Record(wait(t), samples); err != nil {
			t.Fatal(err)
		}
	}
	sees := func(at member, samples, stored, waiting uint64) func() bool {
		return func() bool {
			l, err := at.LedgerBelow(wait(t))
			return err == nil && l.Sum.Samples == samples && l.Sum.Stored == stored && l.Sum.Waiting == waiting && l.Sum.Missing == 0
		}
	}
	record(0, 500)
	awaitTrue(t, "the region has 500 samples of 3 nodes", sees(c.region, 500, 500, 0))
	var l answer.Ledger
	awaitTrue(t, "all nodes say how they are", func() bool {
		var err error
		l, err = c.region.LedgerBelow(wait(t))
		return err == nil && l.Sum.Old == 0
	})
	if l.Sentence != "Nothing was lost of 500 samples of 3 nodes." {
		t.Errorf("the region says %q", l.Sentence)
	}
	if l.Nodes[2].Prefix != "campus/plant" {
		t.Errorf("the plant is %+v", l.Nodes[2])
	}
	c.toRegion.Lead("")
	c.toRegion.Cut()
	awaitTrue(t, "campus is away", func() bool { return !c.region.Subtree().Nodes()[0].Away.IsZero() })
	record(500, 250)
	awaitTrue(t, "campus has 750", sees(c.campus, 750, 750, 0))
	l, err := c.region.LedgerBelow(wait(t))
	if err != nil || l.Sum.Samples != 500 || l.Sum.Old != 2 || l.Nodes[1].State != "old" || l.Nodes[2].State != "old" || !strings.Contains(l.Sentence, "as they said then.") {
		t.Errorf("while campus is away the region says %+v %q, %v", l.Sum, l.Sentence, err)
	}
	c.toRegion.Lead(c.region.BusAddr())
	awaitTrue(t, "the region has 750 samples", sees(c.region, 750, 750, 0))
	awaitTrue(t, "every node has 750, and says so", func() bool {
		l, err := c.region.LedgerBelow(wait(t))
		hops := 0
		for _, n := range l.Nodes {
			for _, h := range n.Origins {
				if strings.HasPrefix(h.Origin.Origin, "plant~") && h.Balanced && h.Acknowledged == 750 && h.Stored == 750 && (h.Above == nil || *h.Above == 750) {
					hops++
				}
			}
		}
		return err == nil && l.Sum.Old == 0 && hops == 3
	})
}

func TestLiveMessagesAndCommandsGoThroughTheTreeAsFarAsAllowed(t *testing.T) {
	t.Parallel()
	room := "devices:\n  site/room: {driver: sim, interval: 1s, config: {model: zone}}\n"
	c := plantChain(t, map[string]string{
		"campus": "uplink: {allow: [\"call plant/node\"]}\n",
		"plant":  room + "uplink: {allow: [\"subscribe site\", \"command site/room/setpoint@8\"]}\n",
	}, nil)
	hear := func(cursor, pattern string) (got struct {
		Cursor   string
		Messages []struct {
			Device string
			Points map[string]any
		}
		Begun bool
	}, err error,
	) {
		result, err := c.region.CallNode(wait(t), "plant", "node", client.Call{Method: "listen", Kwargs: map[string]json.RawMessage{
			"pattern": json.RawMessage(`"` + pattern + `"`), "cursor": json.RawMessage(`"` + cursor + `"`),
		}})
		if err == nil {
			err = json.Unmarshal(result, &got)
		}
		return got, err
	}
	begun, err := hear("", "site/**")
	if err != nil || !begun.Begun {
		t.Fatalf("the region listens at the plant: %+v, %v", begun, err)
	}
	got, err := hear(begun.Cursor, "site/**")
	if err != nil || len(got.Messages) == 0 || got.Messages[0].Device != "site/room" || got.Messages[0].Points["setpoint"] == nil {
		t.Errorf("the region hears %+v, %v", got, err)
	}
	set := func(value string, level string) string {
		result, err := c.region.CallNode(wait(t), "plant", "node", client.Call{Method: "set", Kwargs: map[string]json.RawMessage{
			"point": json.RawMessage(`"site/room/setpoint"`), "value": json.RawMessage(value), "level": json.RawMessage(level),
		}})
		if err != nil {
			return err.Error()
		}
		return string(result)
	}
	if done := set("23", "8"); !strings.Contains(done, `"status":"accepted"`) {
		t.Errorf("an allowed command from the region: %s", done)
	}
	if held, err := client.Do(wait(t), c.plant.Client, control.Held, control.Requester{Requester: "person:region/admin"}); err != nil || len(held.Commands) != 1 {
		t.Errorf("the command is held by %+v, %v", held, err)
	}
	if done := set("24", "5"); !strings.Contains(done, "missing: command site/room/setpoint@5") {
		t.Errorf("a command at a level that is not allowed: %s", done)
	}
	c.toCampus.Lead("")
	c.toCampus.Cut()
	awaitTrue(t, "the plant is away", func() bool { _, err := hear(got.Cursor, "site/**"); return fault.Is(err, fault.Unreachable) })
	c.toCampus.Lead(c.campus.BusAddr())
	awaitTrue(t, "the region hears the plant again, where it stopped", func() bool {
		again, err := hear(got.Cursor, "site/**")
		return err == nil && !again.Begun && len(again.Messages) > 0
	})
}
