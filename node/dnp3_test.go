package node_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/operation/configuration/report"
	"voltbus/operation/devices"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
	"voltbus/testing/peers"
)

// relay is an outstation with a few points. serve serves it until the function that it returns is
// called.
func relay(t *testing.T) (o *outstation.Outstation, serve func(address string) (string, func())) {
	t.Helper()
	o, err := outstation.New(outstation.Config{Points: []outstation.PointConfig{
		{Kind: object.KindBinaryInput, Class: app.Class1},
		{Kind: object.KindAnalogInput, Class: app.Class2, Static: object.G30V5, Event: object.G32V7},
	}})
	if err != nil {
		t.Fatal(err)
	}
	session, err := o.Session(outstation.SessionConfig{Master: 1, Unsolicited: true})
	if err != nil {
		t.Fatal(err)
	}
	port, err := station.NewPort(station.Config{Local: 10, Remote: 1}, session)
	if err != nil {
		t.Fatal(err)
	}
	return o, func(address string) (string, func()) {
		hub := channel.NewHub(channel.HubConfig{})
		server, err := channel.NewServer(hub, channel.ServerConfig{Ports: []*station.Port{port}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		listener, err := channel.Listen(ctx, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		var running sync.WaitGroup
		running.Go(func() { _ = hub.Run(ctx) })
		running.Go(func() { _ = server.Run(ctx, listener) })
		return listener.Addr().String(), func() {
			cancel()
			running.Wait()
		}
	}
}

func TestEventsOfADeviceAreRecordedWithItsOwnTimeAndNoneIsLost(t *testing.T) {
	device, serve := relay(t)
	address, stop := serve("127.0.0.1:" + peers.FreePort(t)) // it comes back there
	r := run(t, load(t, t.TempDir(), listenAnywhere+`
devices:
  - path: site/relay
    driver: dnp3
    interval: 0
    subscribe: true
    config: {address: "`+address+`", timeout: 1s, registry: [{name: power, type: analog_input, index: 0}]}
`))
	online := func() bool {
		d, err := client.Do(t.Context(), r.Client, devices.List, struct{}{})
		return err == nil && d.Devices[0].State == "online"
	}
	eventually(t, "the device is online", online)

	first := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	want := make(map[string]string)
	happen := func(from, to int) {
		device.Update(func(tx *outstation.Tx) {
			for i := from; i < to; i++ {
				at := first.Add(time.Duration(i) * time.Second)
				p := object.Point{Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(at)}
				tx.Set(object.KindAnalogInput, p, outstation.Force)
				want[at.Format(time.RFC3339Nano)] = fmt.Sprint(i)
			}
		})
	}
	recorded := func() map[string]string {
		span := client.Span{Points: []string{"site/relay/power"}, From: first.Add(-time.Minute).Format(time.RFC3339), To: first.Add(30 * time.Minute).Format(time.RFC3339)}
		got, err := r.Client.Range(t.Context(), span, 10_000, false)
		if err != nil {
			t.Fatal(err)
		}
		values := make(map[string]string)
		for _, series := range got.Series {
			for _, s := range series.Samples {
				values[s.Time().Format(time.RFC3339Nano)] = string(s.Value)
			}
		}
		return values
	}
	happen(0, 50)
	eventually(t, "the events are stored", func() bool { return maps.Equal(want, recorded()) })

	stop() // the line is cut, and the device goes on
	happen(50, 100)
	eventually(t, "the device is offline", func() bool { return !online() })
	_, stop = serve(address)
	defer stop()
	eventually(t, "the events of the time without a line are stored too", func() bool { return maps.Equal(want, recorded()) })
	eventually(t, "all that was produced is stored", func() bool {
		origins := r.ledger().Origins // which also looks whether it adds up
		return slices.ContainsFunc(origins, func(o answer.Origin) bool { return o.Produced >= 100 && o.Stored == o.Produced && o.Missing == 0 })
	})
}

func TestATrialFindsThePointsOfADeviceThatListsNone(t *testing.T) {
	_, serve := relay(t)
	address, stop := serve("127.0.0.1:0")
	defer stop()
	r := run(t, load(t, t.TempDir(), listenAnywhere))
	var trial report.Trial
	if p := r.call(r.token(), "POST", "/drivers/dnp3/try", m{"config": m{"address": address, "registry": []m{}}}, &trial); p.Kind != "" {
		t.Fatalf("the trial gives %+v", p)
	}
	if trial.Kind != "" || trial.Total != 2 || len(trial.Points) != 2 {
		t.Fatalf("the trial is %+v", trial)
	}
	var registry []map[string]string
	for _, p := range trial.Points {
		registry = append(registry, p.Entry)
	}
	trial = report.Trial{}
	if p := r.call(r.token(), "POST", "/drivers/dnp3/try", m{"config": m{"address": address, "registry": registry}}, &trial); p.Kind != "" || trial.Kind != "" || trial.Total != 2 {
		t.Errorf("what was found gives %+v, %+v", p, trial)
	}
}

func TestEventsThatWaitAtADeviceOutliveATrialOfIt(t *testing.T) {
	device, serve := relay(t)
	address, stop := serve("127.0.0.1:0")
	defer stop()
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Millisecond)
	device.Update(func(tx *outstation.Tx) {
		for i := range 3 {
			p := object.Point{Value: object.Float(float64(i)), Flags: object.FlagOnline, Time: object.TimestampOf(at.Add(time.Duration(i) * time.Second))}
			tx.Set(object.KindAnalogInput, p, outstation.Force)
		}
	})
	registry := []m{{"name": "power", "type": "analog_input", "index": 0}}
	tries := run(t, load(t, t.TempDir(), listenAnywhere))
	for _, list := range [][]m{registry, {}} {
		var trial report.Trial
		if p := tries.call(tries.token(), "POST", "/drivers/dnp3/try", m{"config": m{"address": address, "registry": list}}, &trial); p.Kind != "" || trial.Kind != "" || len(trial.Points) == 0 {
			t.Fatalf("the trial gives %+v, %+v", p, trial)
		}
	}
	r := run(t, load(t, t.TempDir(), listenAnywhere+`
devices:
  - path: site/relay
    driver: dnp3
    interval: 0
    subscribe: true
    config: {address: "`+address+`", registry: [{name: power, type: analog_input, index: 0}]}
`))
	span := client.Span{Points: []string{"site/relay/power"}, From: at.Add(-time.Minute).Format(time.RFC3339), To: at.Add(time.Minute).Format(time.RFC3339)}
	eventually(t, "the events from before the trial are stored", func() bool {
		got, err := r.Client.Range(t.Context(), span, 10, false)
		return err == nil && len(got.Series) == 1 && len(got.Series[0].Samples) == 3
	})
}
