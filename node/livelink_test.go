package node_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	agent "voltbus/bus/client"
	"voltbus/bus/peer"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/nodes"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/link"
	"voltbus/uplink/live"
	"voltbus/wire"
)

// twoNodes is a parent with a child over a link.
type twoNodes struct {
	parent, child member
	way           *link.Link
	source, watch *agent.Client
	heard         *heard
	published     int // the number that hears published last
}

// newTwoNodes connects them, with an agent at the child that publishes and one at the parent that listens.
func newTwoNodes(t *testing.T, above, below string, grants identity.Grants) *twoNodes {
	t.Helper()
	n := &twoNodes{way: link.New(t), heard: newHeard(), published: 1_000_000}
	grow := func(name, extra string) member {
		cfg := nodeOf(t, t.TempDir(), name, listenAnywhere+extra)
		return member{run(t, cfg), cfg}
	}
	n.parent, n.child = grow("campus", above), grow("plant", below)
	n.way.Lead(n.parent.BusAddr())
	invited, err := client.Do(wait(t), n.parent.Client, children.Invite, client.NewInvitation{Approved: true, Prefix: "plant", Grants: grants, Addresses: []string{n.way.Addr()}}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), n.child.Client, parentop.Join, parentop.Code{Code: invited.Code, Name: ""}); err != nil {
		t.Fatal(err)
	}
	n.source = join(t, n.child.running, n.child.cfg, "meter", identity.Grants{Publish: []point.Pattern{"**"}})
	n.watch = join(t, n.parent.running, n.parent.cfg, "watch", subscribes("**"))
	if _, err := n.watch.Subscribe(wire.Selection{Patterns: []point.Pattern{"**"}}, n.heard.take); err != nil {
		t.Fatal(err)
	}
	return n
}

// hears waits until the parent hears the child. No number is published a second time, also not by another call: one that
// is heard twice came twice.
func (n *twoNodes) hears(t *testing.T, device point.Path) {
	t.Helper()
	first := n.published + 1
	awaitTrue(t, "the parent hears the child", func() bool {
		n.published++
		publish(t, n.source, device, n.published)
		return n.published > first && n.heard.times(fmt.Sprintf("plant/%s/n=%d", device, n.published-1)) > 0
	})
}

func TestABacklogOfBlocksDoesNotDelayLiveMessages(t *testing.T) {
	n := newTwoNodes(t, "", "uplink: {rate: 1KiB}\n", identity.Grants{})
	var many []point.Sample
	for i := range 20_000 {
		many = append(many, point.Sample{Point: "meter/n", Time: time.Now().Add(time.Duration(i) * time.Microsecond), Value: point.FloatOf(float64(i) * 1.618)})
	}
	n.child.record(many)
	awaitTrue(t, "a backlog waits", func() bool {
		p, err := client.Do(wait(t), n.child.Client, parentop.Get, struct{}{})
		return err == nil && p.Uplink != nil && p.Uplink.Waiting > 0
	})
	n.hears(t, "hall/a")
	for i := range 100 {
		publish(t, n.source, "hall/a", i)
	}
	awaitTrue(t, "the parent hears the last", func() bool { return n.heard.times("plant/hall/a/n=99") == 1 })
	p, err := client.Do(wait(t), n.child.Client, parentop.Get, struct{}{})
	if err != nil || p.Uplink.Waiting == 0 {
		t.Errorf("there is no backlog any more, which this is about: %+v, %v", p.Uplink, err)
	}
	shown, err := client.Do(wait(t), n.parent.Client, nodes.Get, nodes.Name{Name: "plant"})
	up := p.Uplink.Live
	if err != nil || up == nil || shown.Live == nil || !up.Connected || up.Up.Wanted == 0 || up.Up.Messages < 100 || up.Up.Bytes == 0 || shown.Live.Up.Messages < 100 || shown.Live.Up.Wanted != up.Up.Wanted {
		t.Errorf("the child shows %+v, its parent %+v, %v", up, shown.Live, err)
	}
}

