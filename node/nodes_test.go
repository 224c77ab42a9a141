package node_test

import (
	"slices"
	"strings"
	"testing"

	"voltbus/api/answer"
	"voltbus/fault"
)

// nodeAt returns what a node says of another, or itself.
func (r *running) nodeAt(name string) answer.Node {
	r.t.Helper()
	n, err := r.Client.Node(wait(r.t), name)
	if err != nil {
		r.t.Fatal(err)
	}
	return n
}

func TestANodeKnowsHowAllBelowItAre(t *testing.T) {
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
	list, err := c.region.Client.Nodes(wait(t))
	if err != nil || len(list.Nodes) != 3 || list.Nodes[0].State != answer.NodeHere || list.Nodes[0].Name != "region" || list.Nodes[2].Name != "plant" {
		t.Errorf("the list at the region: %+v, %v", list, err)
	}
	if list, err := c.plant.Client.Nodes(wait(t)); err != nil || !slices.Equal(list.Above, []string{"campus", "region"}) || list.Nodes[0].Link != "connected" || list.Nodes[0].Parent != "campus" {
		t.Errorf("the list at the plant: %+v, %v", list, err)
	}
	if _, err := c.region.Client.Node(wait(t), "nowhere"); !fault.Is(err, fault.NotFound) {
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
