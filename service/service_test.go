package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/api/answer"
	"voltbus/catalog"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/ingest/admission"
	"voltbus/operation"
	"voltbus/operation/control"
	"voltbus/operation/documents"
	"voltbus/operation/history"
	"voltbus/operation/metering"
	"voltbus/operation/points"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/query"
	"voltbus/service"
	"voltbus/store/memory"
	"voltbus/wire"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// desk is a service over real parts: a catalogue, a registry, an admission and a store in memory.
type desk struct {
	*service.Service
	t        testing.TB
	catalog  *catalog.Catalog
	registry *registry.Agents
	taped    []point.Sample
	fails    error
	refused  []service.Refusal
}

// Record implements admission.Recorder: what it is given is on disk.
func (d *desk) Record(_ context.Context, samples []point.Sample) error {
	if d.fails == nil {
		d.taped = append(d.taped, samples...)
	}
	return d.fails
}

// Connections implements service.Bus.
func (*desk) Connections() ([]service.Connection, error) {
	return []service.Connection{{Agent: "boiler", Since: noon()}}, nil
}

// open returns a desk with the agents boiler, who has the grants, and admin.
func open(t testing.TB, grants identity.Grants) *desk {
	t.Helper()
	d := &desk{t: t}
	var err error
	if d.catalog, err = catalog.Open(t.Context(), t.TempDir(), noon); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.catalog.Close(); err != nil {
			t.Error(err)
		}
	})
	if d.registry, err = registry.OpenAgents(t.Context(), d.catalog, noon); err != nil {
		t.Fatal(err)
	}
	d.add("boiler", grants)
	d.add("admin", identity.Grants{Administer: true})
	known := []point.Info{
		{Path: "site/ahu/temp", Device: "site/ahu", Kind: point.Float, Interval: time.Minute},
		{Path: "site/ahu/fan", Device: "site/ahu", Kind: point.Bool},
		{Path: "calc/sum", Kind: point.Float},
	}
	if err := d.catalog.Upsert(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	room, err := presence.Open(t.Context(), d.catalog, noon)
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New(memory.Options{})
	t.Cleanup(func() { _ = st.Close() })
	block := &point.Block{Origin: "test", Sequence: 1, Created: noon(), Points: []point.Path{"site/ahu/temp", "site/ahu/fan", "calc/sum"}}
	for i := range block.Points {
		block.Append(uint32(i), &point.Sample{Time: noon().Add(-time.Minute), Value: point.FloatOf(1)})
	}
	if _, err := st.Append(t.Context(), []*point.Block{block}); err != nil {
		t.Fatal(err)
	}
	d.Service = service.New(service.Config{
		Node: "test", Registry: d.registry, Presence: room, Bus: d, Admission: admission.New(d.catalog, d, 5),
		Repeats: d.catalog.Repeats(0), Operations: d.operations(query.New(st, d.catalog, query.DefaultLimits(), noon)),
		Refused: func(r service.Refusal) { d.refused = append(d.refused, r) },
		Log:     slog.New(slog.DiscardHandler), Now: noon,
	})
	return d
}

// operations returns those that agents may ask for.
func (d *desk) operations(engine history.Engine) *operation.Table {
	return operation.NewTable(func(context.Context, operation.Entry) {},
		(&documents.Part{Documents: document.New(d.catalog, noon, nil), Agents: d.registry}).Operations(),
		(&points.Part{Points: d.catalog}).Operations(), (&control.Part{Now: noon}).Operations(), (&history.Part{Engine: engine, Now: noon}).Operations(),
		(&metering.Part{Now: noon}).Operations())
}

func (d *desk) add(name string, grants identity.Grants) {
	d.t.Helper()
	key, err := identity.OpenKey(filepath.Join(d.t.TempDir(), name+".nk"))
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.registry.Add(d.t.Context(), name, key.Public(), grants); err != nil {
		d.t.Fatal(err)
	}
}

// ask sends a request with arguments as JSON, and returns result or failure.
func (d *desk) ask(from, method, kwargs string) (string, *wire.Failure) {
	d.t.Helper()
	body := ""
	if kwargs != "" {
		body = `{"kwargs":` + kwargs + `}`
	}
	var reply wire.Reply
	out := d.Answer(d.t.Context(), service.Call{From: from, Method: method, Body: []byte(body)})
	if err := json.Unmarshal(out, &reply); err != nil {
		d.t.Fatalf("the reply %s: %v", out, err)
	}
	return string(reply.Result), reply.Error
}

func grants() identity.Grants {
	return identity.Grants{Read: []point.Pattern{"site"}, Record: []point.Pattern{"calc/**", "site"}}
}

