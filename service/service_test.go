package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/catalog"
	"voltbus/identity"
	"voltbus/ingest/gate"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/query"
	"voltbus/service"
	"voltbus/store/memory"
	"voltbus/wire"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// desk is a service over real parts: a catalogue, a registry, a gate and a store in memory.
type desk struct {
	*service.Service
	t        *testing.T
	catalog  *catalog.Catalog
	registry *identity.Registry
	taped    []point.Sample
	fails    error
	refused  []service.Refusal
}

// Record implements gate.Recorder: what it is given is on disk.
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
func open(t *testing.T, grants identity.Grants) *desk {
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
	if d.registry, err = identity.OpenRegistry(t.Context(), d.catalog, noon); err != nil {
		t.Fatal(err)
	}
	d.add("boiler", grants)
	d.add("admin", identity.Grants{Administer: true})
	known := []point.Info{
		{Path: "site/ahu/temp", Device: "site/ahu", Kind: point.Float, Interval: time.Minute},
		{Path: "site/ahu/fan", Device: "site/ahu", Kind: point.Bool}, {Path: "calc/sum", Kind: point.Float},
	}
	if err := d.catalog.Upsert(t.Context(), known); err != nil {
		t.Fatal(err)
	}
	room, err := presence.Open(t.Context(), d.catalog, noon)
	if err != nil {
		t.Fatal(err)
	}
	st := memory.New()
	block := &point.Block{Origin: "test", Sequence: 1, Created: noon()}
	for _, p := range []point.Path{"site/ahu/temp", "site/ahu/fan", "calc/sum"} {
		for i := range 3 {
			block.Append(point.Sample{Point: p, Time: noon().Add(time.Duration(i-10) * time.Minute), Value: point.FloatOf(float64(i))})
		}
	}
	if err := st.Write(t.Context(), []*point.Block{block}); err != nil {
		t.Fatal(err)
	}
	d.Service = service.New(service.Config{
		Node: "test", Registry: d.registry, Presence: room, Bus: d, Gate: gate.New(d.catalog, d, 5),
		Repeats: d.catalog.Repeats(0), Engine: query.New(st, d.catalog, query.DefaultLimits(), noon), Points: d.catalog,
		Refused: func(r service.Refusal) { d.refused = append(d.refused, r) },
		Log:     slog.New(slog.DiscardHandler), Now: noon,
	})
	return d
}

func (d *desk) add(name string, grants identity.Grants) {
	d.t.Helper()
	key, err := identity.NewKey()
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
	out := d.Answer(d.t.Context(), from, method, []byte(body))
	if err := json.Unmarshal(out, &reply); err != nil {
		d.t.Fatalf("the reply %s: %v", out, err)
	}
	return string(reply.Result), reply.Error
}

var grants = identity.Grants{Read: []point.Pattern{"site"}, Record: []point.Pattern{"calc/**"}}
