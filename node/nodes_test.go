package node_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/bus/dispatch"
	"voltbus/bus/peer"
	"voltbus/fault"
	"voltbus/operation/children"
	"voltbus/operation/ledger"
	"voltbus/operation/nodes"
	"voltbus/testing/link"
	"voltbus/uplink/replica"
	"voltbus/wire"
)

// nodeAt returns what a node says of another, or itself.
func (r *running) nodeAt(name string) answer.Node {
	r.t.Helper()
	n, err := client.Do(wait(r.t), r.Client, nodes.Get, nodes.Name{Name: name})
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func TestANodeKnowsHowAllBelowItAre(t *testing.T) {
	t.Parallel()
	c := plantChain(t, map[string]string{"plant": "devices: {ahu1: {driver: sim, interval: 1h, count: 1}}\n"}, nil)
	eventually(t, "the plant told the region how it is", func() bool { return c.region.nodeAt("plant").Heard != nil })
	plant := c.region.nodeAt("Plant")
	if plant.State != answer.NodeOnline || plant.Parent != "campus" || !slices.Equal(plant.Path, []string{"campus", "plant"}) || plant.Prefix != "campus/plant" {
		t.Errorf("where the plant is: %+v", plant)
	}
	if plant.Version != "test" || plant.Devices != 1 || plant.Points == 0 || plant.Disk == 0 || plant.Memory == 0 || plant.Started == nil ||
		!slices.Contains(plant.Roles, "collector") || plant.Health == "" {
		t.Errorf("how the plant is: %+v", plant)
	}
	eventually(t, "round trip and clock are measured at both ends", func() bool {
		campus := c.region.nodeAt("campus")
		return campus.SkewMS != nil && campus.Received != nil && c.campus.nodeAt("campus").Heard != nil
	})
	list, err := client.Do(wait(t), c.region.Client, nodes.List, struct{}{})
	if err != nil || len(list.Nodes) != 3 || list.Nodes[0].State != answer.NodeHere || list.Nodes[0].Name != "region" || list.Nodes[2].Name != "plant" {
		t.Errorf("the list at the region: %+v, %v", list, err)
	}
	if list, err := client.Do(wait(t), c.plant.Client, nodes.List, struct{}{}); err != nil || !slices.Equal(list.Above, []string{"campus", "region"}) || list.Nodes[0].Link != "connected" || list.Nodes[0].Parent != "campus" {
		t.Errorf("the list at the plant: %+v, %v", list, err)
	}
	if _, err := client.Do(wait(t), c.region.Client, nodes.Get, nodes.Name{Name: "nowhere"}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a node that nobody knows: %v", err)
	}
	c.toCampus.Lead("")
	c.toCampus.Cut()
	eventually(t, "the region shows since when the plant is away", func() bool {
		n := c.region.nodeAt("plant")
		return n.State == answer.NodeAway && n.Since != nil && n.Devices == 1
	})
	eventually(t, "the plant says why it is not connected", func() bool {
		n := c.plant.nodeAt("plant")
		return n.State == answer.NodeHere && n.Link != "connected" && strings.Contains(n.LinkNote, "connection")
	})
}

func TestANodeBelowThatIsNotWellIsAConcernWithItsCounts(t *testing.T) {
	var config net.ListenConfig
	gone, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close() // nobody listens there
	c := plantChain(t, map[string]string{"plant": fmt.Sprintf(
		"devices: {off: {driver: modbus, interval: 200ms, config: {address: %q, timeout: 1s, registry: [{name: b, address: 1, type: uint16}]}}}\n", gone.Addr())}, nil)
	eventually(t, "the region says that the plant is not well, and of nobody else", func() bool {
		h, err := c.region.Client.Health(wait(t))
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, concern := range h.Concerns {
			if concern.Part == "nodes" {
				list = append(list, concern.Sentence)
			}
		}
		return len(list) == 1 && strings.HasPrefix(list[0], "the node plant is not well: 1 device gives no value")
	})
}

func TestWhatWaitedWhileALinkWasCutIsCountedAndToldWhenAllIsThere(t *testing.T) {
	t.Parallel()
	c := plantChain(t, map[string]string{"plant": "devices: {ahu1: {driver: sim, interval: 200ms, count: 1}}\n"}, nil)
	for _, at := range []struct {
		parent, below *running
		child         string
		way           *link.Link
		to            member
	}{
		{c.campus.running, c.plant.running, "plant", c.toCampus, c.campus},
		{c.region.running, c.campus.running, "campus", c.toRegion, c.region}, // which has no devices: what waits is the plant's
	} {
		came := func() uint64 {
			if r := at.parent.nodeAt(at.child).Received; r != nil {
				return r.Samples
			}
			return 0
		}
		eventually(t, "samples came", func() bool { return came() > 0 })
		if n := at.parent.nodeAt(at.child); len(n.Outages) != 0 {
			t.Errorf("%s before the link was cut: %+v", at.child, n.Outages)
		}
		at.way.Lead("")
		at.way.Cut()
		eventually(t, "an outage lasts", func() bool {
			n := at.parent.nodeAt(at.child)
			return n.State == answer.NodeAway && len(n.Outages) == 1 && n.Outages[0].To == nil
		})
		before := of(at.below, "plant").Acknowledged
		eventually(t, "more comes where the link is cut", func() bool { return of(at.below, "plant").Acknowledged > before+50 })
		at.way.Lead(at.to.BusAddr())
		eventually(t, "all is there", func() bool {
			list := at.parent.nodeAt(at.child).Outages
			return len(list) == 1 && list[0].Done != nil
		})
		o := at.parent.nodeAt(at.child).Outages[0]
		if o.To == nil || !o.From.Before(*o.To) || o.Done.Before(*o.To) || o.Waited < 50 || o.Coming != 0 || o.Missing != 0 {
			t.Errorf("what became of it at %s: %+v", at.child, o)
		}
	}
	counted := c.campus.nodeAt("plant").Outages[0]
	eventually(t, "the region says what became of it at the campus", func() bool {
		list := c.region.nodeAt("plant").Outages
		return len(list) == 1 && list[0].At == "campus" && list[0].Waited == counted.Waited && list[0].Done != nil && list[0].Coming+list[0].Missing == 0 &&
			list[0].From.Equal(counted.From.Truncate(time.Millisecond))
	})
}

// A program that was made before a question existed answers as programs of all versions do.
func TestAChildThatIsTooOldForAQuestionIsNamedWithWhatToDo(t *testing.T) {
	cfg := nodeOf(t, t.TempDir(), "campus", listenAnywhere)
	parent := run(t, cfg)
	as := access(t, cfg, "plant")
	if _, err := client.Do(wait(t), parent.Client, children.Add, client.NewChild{Name: "plant", Public: as.Key.Public()}.Arguments()); err != nil {
		t.Fatal(err)
	}
	child, err := peer.DialParent(wait(t), peer.Way{Address: parent.BusAddr(), TLS: &tls.Config{RootCAs: as.CA, MinVersion: tls.VersionTLS13}}, as.Key, "@plant")
	if err != nil {
		t.Fatal(err)
	}
	defer child.Close()
	if err := child.Serve(func(_ context.Context, r dispatch.Request) {
		body, _ := json.Marshal(wire.Reply{Error: &wire.Failure{Kind: "refused", Subject: r.Method, Message: "is nothing that a node is asked from above"}})
		_ = r.Respond(body)
	}); err != nil {
		t.Fatal(err)
	}
	says := func(want string) {
		t.Helper()
		var l answer.Ledger
		eventually(t, "the ledger says "+want, func() bool {
			if l, err = client.Do(wait(t), parent.Client, ledger.Get, ledger.Reach{}); err != nil {
				t.Fatal(err)
			}
			return len(l.Nodes) == 2 && l.Nodes[1].State == "silent" && l.Nodes[1].Reason == want
		})
	}
	says("plant: its program does not tell its ledger yet; update it")
	report := fmt.Sprintf(`{"time":%q,"nodes":[{"f":true,"s":{"version":"0.3.1"}}]}`, time.Now().UTC().Format(time.RFC3339))
	if _, err := child.Ask(wait(t), replica.FormerFleetMethod, []byte(report)); err != nil {
		t.Fatal(err)
	}
	says("plant: version 0.3.1 of its program does not tell its ledger yet; update it")
}
