package replica

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"voltbus/uplink/lineage"
)

// key is the comparison form of a name: names that differ only in case are equal.
func key(name string) string { return strings.ToLower(name) }

// forest are the documents of a table.
type forest struct {
	self     *record
	branches map[string]*branch // by the child's name in lower case
	gone     []string           // removed nodes to report to the parent
	news     bool               // there are changes not yet in the file
	moved    bool               // the set of descendants, or of connected ones, changed since the last query
	above    []string           // the names of a child's ancestors against which the nodes were checked
}

// branch holds the documents from a child.
type branch struct {
	child  *record
	nodes  map[string]*record // below the child, by name in lower case
	away   time.Time
	came   time.Time // since when it has been connected
	round  uint64    // of offers
	modern bool      // it reports as this package does
	why    string    // why its ledger is unknown
	judge  bool      // positions of its descendants changed
	lost   []lineage.Refused
	bytes  int // of all its documents
}

// changed records that the set of descendants changed.
func (f *forest) changed() { f.news, f.moved = true, true }

// drop removes descendants of a child.
func (f *forest) drop(b *branch, which func(*record) bool) {
	for k, r := range b.nodes {
		if which(r) {
			if r.why == "" {
				f.gone = append(f.gone, r.name)
			}
			delete(b.nodes, k)
			b.bytes -= r.size
			b.judge = true
			f.changed()
		}
	}
}

// merge merges parts of a document of a branch.
func (f *forest) merge(b *branch, r *record, p parts) {
	f.news = f.news || len(p) > 0
	before := r.size
	moved := r.merge(p)
	b.bytes += r.size - before
	if moved {
		r.place(b.child)
		b.judge = true
		f.changed()
	}
}

// find returns the document of an admitted node, and its branch.
func (f *forest) find(name string) (*branch, *record) {
	for _, b := range f.branches {
		if r := b.find(name); r != nil {
			return b, r
		}
	}
	return nil, nil
}

// record returns the document of a descendant of a child, or of the child itself; nil for one that is not admitted.
func (f *forest) record(child, node string) *record {
	if b := f.branches[key(child)]; b != nil {
		return b.find(node)
	}
	return nil
}

func (b *branch) find(name string) *record {
	if key(b.child.name) == key(name) {
		return b.child
	}
	if r := b.nodes[key(name)]; r != nil && r.why == "" {
		return r
	}
	return nil
}

// sorted lists the admitted documents of a branch, parents before children.
func (b *branch) sorted() []*record {
	list := []*record{b.child}
	for _, r := range b.nodes {
		if r.why == "" {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, byDepth)
	return list
}

func byDepth(x, y *record) int {
	return cmp.Or(cmp.Compare(len(x.node.Path), len(y.node.Path)), strings.Compare(x.name, y.name))
}

// at returns the present position of a node: one behind a disconnected child has been away since then, too.
func (b *branch) at(r *record) Node {
	n := r.node
	if r == b.child {
		n.Away = b.away
	} else if !b.away.IsZero() && n.Away.IsZero() {
		n.Away = b.away
	}
	return n
}