func TestWrongRequestsSayWhatToDo(t *testing.T) {
	d := open(t, grants())
	tests := []struct{ name, from, method, kwargs, kind, words string }{
		{"a method that does not exist", "boiler", "boil", "", "not-found", "hello"},
		{"an agent that is not registered", "ghost", "ping", "", "not-found", "no agent"},
		{"an argument that does not exist", "boiler", "range", `{"patern":"x"}`, "invalid", "pattern"},
		{"an argument of a wrong type", "boiler", "range", `{"limit":"x"}`, "invalid", "a number"},
		{"an argument where there are none", "boiler", "ping", `{"x":1}`, "invalid", "no arguments"},
		{"no points", "boiler", "range", `{}`, "invalid", "pattern"},
		{"points and a pattern", "boiler", "latest", `{"points":["site/a"],"pattern":"x"}`, "invalid", "not both"},
		{"a time that is none", "boiler", "range", `{"pattern":"site","from":"yesterday"}`, "invalid", "is not a time"},
		{"a step that is none", "boiler", "aggregate", `{"pattern":"site","step":"x"}`, "invalid", "1h"},
		{"a page of a million", "boiler", "points", `{"limit":1000000}`, "invalid", "10000"},
		{"no samples", "boiler", "record", `{}`, "invalid", "must be a list"},
		{"a point that may not be read", "boiler", "latest", `{"points":["calc/sum"]}`, "refused", "read calc/sum"},
		{"a point that may not be recorded", "boiler", "record", `{"samples":[{"point":"x/y","value":1}]}`, "refused", "record x/y"},
		{"a point of a device", "boiler", "record", `{"samples":[{"point":"site/ahu/temp","value":1}]}`, "refused", "problems"},
		{"a refusal that says nothing", "boiler", "refused", `{"method":"x"}`, "invalid", "missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			result, failure := d.ask(tt.from, tt.method, tt.kwargs)
			if failure == nil {
				t.Fatalf("gives %s", result)
			}
			if failure.Kind != tt.kind || !strings.Contains(failure.Message, tt.words) {
				t.Errorf("gives %+v", failure)
			}
		})
	}
	if len(d.taped) != 0 {
		t.Errorf("%d samples were recorded", len(d.taped))
	}
}

func TestAPatternLeavesOutWhatMayNotBeRead(t *testing.T) {
	d := open(t, grants())
	var got answer.Latest
	for agent, want := range map[string]int{"boiler": 2, "admin": 3} {
		result, failure := d.ask(agent, "latest", `{"pattern":"**"}`)
		if failure != nil {
			t.Fatal(failure)
		}
		if err := json.Unmarshal([]byte(result), &got); err != nil || len(got.Samples) != want {
			t.Errorf("%s gets %s, %v", agent, result, err)
		}
	}
	var page answer.Points
	result, _ := d.ask("boiler", "points", "")
	if err := json.Unmarshal([]byte(result), &page); err != nil || len(page.Points) != 2 {
		t.Errorf("points are %s, %v", result, err)
	}
}

func TestSamplesWithAKeyAreRecordedOnce(t *testing.T) {
	d := open(t, grants())
	d.fails = fault.E("recorder", fault.Unavailable, "", errors.New("the disk is full"))
	const samples = `{"samples":[{"point":"calc/new","value":1},{"point":"calc/sum","value":2}],"key":"k"}`
	if _, failure := d.ask("boiler", "record", samples); failure == nil || failure.Kind != "unavailable" {
		t.Errorf("a full disk gives %+v", failure)
	}
	d.fails = nil
	for range 3 {
		if result, failure := d.ask("boiler", "record", samples); result != `{"accepted":2}` {
			t.Errorf("gives %s, %+v", result, failure)
		}
	}
	if len(d.taped) != 2 {
		t.Errorf("%d were recorded", len(d.taped))
	}
}

func TestTheAnswerToSamplesWithAKeyNeedNotBeKeptFirst(t *testing.T) {
	d := open(t, grants())
	body := []byte(`{"kwargs":{"samples":[{"point":"calc/sum","value":2}],"key":"k"}}`)
	var later []func()
	out := d.Answer(t.Context(), service.Call{From: "boiler", Method: "record", Body: body, Later: func(work func()) { later = append(later, work) }})
	if string(out) != `{"result":{"accepted":1}}` || len(later) != 1 || len(d.taped) != 1 {
		t.Fatalf("gives %s with %d works to do and %d samples", out, len(later), len(d.taped))
	}
	again := make(chan []byte)
	go func() { again <- d.Answer(t.Context(), service.Call{From: "boiler", Method: "record", Body: body}) }()
	for _, work := range later {
		work()
	}
	if second := <-again; string(second) != string(out) || len(d.taped) != 1 {
		t.Errorf("asked again meanwhile it gives %s and has recorded %d", second, len(d.taped))
	}
}

