package replica

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/uplink/lineage"
)

// world is a tree of nodes whose connections lose requests and answers.
type world struct {
	now   time.Time
	nodes []*member
}

// member is a node of a world.
type member struct {
	*world
	name    string
	parent  *member
	table   *Table
	session session
	child   bool        // its parent has it as a child
	linked  bool        // the connection stands
	status  Status      // how it is
	origins []string    // that its ledger has
	outages []Outage    // that its parent counted
	saved   string      // the folder of its file
	began   []time.Time // runs of it
	cuts    []time.Time // ends of its connections
}

func (m *member) String() string { return m.name }

func newWorld(dir string) *world {
	w := &world{now: time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)}
	add := func(name string, parent *member) *member {
		m := &member{world: w, name: name, parent: parent, child: parent != nil, saved: filepath.Join(dir, name)}
		m.status = Status{Version: "1", Devices: len(w.nodes)}
		w.nodes = append(w.nodes, m)
		m.open()
		return m
	}
	region := add("region", nil)
	campus := add("campus", region)
	hill := add("hill", campus)
	plant := add("plant", campus)
	add("dam", plant)
	add("lake", hill)
	return w
}

func (m *member) open() {
	above := lineage.New(m.name, func() (lineage.Parent, bool) {
		if m.parent == nil || !m.child {
			return lineage.Parent{}, false
		}
		return lineage.Parent{Name: m.parent.name, As: m.name, Online: m.linked}, true
	})
	m.table = NewTable(TableConfig{
		Children: m.children, Place: func(p point.Path) point.Path { return point.Path("at").Join(string(p)) }, Lineage: above,
		Outages: func(child string) []Outage {
			for _, c := range m.nodes {
				if c.name == child {
					return c.outages
				}
			}
			return nil
		},
		Refused: func(string, lineage.Refused) {}, Now: func() time.Time { return m.world.now },
	})
	m.session, m.began = session{table: m.table}, append(m.began, m.world.now)
}

func (m *member) children() (list []Child) {
	for _, c := range m.nodes {
		if c.parent == m && c.child {
			list = append(list, Child{Name: c.name, Prefix: point.Path(c.name), Online: c.linked})
		}
	}
	return list
}

// look has its table know how it is.
func (m *member) look() {
	m.table.Own(m.status, []string{m.name + "~1"})
	n := answer.LedgerNode{Ledger: "ok"}
	for _, o := range m.origins {
		n.Origins = append(n.Origins, origin(o))
	}
	m.table.OwnLedger(&n)
	m.table.watch()
}

func origin(name string) answer.Hop {
	return answer.Hop{Origin: answer.Origin{Origin: strings.TrimRight(name, "+"), Stored: uint64(len(name))}}
}

// report sends what is new to the parent. Of each request or answer, lost says whether it arrives.
func (m *member) report(t interface{ Fatal(...any) }, lost func() (request, reply bool)) {
	if !m.linked || !m.child {
		m.session.reset()
		return
	}
	for range 100 {
		out, more := m.session.next()
		if out == nil {
			return
		}
		request, reply := lost()
		if request {
			m.session.reset()
			return
		}
		body, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		data, err := m.parent.table.Take(m.name, body, "")
		if reply || fault.Is(err, fault.Refused) {
			m.session.reset()
			return
		}
		var in Reception
		if err != nil || json.Unmarshal(data, &in) != nil {
			t.Fatal(m.name, err)
		}
		if m.session.answered(&in); !more && len(in.Want) == 0 {
			return
		}
	}
	t.Fatal(m.name, "reports without end")
}

func (m *member) save(t interface{ Fatal(...any) }) {
	f := &File{name: m.saved, kept: &content{}}
	if err := f.writeTable(m.table.state()); err != nil {
		t.Fatal(err)
	}
}

// restart runs it anew with what its file holds, which may be old.
func (m *member) restart() {
	m.open()
	f := OpenFile(filepath.Dir(m.saved), slog.New(slog.DiscardHandler))
	f.name = m.saved
	f.kept = readKept(m.saved)
	m.table.Load(f)
	for _, c := range m.nodes {
		if c.parent == m {
			c.linked = false
		}
	}
	m.linked = false
}

func kept() (bool, bool) { return false, false }

// settle connects all and reports until nothing is new.
func (w *world) settle(t interface{ Fatal(...any) }) {
	for range 4 {
		w.now = w.now.Add(time.Second)
		for _, m := range w.nodes {
			if m.parent != nil && m.child {
				m.linked = true
			}
		}
		for _, m := range slices.Backward(w.nodes) {
			m.look()
			m.report(t, kept)
		}
	}
}

// below lists the paths of the nodes that are to be known at one.
func (m *member) below(path string) (list []string) {
	for _, c := range m.nodes {
		if c.parent == m && c.child {
			list = append(list, path+c.name)
			list = append(list, c.below(path+c.name+"/")...)
		}
	}
	slices.Sort(list)
	return list
}

