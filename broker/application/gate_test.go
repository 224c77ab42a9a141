package application_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/broker/application"
	"voltbus/broker/setting"
	"voltbus/point"
	"voltbus/protocol/mqtt/session"
	"voltbus/wire"
)

// plant is what applications command: points by path.
type plant struct {
	points map[point.Path]float64
	orders []application.Order
	away   error
}

func (p *plant) Set(_ context.Context, o *application.Order) (application.Outcome, error) {
	if p.away != nil {
		return application.Outcome{}, p.away
	}
	p.orders = append(p.orders, *o)
	p.points[o.Point] = o.Value
	return application.Outcome{Status: "accepted", Output: "held"}, nil
}

func (p *plant) Release(_ context.Context, o *application.Order) error {
	delete(p.points, o.Point)
	return p.away
}

func (p *plant) Present(_ context.Context, o *application.Order) (float64, error) {
	return p.points[o.Point], p.away
}

// blocks is a log.
type blocks struct{ list [][]byte }

func (b *blocks) Bounds(context.Context) (first, last uint64, err error) { return 1, 1, nil }

func (b *blocks) Read(ctx context.Context, from uint64, deliver func(uint64, []byte) error) error {
	for i := from; i <= uint64(len(b.list)); i++ {
		if err := deliver(i, b.list[i-1]); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

type bench struct {
	*application.Gate
	*plant

	sent    []*session.Message
	refused []string
	now     time.Time
}

// gateIn runs a gate in a bubble of package synctest.
func gateIn(t *testing.T, log application.Log) *bench {
	t.Helper()
	b := &bench{now: time.Now(), plant: &plant{points: map[point.Path]float64{"a/setpoint": 21}}}
	b.Gate = application.New(application.Config{
		Applications: []setting.Application{
			{Name: "forecast", Status: []string{"a/*"}, Commands: []setting.Order{
				{Name: "a", Node: "zone", Point: "a/setpoint", Min: new(float64(20)), Max: new(float64(24)), Step: 1, Every: 10 * time.Second},
			}},
			{Name: "other"},
		},
		Carry: b.plant, Send: func(m *session.Message) { b.sent = append(b.sent, m) }, Blocks: log, Now: func() time.Time { return b.now }, Log: slog.New(slog.DiscardHandler),
		Refused: func(who, topic, why string) { b.refused = append(b.refused, who+" "+topic+" "+why) },
	})
	ctx, end := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); b.Run(ctx) }()
	t.Cleanup(func() { end(); <-done })
	return b
}

func ask(b *bench, device, topic, payload string) (refused, taken bool) {
	code, taken := b.Take(device, &session.Message{Topic: topic, Payload: []byte(payload)}, false)
	synctest.Wait()
	return code.Failed(), taken
}

func TestAGateLetsThroughWhatIsConfiguredAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gateIn(t, nil)
		const set = "applications/forecast/set/a"
		if _, taken := ask(b, "forecast", "devices/forecast/a", "1"); taken {
			t.Error("a topic of devices is taken")
		}
		for _, tt := range []struct{ device, topic, payload string }{
			{"other", set, `{"value":22}`},
			{"", set, `{"value":22}`},
			{"FORECAST", set, `{"value":22}`},
			{"thermostat", set, `{"value":22}`},
			{"forecast", "applications/forecast/set/b", `{"value":22}`},
			{"forecast", "applications/forecast/set/a/b", `{"value":22}`},
			{"forecast", "applications/forecast/set", `{"value":22}`},
			{"forecast", "applications/forecast/status/a/x", `{"value":22}`},
			{"forecast", "applications/forecast/answers/a", `{}`},
			{"forecast", "applications/other/set/a", `{"value":22}`},
			{"forecast", "applications/", ""},
			{"other", "applications/other/set/a", `{"value":22}`},
			{"forecast", set, `{"value":22.5}`}, // a step of 1.5
			{"forecast", set, `{"value":null}`},
			{"forecast", set, `[]`},
			{"forecast", set, `{"value":1e999}`},
			{"forecast", set, `{"value":22,"lease":901}`},
			{"forecast", set, `{"value":22,"lease":-1}`},
			{"forecast", set, `{"value":22,"release":true}`},
			{"forecast", set, `{"value":22,"id":"` + strings.Repeat("x", 65) + `"}`},
		} {
			refused, taken := ask(b, tt.device, tt.topic, tt.payload)
			if !taken || !refused && tt.payload != `{"value":22.5}` {
				t.Errorf("%s at %s: %.40s: refused %v, taken %v", tt.device, tt.topic, tt.payload, refused, taken)
			}
		}
		for _, tt := range []struct{ will, retain bool }{{true, false}, {false, true}} {
			if code, taken := b.Take("forecast", &session.Message{Topic: set, Payload: []byte(`{"value":22}`), Retain: tt.retain}, tt.will); !taken || !code.Failed() {
				t.Errorf("%+v is let through", tt)
			}
		}
		synctest.Wait()
		if len(b.orders) > 0 || len(b.refused) != 22 {
			t.Errorf("carried out: %+v; refusals told: %d", b.orders, len(b.refused))
		}
		if s := b.States()[0]; s.Refused < 15 || s.Accepted != 0 {
			t.Errorf("the account: %+v", s)
		}
	})
}

func TestAGateLimitsHowFastAPointMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := gateIn(t, nil)
		const set = "applications/forecast/set/a"
		for range 100 { // asking as often as it can for as much as it can, for 50 s
			ask(b, "forecast", set, `{"value":24}`)
			ask(b, "forecast", set, `{"value":22}`)
			ask(b, "forecast", set, `{"value":23}`)
			b.now = b.now.Add(500 * time.Millisecond)
		}
		// Every 10 s one request gets to the point, the first of them for too large a step.
		if len(b.orders) != 0 || b.points["a/setpoint"] != 21 {
			t.Errorf("the point is at %v after %+v", b.points["a/setpoint"], b.orders)
		}
		b.now = b.now.Add(10 * time.Second)
		ask(b, "forecast", set, `{"value":22,"id":"x"}`)
		want := application.Order{Application: "forecast", Node: "zone", Point: "a/setpoint", Level: 14, Value: 22, Lease: 15 * time.Minute, ID: "x"}
		if len(b.orders) != 1 || b.orders[0] != want {
			t.Errorf("carried out: %+v, want %+v", b.orders, want)
		}
		var told struct{ Status, ID string }
		last := b.sent[len(b.sent)-1]
		if err := json.Unmarshal(last.Payload, &told); err != nil || last.Topic != "applications/forecast/answers/a" || told.Status != "accepted" || told.ID != "x" {
			t.Errorf("it is told %s: %s", last.Topic, last.Payload)
		}
		b.away = errors.New("the zone is away")
		b.now = b.now.Add(10 * time.Second)
		ask(b, "forecast", set, `{"value":22}`)
		if last = b.sent[len(b.sent)-1]; !strings.Contains(string(last.Payload), "the zone is away") {
			t.Errorf("it is told %s", last.Payload)
		}
	})
}

func TestTheStatusIsWhatIsRecordedOfChosenPointsFromNowOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &blocks{}
		for i, path := range []point.Path{"a/temp", "a/temp", "b/temp", "a/b/temp"} {
			var e wire.Encoder
			block := &point.Block{Origin: "zone", Sequence: uint64(i + 1), Points: []point.Path{path}}
			block.Append(0, &point.Sample{Point: path, Time: time.Unix(int64(i), 0), Value: point.FloatOf(float64(i))})
			data, err := e.AppendBlock(nil, block)
			if err != nil {
				t.Fatal(err)
			}
			log.list = append(log.list, data)
		}
		b := gateIn(t, log)
		synctest.Wait()
		if len(b.sent) != 1 || b.sent[0].Topic != "applications/forecast/status/a/temp" || !strings.Contains(string(b.sent[0].Payload), `"value":1,"quality":"good"`) {
			t.Errorf("published: %d, %+v", len(b.sent), b.sent)
		}
		if s := b.States(); s[0].Published != 1 || s[1].Published != 0 {
			t.Errorf("the accounts: %+v", s)
		}
	})
}
