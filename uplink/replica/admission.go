package replica

import (
	"fmt"
	"slices"
	"strings"

	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink/lineage"
)

// whyUnknown is the reason for a node whose position has not been reported yet.
const whyUnknown = "it is not known where it stands"

// admit checks the descendants of a child: which are admitted to the tree. An admitted one takes precedence over
// others of its name. It returns those that are refused, and were not refused before for the same reason.
func (f *forest) admit(b *branch, above *lineage.Lineage) (fresh []lineage.Refused) {
	all := make([]*record, 0, len(b.nodes))
	for _, r := range b.nodes {
		all = append(all, r)
	}
	slices.SortFunc(all, byDepth)
	before := b.lost
	b.lost, b.judge = nil, false
	for _, r := range all {
		was := r.why
		r.why = f.refusal(b, r, above)
		if (was == "") != (r.why == "") {
			if f.changed(); r.why == "" {
				r.fresh = true
			} else {
				f.gone = append(f.gone, r.name)
			}
		}
		if r.why == "" || r.why == whyUnknown {
			continue
		}
		lost := lineage.Refused{Name: clipText(r.name), Why: r.why}
		b.lost = append(b.lost, lost)
		if !slices.Contains(before, lost) {
			fresh = append(fresh, lost)
		}
	}
	return fresh
}

// rejudge has all nodes checked again when the names above them have changed.
func (f *forest) rejudge(above []string) {
	if slices.Equal(f.above, above) {
		return
	}
	f.above = above
	for _, b := range f.branches {
		b.judge = true
	}
}

// refusal returns why a node is not admitted, or "". Its ancestors have been checked.
func (f *forest) refusal(b *branch, r *record, above *lineage.Lineage) string {
	n := &r.node
	if len(r.parts[nodePart]) == 0 {
		return whyUnknown
	}
	if !identity.IsNodeName(r.name) || len(n.Prefix) > point.MaxPath {
		return "its name is no name of a node"
	}
	if len(n.Path) < 2 || len(n.Path) > MaxHops || key(n.Path[len(n.Path)-1]) != key(r.name) {
		return fmt.Sprintf("it is reported without the way to it, or is more than %d nodes away", MaxHops)
	}
	for _, hop := range n.Path[1 : len(n.Path)-1] {
		on := b.nodes[key(hop)]
		if on == nil || on.why == whyUnknown || len(on.node.Path) >= len(n.Path) {
			return "it is reported before its parent"
		}
		if on.why != "" {
			return "it lies below " + clipText(hop) + ", which is not let in"
		}
	}
	if where := above.Taken(r.name); where != "" {
		return "its name is that of " + where + "; give one of them another name"
	}
	if key(r.name) == key(b.child.name) {
		return "its name stands twice below " + b.child.name + "; give one of them another name"
	}
	for _, other := range f.branches {
		if other == b {
			continue
		}
		if rival := other.find(r.name); rival != nil {
			return "its name is that of " + strings.Join(rival.node.Path, "/") + "; give one of them another name"
		}
	}
	return ""
}
