package world

import (
	"strings"
	"testing"
)

const wholeCampus = `
world: {name: campus, duration: 1h}
sites:
  - name: north
    node: whole
    parent: campus
    models: [{name: zone, kind: zone, inputs: {outdoor: 30, gains: 0.5}, commands: [on]}]
    orders: [{at: 20m, point: zone/on, value: 1, lease: 10m}]
  - {name: campus, node: whole, parent: region}
  - {name: region, node: whole}
links: [{from: north, to: campus, delay: 20ms, cuts: [{from: 1m, to: 2m}]}]
`

func TestParentsAreBeforeTheirChildren(t *testing.T) {
	w, err := New(parsed(t, wholeCampus), Options{})
	must(t, err)
	var names []string
	for _, n := range w.estate.hello.Nodes {
		names = append(names, n.Name)
	}
	if got := strings.Join(names, " "); got != "region campus north" {
		t.Errorf("nodes are %s", got)
	}
	if l := w.estate.hello.Links; len(l) != 1 || l[0].Child != "north" || len(l[0].Cuts) != 1 {
		t.Errorf("links are %+v", l)
	}
	if o := w.estate.hello.Orders; len(o) != 1 || o[0].Point != "north/zone/on" || o[0].Node != "north" {
		t.Errorf("orders are %+v", o)
	}
}

func TestWithoutTheirProgramWholeNodesDoNotRun(t *testing.T) {
	w, err := New(parsed(t, wholeCampus), Options{})
	must(t, err)
	defer func() { must(t, w.Close()) }()
	if err := w.Run(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "make virtual") {
		t.Errorf("it says %v", err)
	}
}

func TestMistakesOfWholeNodesAreTold(t *testing.T) {
	for name, c := range map[string]struct{ site, want string }{
		"a node of another kind":       {"{name: a, node: half}", "write whole"},
		"a parent of a node in memory": {"{name: a, parent: b}", `write "node: whole"`},
		"orders to a node in memory":   {"{name: a, orders: [{point: zone/on}]}", `write "node: whole"`},
		"a parent that is none":        {"{name: a, node: whole, parent: b}", "no whole node without copies"},
		"a circle":                     {"{name: a, node: whole, parent: a}", "below this node itself"},
		"agents":                       {`{name: a, node: whole, agents: [{name: x, class: "x:X"}]}`, "a site of their own"},
		"a point that is none":         {"{name: a, node: whole, orders: [{point: zone/on}]}", "no point to command"},
		"a level that is none":         {"{name: a, node: whole, orders: [{point: zone/on, level: 17}]}", "from 1 to 16"},
	} {
		_, problems := Parse("world.yaml", []byte("sites: ["+c.site+"]\n"))
		var all []string
		for _, p := range problems {
			all = append(all, p.String())
		}
		if text := strings.Join(all, "\n"); !strings.Contains(text, c.want) {
			t.Errorf("%s: %q", name, text)
		}
	}
}