func TestMoreSamplesThanMayBeAreRefused(t *testing.T) {
	d := open(t, grants())
	list := strings.TrimSuffix(strings.Repeat(`{"point":"calc/sum","value":2},`, service.MaxSamples+1), ",")
	if _, failure := d.ask("boiler", "record", `{"samples":[`+list+`]}`); failure == nil || failure.Kind != "invalid" || !strings.Contains(failure.Message, "100000") {
		t.Errorf("gives %+v", failure)
	}
	if len(d.taped) != 0 {
		t.Errorf("%d were recorded", len(d.taped))
	}
}

func TestHelloTellsWhoOneIsAndWhoMayCall(t *testing.T) {
	d := open(t, grants())
	result, failure := d.ask("boiler", "hello", `{"sdk":"x","pid":1,"host":"h","version":"2"}`)
	if failure != nil {
		t.Fatal(failure)
	}
	var h answer.Hello
	if err := json.Unmarshal([]byte(result), &h); err != nil || h.Node != "test" || h.Name != "boiler" || len(h.Standing.Grants.Read) != 1 || !h.Standing.Callers["admin"].Administer {
		t.Errorf("hello is %s, %v", result, err)
	}
	peers, err := d.Peers()
	if err != nil || len(peers) != 2 || peers[0].Online || !peers[1].Online || peers[1].Version != "2" || peers[1].Status != "unknown" {
		t.Errorf("peers are %+v, %v", peers, err)
	}
}

func TestRefusalsOfAgentsAreTold(t *testing.T) {
	d := open(t, grants())
	if _, failure := d.ask("boiler", "refused", `{"method":"m","from":"f","missing":"call boiler:m","args":[1]}`); failure != nil {
		t.Fatal(failure)
	}
	if len(d.refused) != 1 || d.refused[0].Callee != "boiler" || d.refused[0].Caller != "f" || string(d.refused[0].Args) != "[1]" {
		t.Errorf("told were %+v", d.refused)
	}
}

func TestARefusedRecordListsNoPoints(t *testing.T) {
	d := open(t, grants())
	if _, failure := d.ask("boiler", "record", `{"samples":[{"point":"calc/new","value":1},{"point":"site/ahu/temp","value":1}]}`); failure == nil {
		t.Fatal("a point of a device is recorded")
	}
	result, _ := d.ask("admin", "points", `{"search":"new"}`)
	var page answer.Points
	if err := json.Unmarshal([]byte(result), &page); err != nil || len(page.Points) != 0 {
		t.Errorf("points are %s, %v", result, err)
	}
}

func TestWhatARemovedAgentSaidOfItselfIsForgotten(t *testing.T) {
	d := open(t, grants())
	if _, failure := d.ask("boiler", "hello", `{"sdk":"x","pid":1,"host":"h","version":"2"}`); failure != nil {
		t.Fatal(failure)
	}
	d.Forget("boiler")
	peers, err := d.Peers()
	if err != nil || len(peers) != 2 || peers[1].Name != "boiler" || peers[1].Version != "" || peers[1].SDK != "" {
		t.Errorf("peers are %+v, %v", peers, err)
	}
}

func TestWhatTheNodeRefusesIsToldWithWhatIsMissing(t *testing.T) {
	d := open(t, grants())
	_, failure := d.ask("boiler", "record", `{"samples":[{"point":"billing/x","time":"2026-03-01T12:00:00Z","value":1}]}`)
	if failure == nil || failure.Kind != "refused" {
		t.Fatalf("the answer is %+v, want refused", failure)
	}
	want := service.Refusal{Callee: "node", Caller: "boiler", Method: "record", Missing: "record billing/x"}
	if len(d.refused) != 1 || !reflect.DeepEqual(d.refused[0], want) {
		t.Errorf("told were %+v, want %+v", d.refused, want)
	}
}

// What an agent asked for may wait for its turn while the agent is shut out.
func TestAttackWhatAnAgentThatWasShutOutHasAskedForIsNotDone(t *testing.T) {
	d := open(t, grants())
	if _, err := d.registry.Revoke(t.Context(), "boiler"); err != nil {
		t.Fatal(err)
	}
	for method, kwargs := range map[string]string{
		"record": `{"samples":[{"point":"calc/x","time":"2026-03-01T12:00:00Z","value":1}]}`,
		"latest": `{"points":["site/ahu/temp"]}`,
		"points": "",
		"hello":  `{"client":"test"}`,
	} {
		if result, failure := d.ask("boiler", method, kwargs); failure == nil || failure.Kind != "refused" {
			t.Errorf("%s gives %s %+v", method, result, failure)
		}
	}
	if len(d.taped) != 0 {
		t.Errorf("recorded %v", d.taped)
	}
}

