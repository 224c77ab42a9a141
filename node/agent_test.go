package node_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	web "voltbus/api/client"
	"voltbus/bus/client"
	"voltbus/config"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	agentsop "voltbus/operation/agents"
	"voltbus/operation/alerts"
	historyop "voltbus/operation/history"
	"voltbus/operation/points"
	"voltbus/point"
	"voltbus/testing/link"
	"voltbus/wire"
)

// wait bounds what a test waits for; it ends only tests that fail.
func wait(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// access is how an agent comes to a node: all but the address.
func access(t testing.TB, cfg *config.Config, name string) client.Options {
	t.Helper()
	pem, err := os.ReadFile(filepath.Join(cfg.Node.Data, "tls", "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	ca := x509.NewCertPool()
	ca.AppendCertsFromPEM(pem)
	key, err := identity.OpenKey(filepath.Join(filepath.Dir(cfg.Node.Data), name+".nk"))
	if err != nil {
		t.Fatal(err)
	}
	return client.Options{CA: ca, Key: key, Name: name, Version: "1.2"}
}

// join registers an agent and connects it until the test ends.
func join(t testing.TB, r *running, cfg *config.Config, name string, grants identity.Grants) *client.Client {
	t.Helper()
	o := access(t, cfg, name)
	if _, err := r.Agents().Add(wait(t), name, o.Key.Public(), grants); err != nil {
		t.Fatal(err)
	}
	o.Address = r.BusAddr()
	c, err := client.Connect(wait(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func calls(agent, method string) identity.Grants {
	return identity.Grants{Call: []identity.CallGrant{{Agent: agent, Method: method}}}
}

// refusedFor reports whether an error names the capability that is missing.
func refusedFor(t testing.TB, err error, capability string) {
	t.Helper()
	if !fault.Is(err, fault.Refused) || identity.MissingOf(err) != capability {
		t.Errorf("gives %v (%v), missing %q; want %q", err, fault.KindOf(err), identity.MissingOf(err), capability)
	}
}

var errRaised = errors.New("too hot")

// offerAll offers methods that go well, fail, panic, refuse, and never end.
func offerAll(t testing.TB, c *client.Client) {
	t.Helper()
	value := []wire.Param{{Name: "device", Kind: wire.EitherParam}, {Name: "limit", Kind: wire.EitherParam, Default: json.RawMessage("15")}}
	for _, m := range []client.Method{
		{Name: "limit", Doc: "Set a limit.", Params: value, Do: func(_ context.Context, r *client.Request) (any, error) {
			var device string
			var limit float64
			if err := errors.Join(r.Arg(0, &device), r.Arg(1, &limit)); err != nil {
				return nil, err
			}
			return fmt.Sprintf("%s %s %v", r.From, device, limit), nil
		}},
		{Name: "tune", Needs: "tune", Do: func(context.Context, *client.Request) (any, error) { return "tuned", nil }},
		{Name: "fail", Do: func(context.Context, *client.Request) (any, error) { return nil, errRaised }},
		{Name: "absent", Do: func(context.Context, *client.Request) (any, error) {
			return nil, fault.E("boiler", fault.NotFound, "valve", errRaised)
		}},
		{Name: "panic", Do: func(context.Context, *client.Request) (any, error) { panic("burst") }},
		{Name: "nan", Do: func(context.Context, *client.Request) (any, error) { return math.NaN(), nil }},
		{Name: "sleep", Do: func(ctx context.Context, _ *client.Request) (any, error) { <-ctx.Done(); return nil, ctx.Err() }},
	} {
		if err := c.Handle(m); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAgentsCallEachOther(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "platform.boiler", identity.Grants{}))
	bounds := identity.Constraints{"device": {Pattern: "campus/b1/**"}, "limit": {Min: new(10.0), Max: new(20.0)}}
	bound := join(t, r, cfg, "bound", identity.Grants{Call: []identity.CallGrant{{Agent: "platform.boiler", Method: "limit", Where: bounds}}})
	all := calls("platform.boiler", "")
	all.Hold = []identity.CapabilityGrant{{Name: "tune"}}
	free := join(t, r, cfg, "free", all)
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var got string
	tests := []struct {
		name   string
		caller *client.Client
		slow   bool
		method string
		args   []any
		kind   fault.Kind
		words  string
	}{
		{"by place", free, false, "limit", []any{"a", 3}, 0, "free a 3"},
		{"with a default", free, false, "limit", []any{"a"}, 0, "free a 15"},
		{"within the bounds", bound, false, "limit", []any{"campus/b1/x", 12}, 0, "bound campus/b1/x 12"},
		{"above the bounds", bound, false, "limit", []any{"campus/b1/x", 21}, fault.Refused, "from 10 to 20"},
		{"elsewhere", bound, false, "limit", []any{"campus/b2/x", 12}, fault.Refused, "campus/b1/**"},
		{"a bound argument left out", bound, false, "limit", []any{"campus/b1/x"}, fault.Refused, "must be given"},
		{"a method that is not granted", bound, false, "tune", nil, fault.Refused, "call platform.boiler:tune"},
		{"a capability that is held", free, false, "tune", nil, 0, "tuned"},
		{"a wrong type", free, false, "limit", []any{"a", "warm"}, fault.Invalid, "limit"},
		{"an argument that JSON cannot write", free, false, "limit", []any{"a", math.NaN()}, fault.Invalid, "JSON"},
		{"a missing argument", free, false, "limit", nil, fault.Invalid, "device"},
		{"no such method", free, false, "boil", nil, fault.NotFound, "inspect"},
		{"a fault keeps its kind", free, false, "absent", nil, fault.NotFound, "too hot"},
		{"too slow", free, true, "sleep", nil, fault.Timeout, "in time"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := wait(t)
			if tt.slow {
				ctx = short
			}
			err := tt.caller.Call(ctx, "platform.boiler", tt.method, &got, tt.args...)
			switch {
			case tt.kind == 0 && (err != nil || got != tt.words):
				t.Errorf("gives %q, %v", got, err)
			case tt.kind != 0 && (!fault.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.words)):
				t.Errorf("gives %v, %v", fault.KindOf(err), err)
			}
		})
	}
}

func TestWhatAMethodRaisesComesBack(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	offerAll(t, join(t, r, cfg, "boiler", identity.Grants{}))
	free := join(t, r, cfg, "free", calls("boiler", ""))
	tracer := join(t, r, cfg, "tracer", identity.Grants{Administer: true})
	for method, words := range map[string]string{"fail": "too hot", "panic": "burst", "nan": "JSON"} {
		for _, c := range []*client.Client{free, tracer} {
			err := c.Call(wait(t), "boiler", method, nil)
			remote, ok := errors.AsType[*client.RemoteError](err)
			if !ok || !strings.Contains(remote.Message, words) || remote.Agent != "boiler" || remote.Type == "" {
				t.Errorf("%s gives %v", method, err)
			}
			if ok && (remote.Trace != "") != (c == tracer && method == "panic") {
				t.Errorf("%s gives %s the trace %q", method, c.Name(), remote.Trace)
			}
		}
	}
	refusedFor(t, free.Call(wait(t), "boiler", "tune", nil), "hold tune")
	var inspected []wire.Method
	if err := free.Call(wait(t), "boiler", "inspect", &inspected); err != nil || len(inspected) != 9 {
		t.Errorf("inspect gives %+v, %v", inspected, err)
	}
}

func TestAnAgentThatIsNotThereIsUnreachableAtOnce(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	c := join(t, r, cfg, "caller", calls("ghost", ""))
	if err := c.Call(wait(t), "ghost", "ping", nil); !fault.Is(err, fault.Unreachable) {
		t.Errorf("gives %v", err)
	}
	refusedFor(t, c.Call(wait(t), "boiler", "ping", nil), "call boiler:ping")
}

func TestWhatIsNotGrantedIsRefusedByName(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	own := []point.Pattern{"own/**"}
	c := join(t, r, cfg, "agent", identity.Grants{Publish: own, Subscribe: own, Record: own, Read: own})
	scan := func(device point.Path) *point.Scan { return &point.Scan{Device: device, Time: time.Now()} }
	refusedFor(t, c.Publish(scan("site/ahu")), "publish site/ahu")
	refusedFor(t, c.Send("site/note", 7, nil), "publish site/note")
	_, err := c.Subscribe(wire.Selection{Patterns: []point.Pattern{"site/**"}}, func([]point.Sample) {})
	refusedFor(t, err, "subscribe site/**")
	_, err = c.Subscribe(client.PrefixSelection("sit"), func([]point.Sample) {})
	refusedFor(t, err, "subscribe **")
	_, err = c.Messages("site/**", func(client.Message) {})
	refusedFor(t, err, "subscribe site/**")
	sample := point.Sample{Point: "site/x", Time: time.Now(), Value: point.FloatOf(1)}
	refusedFor(t, c.Record(wait(t), []point.Sample{sample}, ""), "record site/x")
	_, err = client.Do(wait(t), c, historyop.Latest, newest("site/x"))
	refusedFor(t, err, "read site/x")
	for range 3 { // and what is granted goes on
		if err := errors.Join(c.Publish(scan("own/x")), c.Send("own/note", 7, nil), c.Health("good", nil, 0)); err != nil {
			t.Error(err)
		}
	}
}

func TestSamplesAndMessagesReachWhoListens(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	from := join(t, r, cfg, "from", identity.Grants{Publish: []point.Pattern{"calc/**"}})
	to := join(t, r, cfg, "to", identity.Grants{Subscribe: []point.Pattern{"calc"}})
	samples, notes := make(chan []point.Sample, 10), make(chan client.Message, 10)
	_, err := to.Subscribe(wire.Selection{Patterns: []point.Pattern{"calc/*/temp"}}, func(s []point.Sample) { samples <- s })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Subscribe(client.PrefixSelection("calc/ah"), func(s []point.Sample) { samples <- s }); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Messages("calc/**", func(m client.Message) { notes <- m }); err != nil {
		t.Fatal(err)
	}
	at := time.Now().UTC().Truncate(time.Microsecond)
	scan := &point.Scan{Device: "calc/ahu", Time: at, Samples: []point.Sample{
		{Point: "calc/ahu/temp", Time: at, Value: point.FloatOf(math.Inf(1)), Quality: point.Uncertain},
		{Point: "calc/ahu/mode", Time: at, Value: point.TextOf("heat")},
	}}
	if err := from.Publish(scan); err != nil {
		t.Fatal(err)
	}
	if err := from.Send("calc/note", map[string]int{"n": 1}, client.Header{"Trace": {"x"}}); err != nil {
		t.Fatal(err)
	}
	byPattern, byPrefix := <-samples, <-samples
	if len(byPattern) > len(byPrefix) {
		byPattern, byPrefix = byPrefix, byPattern
	}
	slices.SortFunc(byPrefix, func(a, b point.Sample) int { return strings.Compare(string(b.Point), string(a.Point)) })
	if !slices.Equal(byPattern, scan.Samples[:1]) || !slices.Equal(byPrefix, scan.Samples) {
		t.Errorf("received %+v and %+v", byPattern, byPrefix)
	}
	m := <-notes
	if m.From != "from" || m.Topic != "calc/note" || string(m.Data) != `{"n":1}` || m.Header["Trace"][0] != "x" {
		t.Errorf("received %+v", m)
	}
}

func TestASecondConnectionOfANameIsAConflict(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	first := join(t, r, cfg, "boiler", identity.Grants{})
	o := access(t, cfg, "boiler")
	o.Address = r.BusAddr()
	if _, err := client.Connect(wait(t), o); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "connected already") {
		t.Errorf("the second gives %v", err)
	}
	if err := first.Call(wait(t), wire.NodeName, "peers", nil); err != nil {
		t.Errorf("the first is disturbed: %v", err)
	}
	stranger := access(t, cfg, "stranger")
	stranger.Address = r.BusAddr()
	if _, err := client.Connect(wait(t), stranger); !fault.Is(err, fault.Refused) {
		t.Errorf("a stranger gives %v", err)
	}
}

// newest asks for the newest samples of points.
func newest(paths ...string) historyop.Now {
	return historyop.Now{Selection: historyop.Selection{Points: paths}}
}

func peersOf(t testing.TB, c *client.Client) (list []answer.Peer, err error) {
	t.Helper()
	return list, c.Call(wait(t), wire.NodeName, "peers", &list)
}

func TestRecordKeepsAllOrNothingOnce(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere+zones)
	r := run(t, cfg)
	c := join(t, r, cfg, "calc", identity.Grants{Record: []point.Pattern{"calc", "site"}, Read: []point.Pattern{"calc"}})
	at := time.Now().Add(-time.Minute).UTC().Truncate(time.Microsecond)
	good := []point.Sample{
		{Point: "calc/float", Time: at, Value: point.FloatOf(21)},
		{Point: "calc/int", Time: at, Value: point.IntOf(math.MaxInt64)},
		{Point: "calc/text", Time: at, Value: point.TextOf("a\nb")},
		{Point: "calc/none", Time: at, Quality: point.BadSensor},
	}
	for range 3 {
		if err := c.Record(wait(t), good, "once"); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Record(wait(t), good[:1], "once"); !fault.Is(err, fault.Conflict) {
		t.Errorf("other samples with the key give %v", err)
	}
	mixed := []point.Sample{good[0], {Point: "calc/nan", Time: at, Value: point.FloatOf(math.NaN())}, {Point: "calc/\x01", Time: at}, {Point: "site/meter/power", Time: at, Value: point.FloatOf(1)}}
	err := c.Record(wait(t), mixed, "")
	failure, ok := errors.AsType[*wire.Failure](err)
	if !fault.Is(err, fault.Invalid) || !ok || len(failure.Problems) < 2 || failure.Problems[0].Index != 1 || !strings.Contains(failure.Problems[0].Message, "NaN") {
		t.Errorf("a wrong sample gives %v, %+v", err, failure)
	}
	err = c.Record(wait(t), []point.Sample{good[0], {Point: "site/meter/power", Time: at, Value: point.FloatOf(1)}}, "")
	failure, ok = errors.AsType[*wire.Failure](err)
	if err == nil || !ok || len(failure.Problems) != 1 || failure.Problems[0].Index != 1 {
		t.Errorf("a point of a device gives %v, %+v", err, failure)
	}
	eventually(t, "the history has them", func() bool {
		l, err := client.Do(wait(t), c, historyop.Latest, historyop.Now{Selection: historyop.Selection{Pattern: new("calc")}})
		return err == nil && len(l.Samples) == len(good)
	})
	l, err := client.Do(wait(t), c, historyop.Latest, newest("calc/float", "calc/int", "calc/none", "calc/text"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"calc/float": "21 float good", "calc/int": "9223372036854775807 int good", "calc/none": "null none bad(sensor)", "calc/text": `"a\nb" text good`}
	got := map[string]string{}
	for _, s := range l.Samples {
		got[s.Point] = fmt.Sprintf("%s %s %s", s.Value, s.Kind, s.Quality)
	}
	if !maps.Equal(want, got) {
		t.Errorf("the history has %v", got)
	}
	span := historyop.Span{Selection: historyop.Selection{Pattern: new("**")}, From: operation.Time(at.Format(time.RFC3339Nano))}
	rg, err := client.Do(wait(t), c, historyop.Range, historyop.Stretch{Span: span})
	if err != nil || len(rg.Series) != len(good) || len(rg.Series[0].Samples) != 1 {
		t.Errorf("%d series, %v", len(rg.Series), err)
	}
	if p, err := client.Do(wait(t), c, points.List, points.Filter{}); err != nil || len(p.Points) != len(good) {
		t.Errorf("%d points, %v", len(p.Points), err)
	}
	span = historyop.Span{Selection: historyop.Selection{Points: []string{"calc/float"}}}
	if a, err := client.Do(wait(t), c, historyop.Aggregate, historyop.Steps{Span: span, Step: "1h", Functions: []string{"p50"}}); err != nil || len(a.Series) != 1 || a.Series[0].Present != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// degraded returns the names of the parts that are not well.
func degraded(t *testing.T, r *running) string {
	t.Helper()
	h, err := r.Client.Health(wait(t))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range h.Parts {
		if p.Status != "ok" {
			names = append(names, p.Name)
		}
	}
	return strings.Join(names, " ")
}

func TestPeersAndAlertsAreShown(t *testing.T) {
	cfg := load(t, t.TempDir(), listenAnywhere)
	r := run(t, cfg)
	c := join(t, r, cfg, "boiler", identity.Grants{})
	if err := errors.Join(c.Health("bad", "no flow", time.Minute), c.Alert("flow/low", "critical", "no flow"), c.Alert("b", "info", "x")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node knows both alerts", func() bool {
		a, err := web.Do(wait(t), r.Client, alerts.List, struct{}{})
		return err == nil && len(a.Alerts) == 2 && a.Alerts[0].Key == "flow/low"
	})
	eventually(t, "the node knows the health", func() bool { // it comes on a path of its own
		peers, err := peersOf(t, c)
		return err == nil && len(peers) == 1 && peers[0].Status != "unknown"
	})
	peers, err := peersOf(t, c)
	if err != nil || len(peers) != 1 || !peers[0].Online || peers[0].Status != "bad" || string(peers[0].Context) != `"no flow"` || peers[0].Version != "1.2" {
		t.Errorf("peers are %+v, %v", peers, err)
	}
	if got := degraded(t, r); got != "agents alerts" { // neither what only informs, nor anything else
		t.Errorf("degraded are %q", got)
	}
	if err := web.Tell(wait(t), r.Client, alerts.Clear, alerts.Alert{Agent: "boiler", Key: "flow/low"}); !fault.Is(err, fault.Conflict) {
		t.Errorf("clearing what lasts gives %v", err)
	}
	if err := errors.Join(c.ClearAlert("flow/low"), c.ClearAlert("b")); err != nil {
		t.Error(err)
	}
	eventually(t, "both are over", func() bool {
		a, err := web.Do(wait(t), r.Client, alerts.List, struct{}{})
		return err == nil && len(a.Alerts) == 0
	})
	c.Close()
	eventually(t, "the agent is offline", func() bool {
		p, err := web.Do(wait(t), r.Client, agentsop.Peers, struct{}{})
		return err == nil && len(p.Peers) == 1 && !p.Peers[0].Online && p.Peers[0].Status == "offline"
	})
}

func TestFiftyAgentsReturnWhenTheNodeDoes(t *testing.T) {
	const agents = 50
	cfg := load(t, t.TempDir(), listenAnywhere)
	first := run(t, cfg)
	way := link.New(t) // its address stays
	way.Lead(first.BusAddr())
	heard := make(chan string, 100*agents)
	var mu sync.Mutex
	back := map[string]bool{}
	returned := make(chan struct{}, agents)
	for i := range agents {
		name := fmt.Sprintf("a%d", i)
		o := access(t, cfg, name)
		o.Address = way.Addr()
		o.Report = func(err error) {
			mu.Lock()
			defer mu.Unlock()
			if err == nil && !back[name] {
				back[name] = true
				returned <- struct{}{}
			}
		}
		if _, err := first.Agents().Add(wait(t), name, o.Key.Public(), identity.Grants{Subscribe: []point.Pattern{"news"}, Publish: []point.Pattern{"news"}}); err != nil {
			t.Fatal(err)
		}
		c, err := client.Connect(wait(t), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		if _, err := c.Messages("news", func(m client.Message) { heard <- name }); err != nil {
			t.Fatal(err)
		}
	}
	first.halt()
	second := run(t, cfg)
	way.Lead(second.BusAddr())
	for range agents {
		select {
		case <-returned:
		case <-wait(t).Done():
			t.Fatal("not all agents returned")
		}
	}
	sender := join(t, second, cfg, "sender", identity.Grants{Publish: []point.Pattern{"news"}})
	names := map[string]bool{}
	eventually(t, "all agents hear the news again", func() bool { // who is back has asked to hear them, and the server may have to read that yet
		if err := sender.Send("news", "hello", nil); err != nil {
			t.Fatal(err)
		}
		for len(heard) > 0 {
			names[<-heard] = true
		}
		return len(names) == agents
	})
}
