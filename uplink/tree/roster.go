package tree

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// Child is a child of this node that may connect.
type Child struct {
	Name   string
	Prefix point.Path // below which its points lie here; "" for anywhere
	Online bool
}

// branch is what a child told of itself and those below it.
type branch struct {
	Nodes []Node            `json:"nodes"` // itself first; as they are seen from here
	Away  time.Time         `json:"away,omitzero"`
	Heard time.Time         `json:"heard,omitzero"` // of the last report
	lost  map[string]string // names that were refused last, and why
}

// roster knows who is below this node. It is safe for concurrent use.
type roster struct {
	mu       sync.Mutex
	branches map[string]*branch // by the child's name in lower case
}

func newRoster() *roster { return &roster{branches: map[string]*branch{}} }

// key is a name for comparing: two that differ in case only are one.
func key(name string) string { return strings.ToLower(name) }

// meet takes the children as they are now: those that are no children any more are forgotten, and since
// when one is away is noted. It reports whether something changed.
func (r *roster) meet(children []Child, now time.Time) (changed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	is := make(map[string]bool, len(children))
	for _, c := range children {
		k := key(c.Name)
		is[k] = true
		b := r.branches[k]
		if b == nil {
			b = &branch{Away: now}
			r.branches[k], changed = b, true
		}
		self := Node{Name: c.Name, Path: []string{c.Name}, Prefix: c.Prefix}
		if len(b.Nodes) == 0 {
			b.Nodes = []Node{self}
		}
		if first := &b.Nodes[0]; first.Prefix != c.Prefix || first.Name != c.Name {
			self.Origins = first.Origins
			b.Nodes[0], changed = self, true
		}
		switch {
		case c.Online && !b.Away.IsZero():
			b.Away, changed = time.Time{}, true
		case !c.Online && b.Away.IsZero():
			b.Away, changed = now, true
		}
	}
	for k := range r.branches {
		if !is[k] {
			delete(r.branches, k)
			changed = true
		}
	}
	return changed
}

var (
	errStranger = errors.New("is no child of this node")
	errManyNode = fmt.Errorf("tells of more than %d nodes", MaxNodes)
	errOldNames = errors.New("tells of no nodes, or not of itself first")
)