func TestALinkThatIsHeldDropsLiveMessagesAndDisturbsNobody(t *testing.T) {
	t.Parallel()
	n := newTwoNodes(t, "", "", identity.Grants{})
	n.hears(t, "hall/a")
	local := newHeard()
	c := join(t, n.child.running, n.child.cfg, "local", subscribes("**"))
	if _, err := c.Subscribe(wire.Selection{}, local.take); err != nil {
		t.Fatal(err)
	}
	n.way.Hold(link.Up, true)
	const count = 30_000
	text := strings.Repeat("x", 1000)
	for i := range count {
		scan := &point.Scan{Device: "hall/b", Time: time.Now(), Samples: []point.Sample{
			{Point: "hall/b/n", Time: time.Now(), Value: point.IntOf(int64(i))}, {Point: "hall/b/text", Time: time.Now(), Value: point.TextOf(fmt.Sprint(i, text))},
		}}
		if err := n.source.Publish(scan); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 999 { // who listens here keeps up
			awaitTrue(t, "the child hears itself", func() bool { return local.times(fmt.Sprint("hall/b/n=", i)) == 1 })
		}
	}
	awaitTrue(t, "the child counts what it drops", func() bool { up, _ := n.child.Live(); return up.Sent.Dropped > 0 })
	n.way.Hold(link.Up, false)
	n.hears(t, "hall/a")
	if list := n.heard.twice(); len(list) > 0 {
		t.Errorf("heard twice: %v", list)
	}
}

func TestAChildHearsOfItsParentWhatBothAgreeOn(t *testing.T) {
	n := newTwoNodes(t, "", "uplink: {hear: [weather, secret]}\n", identity.Grants{Subscribe: []point.Pattern{"weather/**"}})
	tell := join(t, n.parent.running, n.parent.cfg, "forecast", identity.Grants{Publish: []point.Pattern{"**"}})
	c := join(t, n.child.running, n.child.cfg, "local", subscribes("**"))
	h := newHeard()
	if _, err := c.Subscribe(wire.Selection{}, h.take); err != nil {
		t.Fatal(err)
	}
	i := 0
	awaitTrue(t, "the child hears the weather", func() bool {
		i++
		publish(t, tell, "secret/x", i)
		publish(t, tell, "weather/mast", i)
		return h.times(fmt.Sprint("weather/mast/n=", i-1)) == 1
	})
	for what := range h.count {
		if !strings.HasPrefix(what, "weather/") {
			t.Errorf("the child hears %s", what)
		}
	}
	if n.heard.times("plant/weather/mast/n=1") != 0 {
		t.Error("what came down goes up again")
	}
}

func TestWhatMayNotGoUpDoesNot(t *testing.T) {
	n := newTwoNodes(t, "", "uplink: {allow: [\"subscribe hall/*/n\", \"subscribe hall/a\"]}\n", identity.Grants{})
	n.hears(t, "hall/a")
	for i := range 10 {
		publish(t, n.source, "yard", i)
		scan := &point.Scan{Device: "hall/b", Time: time.Now(), Samples: []point.Sample{
			{Point: "hall/b/n", Time: time.Now(), Value: point.IntOf(int64(i))}, {Point: "hall/b/secret", Time: time.Now(), Value: point.IntOf(int64(i))},
		}}
		if err := n.source.Publish(scan); err != nil {
			t.Fatal(err)
		}
	}
	awaitTrue(t, "the parent hears the last", func() bool { return n.heard.times("plant/hall/b/n=9") == 1 })
	if n.heard.times("plant/hall/b/secret=9")+n.heard.times("plant/yard/n=9") != 0 {
		t.Error("the parent hears what uplink.allow does not let it")
	}
}

// liarTap is the bus of a child that lies.
type liarTap struct{ say chan live.Message }

func (l liarTap) Publish(*live.Message) error { return nil }
func (l liarTap) Close()                      {}

func (l liarTap) Take(deliver func(live.Message)) (stop func(), lost func() int, err error) {
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case m := <-l.say:
				deliver(m)
			}
		}
	}()
	return func() { close(done) }, func() int { return 0 }, nil
}

