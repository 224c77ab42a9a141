package node_test

import (
	"encoding/json"
	"net/netip"
	"slices"
	"testing"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/operation/control"
	bacnet "voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/testing/peers"
)

// commandable is a node with a device that has a priority array of its own for its setpoint.
const commandable = listenAnywhere + `
devices:
  - path: site/ahu
    driver: bacnet
    interval: 1s
    config:
      local: 10.66.0.2/24
      address: 10.66.0.11
      device: 11
      registry:
        - {name: setpoint, object: "analog-value:1", writable: true, priority: 16, unit: degC}
        - {name: note, object: "characterstring-value:1", writable: true}
`

func TestTheArrayOfADeviceShowsWhatTheNodeAndOtherSystemsCommand(t *testing.T) {
	if !peers.Namespace(t, "10.66.0.2/24", "10.66.0.3/24", "10.66.0.11/24") {
		return
	}
	peers.BACnet(t, "plant", "10.66.0.11/24", "11", "480", "3")
	other, err := bacnet.Open(t.Context(), bacnet.Config{IP: ip.Config{Listen: netip.MustParseAddrPort("10.66.0.3:47808")}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	remote := other.At(bacnet.Device{Address: ip.Address{Link: netip.MustParseAddrPort("10.66.0.11:47808")}})
	elsewhere := func(v encoding.Value) {
		t.Helper()
		p := bacnet.Property{Object: encoding.ObjectID{Type: enum.AnalogValue, Instance: 1}, Property: enum.PropertyPresentValue}
		if err := remote.Write(t.Context(), p, v, 5); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, load(t, t.TempDir(), commandable))
	is := func(what string, own int, want ...answer.Priority) {
		t.Helper()
		got, err := client.Do(t.Context(), r.Client, control.Priorities, control.Path{Path: "site/ahu/setpoint"})
		same := func(a, b answer.Priority) bool { return a.Level == b.Level && string(a.Value) == string(b.Value) }
		if err != nil || got.Own != own || string(got.Default) != "20" || !slices.EqualFunc(got.Levels, want, same) {
			t.Errorf("%s: the array is %+v, %v", what, got, err)
		}
	}
	ours, theirs := answer.Priority{Level: 8, Value: json.RawMessage("22.5")}, answer.Priority{Level: 5, Value: json.RawMessage("17")}
	eventually(t, "the device is read", func() bool {
		list, err := client.Do(t.Context(), r.Client, control.List, control.Page{Limit: 10})
		return err == nil && len(list.Points) == 2 && list.Points[1].InDevice && !list.Points[0].InDevice && string(list.Points[1].Observed) == "20"
	})
	is("nobody commands it", 0)
	command := answer.NewCommands{Commands: []answer.NewCommand{{Point: "site/ahu/setpoint", Value: ours.Value, Level: 8}}}
	if got, err := client.Do(t.Context(), r.Client, control.Command, command); err != nil || got.Results[0].Output != "held" {
		t.Fatalf("the command gives %+v, %v", got, err)
	}
	is("the node commands it", 8, ours)
	elsewhere(encoding.Real(17))
	is("another system does, too", 8, theirs, ours)
	if _, err := client.Do(t.Context(), r.Client, control.Release, answer.CommandSelection{Point: "site/ahu/setpoint"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node has relinquished it", func() bool {
		got, err := client.Do(t.Context(), r.Client, control.Priorities, control.Path{Path: "site/ahu/setpoint"})
		return err == nil && got.Own == 0 && len(got.Levels) == 1
	})
	is("the other system alone does", 0, theirs)
	elsewhere(encoding.Null())
	is("nobody does any more", 0)
	if _, err := client.Do(t.Context(), r.Client, control.Priorities, control.Path{Path: "site/ahu/note"}); !fault.Is(err, fault.Refused) {
		t.Errorf("a point without an array gives %v", err)
	}
}
