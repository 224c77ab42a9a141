package node_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/identity"
	"voltbus/operation/children"
	"voltbus/operation/metering"
	parentop "voltbus/operation/parent"
	"voltbus/point"
	"voltbus/testing/peers"
)

// meterRegister is a meter with a register.
func meterRegister(id string) answer.MeterEntry {
	return answer.MeterEntry{ID: id, Commodity: "electricity", Channels: []answer.MeterChannel{{Number: 1, ReadingType: "0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0"}}}
}

// collecting is the configuration of devices that are meters of two pymodbus servers. The unit 7 of the second one is silent: on the same line
// the others would wait for it.
func collecting(address, silent string) string {
	device := func(name, unit, address string) string {
		return "  - {path: site/" + name + ", driver: modbus, interval: 1h, config: {address: \"" + address + "\", unit: " + unit + ", timeout: 2s, registry: [{name: unit, address: 30, type: uint16}, {name: energy, address: 4, type: float32}]}}\n"
	}
	return "devices:\n" + device("one", "1", address) + device("two", "2", address) + device("silent", "7", silent)
}

const collected = "reads: [{meter: m1, channel: 1, point: site/one/unit}, {meter: m2, channel: 1, point: site/two/unit}, " +
	"{meter: m7, channel: 1, point: site/silent/unit}, {meter: lost, channel: 1, point: site/none/unit}]"

// outcome returns what came of a meter.
func outcome(t *testing.T, got metering.MeterReads, id string) metering.MeterRead {
	t.Helper()
	for _, o := range got.Outcomes {
		if o.Meter == id {
			return o
		}
	}
	t.Fatalf("nothing of %s: %+v", id, got)
	return metering.MeterRead{}
}

func TestMetersAreReadOnDemandAndTheSilentOneTimesOut(t *testing.T) {
	t.Parallel()
	peer := peers.Modbus(t)
	r := run(t, load(t, t.TempDir(), listenAnywhere+"metering: {role: mds, "+collected+"}\n"+collecting(peer.Addr, peers.Modbus(t).Addr)))
	ctx := context.Background()
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{meterRegister("m1"), meterRegister("m7")}}); err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for _, tt := range []struct{ correlation, meter, value string }{{"first", "m1", "1"}, {"second", "m2", "2"}} { // at once
		calls.Go(func() {
			got, err := client.Do(ctx, r.Client, metering.ReadMeters, metering.ReadRequest{Meters: []string{tt.meter}, Timeout: 30, Correlation: tt.correlation})
			if err != nil || got.Correlation != tt.correlation || len(got.Outcomes) != 1 {
				t.Errorf("%+v, %v", got, err)
				return
			}
			o := outcome(t, got, tt.meter)
			if o.Outcome != "answered" || *o.Value != map[string]float64{"1": 1, "2": 2}[tt.value] || o.Recorded != (tt.meter == "m1") {
				t.Errorf("%s: %+v", tt.correlation, o)
			}
			if tt.meter == "m2" && !strings.Contains(o.Reason, "no meter is registered") {
				t.Errorf("m2 is not registered: %+v", o)
			}
		})
	}
	calls.Wait()
	got, err := client.Do(ctx, r.Client, metering.ReadMeters, metering.ReadRequest{Meters: []string{"m1", "m7", "lost", "nobody"}, Timeout: 1})
	if err != nil || got.Correlation == "" {
		t.Fatal(got, err)
	}
	for id, want := range map[string]string{"m1": "answered", "lost": "failed", "nobody": "unknown"} {
		if o := outcome(t, got, id); o.Outcome != want {
			t.Errorf("%s: %+v, want %s", id, o, want)
		}
	}
	if o := outcome(t, got, "m7"); o.Outcome != "timed-out" && o.Outcome != "unreachable" {
		t.Errorf("the silent one: %+v", o)
	}
	at := outcome(t, got, "m1").At
	span := metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: at.Add(-1).Format("2006-01-02T15:04:05.999999999Z07:00"), To: at.Format("2006-01-02T15:04:05.999999999Z07:00")}
	eventually(t, "the read is a reading", func() bool {
		list, err := client.Do(ctx, r.Client, metering.Readings, span)
		return err == nil && len(list.Readings) == 1 && list.Readings[0].Value == 1
	})
	r.hears(t, "meter.read", "m1", "")
}

func TestAMeteringDataSystemHasItsConcentratorReadMeters(t *testing.T) {
	t.Parallel()
	peer := peers.Modbus(t)
	parent := run(t, nodeOf(t, t.TempDir(), "campus", listenAnywhere+meteringConfig))
	child := run(t, nodeOf(t, t.TempDir(), "plant", listenAnywhere+"uplink: {allow: [\"call node:meter.read\"]}\nmetering: {role: concentrator, "+collected+", concentrator: {bulk: 10, age: 20ms}}\n"+collecting(peer.Addr, peers.Modbus(t).Addr)))
	ctx := t.Context()
	if _, err := client.Do(ctx, parent.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{meterRegister("m1")}}); err != nil {
		t.Fatal(err)
	}
	invited, err := client.Do(wait(t), parent.Client, children.Invite, client.NewInvitation{
		Approved: true, Prefix: "campus/plant", Addresses: []string{parent.BusAddr()}, Grants: identity.Grants{Record: []point.Pattern{"meters/**"}},
	}.Arguments())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(wait(t), child.Client, parentop.Join, parentop.Code{Code: invited.Code}); err != nil {
		t.Fatal(err)
	}
	var got metering.MeterReads
	eventually(t, "the child is asked", func() bool {
		got, err = client.Do(ctx, parent.Client.At("plant"), metering.ReadMeters, metering.ReadRequest{Meters: []string{"m1"}, Timeout: 10, Correlation: "far"})
		return err == nil
	})
	o := outcome(t, got, "m1")
	if got.Correlation != "far" || o.Outcome != "answered" || !o.Recorded {
		t.Fatalf("%+v", got)
	}
	span := metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: o.At.Add(-1).Format("2006-01-02T15:04:05.999999999Z07:00"), To: o.At.Format("2006-01-02T15:04:05.999999999Z07:00")}
	eventually(t, "the parent has the reading", func() bool {
		list, err := client.Do(ctx, parent.Client, metering.Readings, span)
		return err == nil && len(list.Readings) == 1
	})
}

func TestMetersAreReadOnScheduleAtWholeSeconds(t *testing.T) {
	t.Parallel()
	peer := peers.Modbus(t)
	text := strings.Replace(collected, "point: site/one/unit}", "point: site/one/unit, every: 1s}", 1)
	r := run(t, load(t, t.TempDir(), listenAnywhere+"metering: {role: mds, "+text+"}\n"+collecting(peer.Addr, peers.Modbus(t).Addr)))
	ctx := context.Background()
	if _, err := client.Do(ctx, r.Client, metering.Register, metering.Registration{Meters: []answer.MeterEntry{meterRegister("m1")}}); err != nil {
		t.Fatal(err)
	}
	span := metering.Span{ID: metering.ID{Meter: "m1"}, Channel: 1, From: "2020-01-01T00:00:00Z", To: "2200-01-01T00:00:00Z"}
	var list answer.MeterReadings
	eventually(t, "two reads are readings", func() bool {
		var err error
		list, err = client.Do(ctx, r.Client, metering.Readings, span)
		return err == nil && len(list.Readings) >= 2
	})
	for _, v := range list.Readings {
		if v.End.Nanosecond() != 0 || v.Value != 1 || v.Who != "schedule" {
			t.Errorf("%+v", v)
		}
	}
}