// check compares what each node knows with what is.
func (w *world) check(t interface {
	Fatal(...any)
	Fatalf(string, ...any)
},
) {
	for _, m := range w.nodes {
		var has []string
		for _, n := range m.table.Nodes() {
			has = append(has, strings.Join(n.Path, "/"))
			if !n.Away.IsZero() {
				t.Fatalf("%s says that %s is away", m.name, n.Name)
			}
			of := w.named(n.Name)
			seen, known := m.table.Look(n.Path[0], n.Name)
			want := of.status
			want.Outages = of.outages
			if got := seen.Status; !known || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s knows of %s %+v, want %+v", m.name, n.Name, got, want)
			}
			if !slices.Equal(n.Origins, []string{n.Name + "~1"}) {
				t.Fatalf("%s knows of %s the origins %v", m.name, n.Name, n.Origins)
			}
		}
		if slices.Sort(has); !slices.Equal(has, m.below("")) {
			t.Fatalf("%s knows %v, want %v", m.name, has, m.below(""))
		}
		for _, a := range m.table.Accounts() {
			var want []answer.Hop
			for _, o := range w.named(a.Node).origins {
				want = append(want, origin(o))
			}
			if slices.SortFunc(want, func(a, b answer.Hop) int { return strings.Compare(a.Origin.Origin, b.Origin.Origin) }); a.State != "current" || !slices.Equal(a.Origins, want) && len(a.Origins)+len(want) > 0 {
				t.Fatalf("%s has of the ledger of %s %+v, want %+v", m.name, a.Node, a, want)
			}
		}
	}
}

func (w *world) named(name string) *member {
	i := slices.IndexFunc(w.nodes, func(m *member) bool { return m.name == name })
	return w.nodes[i]
}

// observed looks whether all that is said of absences was seen: a child is away since its connection was cut, or since the
// node that says so began to look.
func (w *world) observed(t interface{ Fatalf(string, ...any) }) {
	for _, m := range w.nodes {
		for _, n := range m.table.Nodes() {
			if n.Away.IsZero() {
				continue
			}
			is := false
			for i := range n.Path {
				hop := w.named(n.Path[i])
				is = is || slices.ContainsFunc(hop.cuts, n.Away.Equal) || slices.ContainsFunc(hop.parent.began, n.Away.Equal)
			}
			if !is {
				t.Fatalf("%s says that %s is away since %s, which nobody saw", m.name, n.Name, n.Away)
			}
		}
	}
}

// Whatever is lost, cut, changed and restarted: in the end each node knows of all below it what these say, and
// never that one was away when nobody looked.
func TestBothEndsAgreeWhateverHappened(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(dir)
		for _, m := range w.nodes {
			m.save(t)
		}
		node := rapid.SampledFrom(w.nodes)
		lossy := func() (bool, bool) {
			return rapid.IntRange(0, 4).Draw(t, "request") == 0, rapid.IntRange(0, 4).Draw(t, "reply") == 0
		}
		moment := func() { w.now = w.now.Add(time.Millisecond) }
		look := func() {
			for _, m := range w.nodes {
				m.table.meet() // each second, in a node
			}
		}
		look()
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				m := node.Draw(t, "node")
				m.status.Devices, m.status.Alerts = rapid.IntRange(0, 3).Draw(t, "devices"), rapid.IntRange(0, 2).Draw(t, "alerts")
			},
			"count": func(t *rapid.T) {
				m := node.Draw(t, "node")
				o := fmt.Sprintf("o%d", rapid.IntRange(0, 2).Draw(t, "origin"))
				i := slices.IndexFunc(m.origins, func(s string) bool { return strings.HasPrefix(s, o) })
				switch {
				case i < 0:
					m.origins = append(m.origins, o)
				case rapid.Bool().Draw(t, "goes"):
					m.origins = slices.Delete(m.origins, i, i+1)
				default:
					m.origins[i] += "+"
				}
			},
			"outage": func(t *rapid.T) {
				m := node.Draw(t, "node")
				if m.parent != nil {
					m.outages = []Outage{{From: 1 + rapid.Int64Range(0, 3).Draw(t, "from")}}[:rapid.IntRange(0, 1).Draw(t, "some")]
				}
			},
			"look": func(t *rapid.T) { node.Draw(t, "node").look() },
			"link": func(t *rapid.T) {
				if m := node.Draw(t, "node"); m.parent != nil && m.child {
					if m.linked = !m.linked; !m.linked {
						moment()
						m.cuts = append(m.cuts, w.now)
						m.session.reset()
						look()
						return
					}
					moment()
					look()
				}
			},
			"join": func(t *rapid.T) {
				if m := node.Draw(t, "node"); m.parent != nil {
					m.child, m.linked = !m.child, false
					m.session.reset()
					moment()
					m.cuts = append(m.cuts, w.now)
					look()
				}
			},
			"report": func(t *rapid.T) { node.Draw(t, "node").report(t, lossy) },
			"save":   func(t *rapid.T) { node.Draw(t, "node").save(t) },
			"restart": func(t *rapid.T) {
				m := node.Draw(t, "node")
				moment()
				for _, c := range w.nodes {
					if c == m || c.parent == m {
						c.cuts = append(c.cuts, w.now)
					}
				}
				m.restart()
				look()
			},
			"": func(t *rapid.T) { w.observed(t) },
		})
		w.settle(t)
		w.check(t)
		// A restart of either side sends again only what differs.
		for _, m := range w.nodes {
			m.save(t)
		}
		m := node.Draw(t, "node")
		m.restart()
		w.settle(t)
		w.check(t)
	})
}

func readKept(file string) *content {
	var c content
	readJSON(file, &c)
	return &c
}