func TestAttackAChildPublishesLiveMessagesOfOthers(t *testing.T) {
	n := newTwoNodes(t, "", "", identity.Grants{})
	n.hears(t, "hall/a")
	as := access(t, n.parent.cfg, "liar")
	if _, err := client.Do(wait(t), n.parent.Client, children.Add, client.NewChild{Name: "liar", Public: as.Key.Public(), Prefix: "liar"}.Arguments()); err != nil {
		t.Fatal(err)
	}
	conn, err := peer.DialParent(wait(t), peer.Way{Address: n.parent.BusAddr(), TLS: &tls.Config{RootCAs: as.CA, MinVersion: tls.VersionTLS13}}, as.Key, "@liar")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	tap := liarTap{make(chan live.Message)}
	// It puts nothing below its prefix, and says that its agents are those of another node.
	up := live.NewUp(live.UpConfig{
		Tap: func() (live.Tap, error) { return tap, nil }, Rules: func() live.Rules {
			return live.Rules{Grants: identity.Grants{Administer: true}, Self: "plant"}
		},
		Behind: func(string) bool { return false }, Below: func() []live.Withheld { return nil }, Turned: func() {}, Log: slog.New(slog.DiscardHandler),
	})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		up.Run(ctx, func(ctx context.Context, deliver func([]byte)) (live.Conn, error) { return conn.DialFlow(ctx, deliver) })
	}()
	defer func() { end(); <-ended }()
	awaitTrue(t, "the liar is asked", func() bool { return len(up.Status().Wanted) > 0 })
	told := make(chan agent.Message, 10)
	if _, err := n.watch.Messages("**", func(m agent.Message) { told <- m }); err != nil {
		t.Fatal(err)
	}
	scan := func(subject, device string, value int) live.Message {
		return live.Message{Subject: subject, Data: fmt.Appendf(nil, `{"device":%q,"time":"2026-01-02T03:04:05.000123Z","points":{"n":%d}}`, device, value)}
	}
	i := 0
	awaitTrue(t, "what the liar may say is heard", func() bool {
		i++
		for _, m := range []live.Message{
			scan("live.scan.plant.hall.a", "plant/hall/a", 666), // the other child's
			scan("live.scan.liar.a", "plant/hall/a", 666),       // under its own name, with another's inside
			{Subject: "msg.boiler.liar.order", Data: []byte("off")},
			scan("live.scan.liar.a", "liar/a", i),
		} {
			tap.say <- m
		}
		return n.heard.times(fmt.Sprint("liar/a/n=", i-1)) == 1
	})
	if n.heard.times("plant/hall/a/n=666") != 0 {
		t.Error("the liar speaks for the plant")
	}
	select {
	case m := <-told:
		t.Errorf("the liar sends %+v", m)
	default:
	}
	awaitTrue(t, "the parent's audit log has it", func() bool {
		return n.parent.hasTold("refused", "child:liar refused")
	})
	// A second key of its name, or its key under the name of another's connection, brings nothing.
	if other, err := peer.DialFlow(wait(t), peer.Way{Address: n.parent.BusAddr(), TLS: &tls.Config{RootCAs: as.CA, MinVersion: tls.VersionTLS13}}, as.Key, "@plant", func([]byte) {
		t.Error("the liar gets what the parent tells the plant")
	}); err == nil {
		_ = other.Send([]byte(`{"hello":true}`))
		other.Close()
	}
	n.hears(t, "hall/a")
}

// A node that lets its history be read and not its live values is reported as such at each ancestor that wants them,
// with what would let them go; and is not any more when it allows them.
func TestWhatANodeFarBelowWithholdsIsKnownAtTheTop(t *testing.T) {
	t.Parallel()
	r := newDeepRow(t, map[string]string{"leaf": "uplink: {allow: [\"read **\"]}\n"})
	watch := join(t, r.top().running, r.top().cfg, "watch", subscribes("**"))
	if _, err := watch.Subscribe(wire.Selection{Patterns: []point.Pattern{"mid/low/leaf/**"}}, newHeard().take); err != nil {
		t.Fatal(err)
	}
	var told []answer.LiveWithheld
	awaitTrue(t, "the top knows what the leaf withholds", func() bool {
		n, err := client.Do(wait(t), r.top().Client, nodes.Get, nodes.Name{Name: "mid"})
		if err != nil || n.Live == nil {
			return false
		}
		told = n.Live.Up.Withheld
		return len(told) > 0
	})
	for _, w := range told {
		if w.Node != "leaf" || w.Allow != "subscribe **" || w.Part || w.Place() != "mid/low/leaf" {
			t.Errorf("the top is told %+v of %s", w, w.Place())
		}
	}
	up, _ := r.leaf().Live()
	if len(up.Withheld) == 0 {
		t.Error("the leaf does not know what it withholds")
	}
}