// report takes what a child tells. taken says of a name where it stands already, "" if nowhere: above,
// or this node. It returns those that are not let in, and those of them that were not refused before.
func (r *roster) report(child string, nodes []Node, taken func(string) string, now time.Time) (refused, fresh []Refused, err error) {
	const op = "tree.Report"
	switch {
	case len(nodes) > MaxNodes:
		return nil, nil, fault.E(op, fault.Invalid, child, errManyNode)
	case len(nodes) == 0 || len(nodes[0].Path) > 0:
		return nil, nil, fault.E(op, fault.Invalid, child, errOldNames)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.branches[key(child)]
	if b == nil {
		return nil, nil, fault.E(op, fault.Refused, child, errStranger)
	}
	self := b.Nodes[0]
	self.Origins = clipTexts(nodes[0].Origins, maxTexts)
	list := []Node{self}
	g := gate{child: child, seen: map[string]bool{key(child): true}, lost: map[string]string{}, others: r.others(child), taken: taken}
	for i := range nodes[1:] {
		n := nodes[1+i]
		why := g.judge(&n)
		if why != "" {
			g.lost[key(n.Name)] = why
			refused = append(refused, Refused{Name: clipText(n.Name), Why: why})
			continue
		}
		g.seen[key(n.Name)] = true
		n.Path, n.Origins = append([]string{self.Name}, n.Path...), clipTexts(n.Origins, maxTexts)
		list = append(list, n)
	}
	for _, f := range refused {
		if b.lost[key(f.Name)] != g.lost[key(f.Name)] {
			fresh = append(fresh, f)
		}
	}
	b.Nodes, b.lost, b.Heard = list, g.lost, now
	return refused, fresh, nil
}

// others returns where the nodes below other children stand, by their names in lower case. The caller holds
// mu.
func (r *roster) others(child string) map[string][]string {
	out := map[string][]string{}
	for other, b := range r.branches {
		for i := range b.Nodes {
			if other != key(child) {
				out[key(b.Nodes[i].Name)] = b.Nodes[i].Path
			}
		}
	}
	return out
}

// gate judges the nodes that a child tells of, one after another.
type gate struct {
	child  string
	seen   map[string]bool     // that are let in
	lost   map[string]string   // that are not, and why
	others map[string][]string // where those below other children stand
	taken  func(string) string
}

// judge says why a node is not let in, or "".
func (g *gate) judge(n *Node) string {
	k := key(n.Name)
	if !identity.IsNodeName(n.Name) || len(n.Prefix) > point.MaxPath {
		return "its name is no name of a node"
	}
	if len(n.Path) == 0 || len(n.Path) >= MaxHops || n.Path[len(n.Path)-1] != n.Name {
		return fmt.Sprintf("it is told of without the way to it, or is more than %d nodes away", MaxHops)
	}
	for _, hop := range n.Path[:len(n.Path)-1] {
		if g.lost[key(hop)] != "" {
			return "it lies below " + clipText(hop) + ", which is not let in"
		}
		if !g.seen[key(hop)] {
			return "it is told of before the node above it"
		}
	}
	if where := g.taken(n.Name); where != "" {
		return "its name is that of " + where + "; give one of them another name"
	}
	if g.seen[k] {
		return "its name stands twice below " + g.child + "; give one of them another name"
	}
	if path, is := g.others[k]; is {
		return "its name is that of " + strings.Join(path, "/") + "; give one of them another name"
	}
	return ""
}

func clipText(s string) string {
	s = strings.ToValidUTF8(s, "")
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

func clipTexts(list []string, most int) []string {
	out := make([]string, 0, min(len(list), most))
	for _, s := range list[:min(len(list), most)] {
		out = append(out, clipText(s))
	}
	return out
}

// nodes lists all nodes below, those that stand above others first, children in order of their names.
// One behind a child that is away is away since then, too.
func (r *roster) nodes() []Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []Node
	for _, k := range slices.Sorted(maps.Keys(r.branches)) {
		b := r.branches[k]
		for i, n := range b.Nodes {
			if !b.Away.IsZero() && (i == 0 || n.Away.IsZero()) {
				n.Away = b.Away
			}
			list = append(list, n)
		}
	}
	return list
}

// find returns the node of a name, and the hop on the way to it that is missing, if one is.
func (r *roster) find(name string) (n Node, missing Node, found bool) {
	all := r.nodes()
	i := slices.IndexFunc(all, func(o Node) bool { return strings.EqualFold(o.Name, name) })
	if i < 0 {
		return n, missing, false
	}
	n = all[i]
	if n.Away.IsZero() {
		return n, missing, true
	}
	for _, hop := range n.Path {
		j := slices.IndexFunc(all, func(o Node) bool { return o.Name == hop })
		if j >= 0 && !all[j].Away.IsZero() {
			return n, all[j], true
		}
	}
	return n, n, true
}

// behind returns the child by which a node is reached, and the node's name as it is known; "" for one
// that is not below.
func (r *roster) behind(name string) (child, known string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range r.branches {
		for i := range b.Nodes {
			if key(b.Nodes[i].Name) == key(name) {
				return b.Nodes[0].Name, b.Nodes[i].Name
			}
		}
	}
	return "", ""
}

// branch lists the names of a child and of all below it.
func (r *roster) branch(child string) (names []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if b := r.branches[key(child)]; b != nil {
		for i := range b.Nodes {
			names = append(names, b.Nodes[i].Name)
		}
	}
	return names
}

// save returns what is known, for a file.
func (r *roster) save() ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return json.MarshalIndent(r.branches, "", " ")
}

// load takes what save returned. All are away until they come, as far as is known: since now, because nobody saw what was
// while this node did not run.
func (r *roster) load(data []byte, now time.Time) error {
	kept, err := parseBranches(data)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, b := range kept {
		if b == nil || len(b.Nodes) == 0 || len(b.Nodes) > MaxNodes {
			continue
		}
		if b.Away.IsZero() {
			b.Away = now
		}
		r.branches[k] = b
	}
	return nil
}

func parseBranches(data []byte) (kept map[string]*branch, err error) {
	err = json.Unmarshal(data, &kept)
	if err == nil && kept == nil {
		err = errNoBranches
	}
	return kept, err
}

var errNoBranches = errors.New("does not hold the nodes below")

// Check returns what is wrong with the content of the file of a tree.
func Check(content []byte) error {
	_, err := parseBranches(content)
	return err
}