// live is what devices report in a test.
type live struct {
	mu      sync.Mutex
	deliver map[int]func(json.RawMessage)
	sel     map[int]wire.Selection
}

// Subscribe implements service.Live.
func (l *live) Subscribe(sel wire.Selection, deliver func(json.RawMessage)) (func(), error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.sel)
	l.deliver[n], l.sel[n] = deliver, sel
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.deliver, n)
	}, nil
}

func (l *live) listening() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.deliver)
}

func (l *live) report(device, name string, value int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, deliver := range l.deliver {
		sel := l.sel[n]
		data, err := sel.FilterScan(fmt.Appendf(nil, `{"device":%q,"time":"2026-03-01T12:00:00Z","points":{%q:%d}}`, device, name, value), point.Path(device))
		if err == nil && data != nil {
			deliver(data)
		}
	}
}

func TestWhoListensFromAfarHearsWhatHeMayAndInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &live{deliver: map[int]func(json.RawMessage){}, sel: map[int]wire.Selection{}}
		s := service.New(service.Config{Live: l, Log: slog.New(slog.DiscardHandler), Now: noon})
		defer s.Close()
		ask := func(who, cursor string, g identity.Grants) (got struct {
			Cursor   string
			Messages []struct{ Points map[string]int }
			Dropped  int
			Begun    bool
		}, err error,
		) {
			t.Helper()
			body := fmt.Appendf(nil, `{"kwargs":{"pattern":"site/**","cursor":%q}}`, cursor)
			result, err := s.AnswerRemote(t.Context(), &service.RemoteCaller{Neighbour: "@campus", Requester: who, Grants: g, Role: identity.Viewer}, "listen", body)
			if err == nil {
				err = json.Unmarshal(result, &got)
			}
			return got, err
		}
		may := identity.Grants{Subscribe: []point.Pattern{"site/ahu"}}
		begun, err := ask("@campus", "", may)
		if err != nil || !begun.Begun || len(begun.Messages) > 0 {
			t.Fatalf("it begins with %+v, %v", begun, err)
		}
		l.report("site/ahu", "temp", 1)
		l.report("site/boiler", "temp", 2)
		l.report("site/ahu", "temp", 3)
		got, err := ask("@campus", begun.Cursor, may)
		if err != nil || len(got.Messages) != 2 || got.Messages[0].Points["temp"] != 1 || got.Messages[1].Points["temp"] != 3 {
			t.Errorf("it hears %+v, %v", got, err)
		}
		if again, _ := ask("@campus", begun.Cursor, may); len(again.Messages) != 2 {
			t.Errorf("an answer that was lost is not given again: %+v", again)
		}
		if other, _ := ask("@region", got.Cursor, may); !other.Begun || len(other.Messages) > 0 {
			t.Errorf("another one goes on with the cursor: %+v", other)
		}
		go func() {
			<-time.After(3 * time.Second)
			l.report("site/ahu", "temp", 4)
		}()
		began := time.Now()
		late, err := ask("@campus", got.Cursor, may)
		if err != nil || len(late.Messages) != 1 || time.Since(began) != 3*time.Second {
			t.Errorf("it waits for %+v, %v", late, err)
		}
		if none, err := ask("@campus", late.Cursor, identity.Grants{}); err != nil || len(none.Messages) > 0 {
			t.Errorf("without anything new it says %+v, %v", none, err)
		}
		l.report("site/ahu", "temp", 5)
		if none, _ := ask("@campus", late.Cursor, may); len(none.Messages) > 0 {
			t.Errorf("what came when it might not be heard is heard: %+v", none)
		}
		for i := range 5000 {
			l.report("site/ahu", "temp", i)
		}
		much, err := ask("@campus", late.Cursor, may)
		if err != nil || len(much.Messages) != 4096 || much.Dropped != 5000-4096 || much.Messages[4095].Points["temp"] != 4999 {
			t.Errorf("of 5,000 it hears %d and %d were dropped, %v", len(much.Messages), much.Dropped, err)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if n := l.listening(); n != 0 {
			t.Errorf("%d still listen after nobody asked for two minutes", n)
		}
		for i := range 33 {
			if _, err = ask("@campus", "", may); (err != nil) != (i == 32) {
				t.Fatalf("the %dth that listens: %v", i+1, err)
			}
		}
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("too many: %v", err)
		}
	})
}
