// Package lineage knows the names of a node's ancestors and descendants, so that each name occurs once in a tree.
package lineage

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
)

// Bounds of the tree.
const (
	MaxHops = 16  // levels of nodes
	maxName = 300 // bytes of a name that the parent sends
)

// Refused is a node that is not admitted to the tree.
type Refused struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Parent is the parent of this node.
type Parent struct {
	Name   string    // the parent's
	As     string    // its name for this node
	Online bool      // this node is connected to it
	Since  time.Time // since when it has been, or has not; zero: unknown
}

// Lineage knows the names of this node and of its ancestors. It is safe for concurrent use.
type Lineage struct {
	name   string
	parent func() (Parent, bool)

	mu      sync.Mutex
	above   []string  // the parent and its ancestors
	heard   uint64    // number of changes reported by the parent
	refused []Refused // of the nodes reported to the parent
	moved   bool      // above changed, and the children have not been told
}

// New returns the lineage of a node. The function returns false for a node without a parent.
func New(name string, parent func() (Parent, bool)) *Lineage {
	return &Lineage{name: name, parent: parent}
}

// Self reports whether this node has the name: its own, or its parent's name for it.
func (l *Lineage) Self(name string) bool {
	if strings.EqualFold(name, l.name) {
		return true
	}
	above, is := l.parent()
	return is && strings.EqualFold(name, above.As)
}

// Ancestors lists the ancestors, nearest first, and the nodes of this node's tree that the parent does not
// admit.
func (l *Lineage) Ancestors() (names []string, refused []Refused) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.above, l.refused
}

// Names lists the ancestors of a child: this node and its ancestors.
func (l *Lineage) Names() []string {
	names, _ := l.Ancestors()
	return append([]string{l.name}, names[:min(len(names), MaxHops)]...)
}

// Taken describes whose name it is, this node's or an ancestor's; "" for none of them.
func (l *Lineage) Taken(name string) string {
	if l.Self(name) {
		return "the node " + l.name + " above it"
	}
	if above, is := l.parent(); is && strings.EqualFold(name, above.Name) {
		return "the node " + above.Name + " above it"
	}
	names, _ := l.Ancestors()
	for _, a := range names {
		if strings.EqualFold(name, a) {
			return "the node " + a + " above it"
		}
	}
	return ""
}

// Above processes the parent's unrequested report of the ancestors.
func (l *Lineage) Above(body []byte) error {
	var in struct {
		Above []string `json:"above"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return fault.E("lineage.Above", fault.Invalid, "above", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard++
	l.rise(in.Above)
	return nil
}

// Received processes the parent's answer to a report: the ancestors, and the nodes that it does not admit. If the
// parent has reported the ancestors since the news were counted, that report is newer than its answer, or as new.
func (l *Lineage) Received(above []string, refused []Refused, news uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused = refused
	if l.heard == news {
		l.rise(above)
	}
}

// rise records the ancestors. The caller holds mu.
func (l *Lineage) rise(above []string) {
	above = slices.Clone(above[:min(len(above), MaxHops)])
	for i, name := range above {
		above[i] = strings.ToValidUTF8(name[:min(len(name), maxName)], "")
	}
	l.moved = l.moved || !slices.Equal(l.above, above)
	l.above = above
}

// News returns how often the parent has reported the ancestors.
func (l *Lineage) News() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.heard
}

// Changed reports, once, whether to tell the children about changed ancestors.
func (l *Lineage) Changed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	moved := l.moved
	l.moved = false
	return moved
}
