package replica

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/internal/atomicfile"
	"voltbus/point"
)

// FileName is the name of the file in which a node stores what it knows about its descendants.
const FileName = "below.json"

// content is the content of the file.
type content struct {
	Children map[string]*keptBranch `json:"children,omitempty"` // by name in lower case
	Outages  json.RawMessage        `json:"outages,omitempty"`  // outages of children, as counted by the receiver
}

type keptBranch struct {
	Child keptNode    `json:"child"`
	Away  time.Time   `json:"away,omitzero"`
	Nodes []*keptNode `json:"nodes,omitempty"`
}

type keptNode struct {
	Name    string     `json:"name"`
	Prefix  point.Path `json:"prefix,omitempty"` // for a child
	Version uint64     `json:"version"`
	Heard   time.Time  `json:"heard,omitzero"`
	Why     string     `json:"refused,omitempty"` // why it is not admitted
	Parts   parts      `json:"parts,omitempty"`
}

var errNoContent = errors.New("does not hold what is known of descendants")

func parseContent(data []byte) (*content, error) {
	var c *content
	if err := json.Unmarshal(data, &c); err != nil || c == nil {
		return &content{}, errors.Join(err, errNoContent)
	}
	return c, nil
}

// Check returns what is wrong with the content of the file.
func Check(data []byte) error {
	_, err := parseContent(data)
	return err
}

// File stores what a node knows about its descendants: their documents, and the outages of children. It is
// safe for concurrent use.
type File struct {
	name string

	mu     sync.Mutex
	kept   *content
	former bool // files of the former version are to be removed
}

// OpenFile reads the file in a data directory. An unreadable one is ignored: children report again.
func OpenFile(dir string, log *slog.Logger) *File {
	f := &File{name: filepath.Join(dir, FileName), kept: &content{}}
	data, err := os.ReadFile(f.name)
	if err == nil {
		f.kept, err = parseContent(data)
	}
	if errors.Is(err, fs.ErrNotExist) {
		f.kept, f.former, err = readFormer(dir), true, nil
	}
	if err != nil {
		log.Warn("what was known of the descendants cannot be read; they report it again", slog.Any("err", err))
	}
	return f
}

// Outages returns the stored outages of children; nil for none.
func (f *File) Outages() []byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.kept.Outages
}

// WriteOutages stores the outages of children.
func (f *File) WriteOutages(data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.kept.Outages
	f.kept.Outages = data
	err := f.write()
	if err != nil {
		f.kept.Outages = before
	}
	return err
}

func (f *File) writeTable(children map[string]*keptBranch) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept.Children = children
	return f.write()
}

// write writes the whole file. The caller holds mu.
func (f *File) write() error {
	data, err := json.Marshal(f.kept)
	if err != nil { // strings, numbers, times and decoded JSON cannot fail
		return err
	}
	if err := (atomicfile.Writer{}).Write(f.name, data, 0o600); err != nil {
		return err
	}
	if f.former {
		f.former = false
		removeFormer(filepath.Dir(f.name))
	}
	return nil
}

// state returns what is known about the descendants, for a file.
func (t *Table) state() map[string]*keptBranch {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := make(map[string]*keptBranch, len(t.forest.branches))
	for k, b := range t.forest.branches {
		kept := &keptBranch{Child: b.child.keep(), Away: b.away}
		kept.Child.Prefix = b.child.node.Prefix
		for _, r := range b.nodes {
			n := r.keep()
			kept.Nodes = append(kept.Nodes, &n)
		}
		out[k] = kept
	}
	return out
}

func (r *record) keep() keptNode {
	return keptNode{Name: r.name, Version: r.version, Heard: r.heard, Why: r.why, Parts: maps.Clone(r.parts)}
}

// Load loads the content of a file, before any other use of the table. All children count as away until they
// connect: since now, because the time when this node was not running is unknown.
func (t *Table) Load(f *File) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := t.cfg.Now()
	for k, kept := range f.kept.Children {
		if kept == nil || kept.Child.Name == "" || len(kept.Nodes) > MaxNodes {
			continue
		}
		b := &branch{nodes: map[string]*record{}, away: kept.Away}
		if b.away.IsZero() {
			b.away = now
		}
		b.child = kept.Child.record(nil)
		b.child.node = Node{Name: kept.Child.Name, Path: []string{kept.Child.Name}, Prefix: kept.Child.Prefix, Origins: b.child.node.Origins}
		for _, n := range kept.Nodes {
			if n != nil {
				r := n.record(b.child)
				if r.why == "" && len(r.node.Path) < 2 { // never written
					r.why = whyUnknown
				}
				b.nodes[key(n.Name)] = r
				b.bytes += r.size
			}
		}
		b.judge = true
		t.forest.branches[k] = b
	}
}

func (n *keptNode) record(child *record) *record {
	r := newRecord(n.Name)
	r.merge(r.without(n.Parts, func(string) bool { return false }))
	r.version, r.heard, r.kept, r.why = n.Version, n.Heard, true, n.Why
	if child == nil {
		child = r
	}
	r.place(child)
	return r
}

// sortedParts lists the parts of a kind.
func sortedParts(p parts, kind func(string) bool) []string {
	var names []string
	for name := range p {
		if kind(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
