package cluster

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// The bounds of how many replicas there are.
const (
	Fewest        = 3
	FewestWorking = 2 // that are no witness
	Most          = 5
)

// Document lists the replicas. It is the same at all of them; the one with the highest revision counts.
type Document struct {
	Revision uint64    `json:"revision"` // 0 for that of the configuration
	Replicas []Replica `json:"replicas"`
	Former   []Former  `json:"former,omitempty"` // what they recorded is still stored from the copies of their logs
}

// Former is a replica that was removed.
type Former struct {
	Name    string    `json:"name"`
	Removed time.Time `json:"removed"`
}

// Members knows which replicas there are while that changes. It is safe for concurrent use.
type Members struct {
	self, file string

	mu      sync.Mutex
	doc     Document
	removed bool // this replica is no longer one
}

// OpenMembers returns the replicas that a file lists, those of the configuration if there is no such file. With "" for
// the file the list is kept in memory.
func OpenMembers(file, self string, configured []Replica) (*Members, error) {
	m := &Members{self: self, file: file, doc: Document{Replicas: slices.Clone(configured)}}
	if file == "" {
		return m, nil
	}
	text, err := os.ReadFile(file) //nolint:gosec // of the data directory
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &m.doc)
	}
	if err != nil {
		return nil, fault.E("cluster.OpenMembers", fault.Invalid, file, fmt.Errorf(
			"read the list of replicas: %w; remove the file, and the list of the configuration counts until the others tell theirs", err))
	}
	if !m.doc.has(self) {
		return nil, fault.E("cluster.OpenMembers", fault.Conflict, file, fmt.Errorf(
			"this node, %s, was removed from the replicas: add it with voltbus cluster add at one of them, and start it with an empty data directory", self))
	}
	return m, nil
}

// Document returns the list.
func (m *Members) Document() Document {
	m.mu.Lock()
	defer m.mu.Unlock()
	return Document{Revision: m.doc.Revision, Replicas: slices.Clone(m.doc.Replicas), Former: slices.Clone(m.doc.Former)}
}

// take makes a newer list the one that counts, and keeps it in the file; false if it is not newer.
func (m *Members) take(d *Document) (changed bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.Revision <= m.doc.Revision {
		return false, nil
	}
	m.doc, m.removed = *d, !d.has(m.self)
	if m.file == "" {
		return true, nil
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err == nil {
		err = (atomicfile.Writer{}).Write(m.file, append(text, '\n'), 0o600)
	}
	if err != nil {
		err = fault.E("cluster.take", fault.Unavailable, m.file, fmt.Errorf("keep the list of replicas: %w", err))
	}
	return true, err
}

// gone reports whether this replica was removed.
func (m *Members) gone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removed
}

// admits reports whether a node is a replica.
func (m *Members) admits(name string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.doc.has(name)
}

func (d *Document) has(name string) bool {
	return slices.ContainsFunc(d.Replicas, func(r Replica) bool { return r.Name == name })
}

// voting counts the replicas of which a majority must have each block.
func (d *Document) voting() (n int) {
	for _, r := range d.Replicas {
		if r.votes() {
			n++
		}
	}
	return n
}

// working counts those of them that are no witness.
func (d *Document) working() (n int) {
	for _, r := range d.Replicas {
		if r.votes() && !r.Witness {
			n++
		}
	}
	return n
}

// rejoin is how long after its removal the consensus refuses a replica of the same name.
const rejoin = 5 * time.Minute

// add returns the list with one more replica, or with another address of one, which stays if it was being removed.
func (d Document) add(r Replica, now time.Time) (Document, error) {
	if _, _, err := split(r.Address); err != nil {
		return d, fault.E("cluster.add", fault.Invalid, "address", err)
	}
	for _, other := range d.Replicas {
		if other.Name != r.Name && other.Address == r.Address {
			return d, fault.E("cluster.add", fault.Conflict, r.Address, fmt.Errorf("is the address of %s; each replica has one of its own", other.Name))
		}
	}
	d.Replicas, d.Former = slices.Clone(d.Replicas), slices.Clone(d.Former)
	for i := range d.Replicas {
		if d.Replicas[i].Name == r.Name {
			if r.Witness && !d.Replicas[i].Witness {
				return d, fault.E("cluster.add", fault.Conflict, r.Name, errors.New("is there and no witness, and stays what it is; remove it first, or leave witness out to give it another address"))
			}
			d.Replicas[i].Address, d.Replicas[i].Leaving = r.Address, false
			return d, nil
		}
	}
	if len(d.Replicas) >= Most {
		return d, fault.E("cluster.add", fault.Conflict, r.Name, fmt.Errorf("there are %d replicas, and there may be %d; remove one first", len(d.Replicas), Most))
	}
	for _, f := range d.Former {
		if until := f.Removed.Add(rejoin); f.Name == r.Name && now.Before(until) {
			return d, fault.E("cluster.add", fault.Conflict, r.Name, fmt.Errorf(
				"was removed at %s, and can be added again from %s on; or give the node another name", clock(f.Removed), clock(until)))
		}
	}
	d.Former = slices.DeleteFunc(d.Former, func(f Former) bool { return f.Name == r.Name })
	r.Joining = true
	d.Replicas = append(d.Replicas, r)
	slices.SortFunc(d.Replicas, func(a, b Replica) int { return cmp.Compare(a.Name, b.Name) })
	return d, nil
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05 UTC") }

// leave returns the list with a replica that is being removed: fault.Conflict if too few would be left. One that has not joined has
// nothing, and is removed at once.
func (d Document) leave(name string, now time.Time) (Document, error) {
	i := slices.IndexFunc(d.Replicas, func(r Replica) bool { return r.Name == name })
	if i < 0 {
		return d, fault.E("cluster.remove", fault.NotFound, name, errors.New("is no replica; voltbus cluster status lists them"))
	}
	if d.Replicas[i].Joining {
		return d.without(name, now), nil
	}
	if other := d.leaving(); other != "" && other != name {
		return d, fault.E("cluster.remove", fault.Conflict, name, fmt.Errorf("%s is being removed; wait until voltbus cluster status does not list it any more", other))
	}
	next := d
	next.Replicas = slices.Clone(d.Replicas)
	next.Replicas[i].Leaving = true
	if n := next.working(); n < FewestWorking && n < d.working() {
		return d, fault.E("cluster.remove", fault.Conflict, name, fmt.Errorf(
			"%d replicas that are no witness would be left, and at least %d are needed; add another one first, with voltbus cluster add", n, FewestWorking))
	}
	if n := next.voting(); n < Fewest && n < d.voting() {
		return d, fault.E("cluster.remove", fault.Conflict, name, fmt.Errorf(
			"%d replicas would be left, and at least %d are needed; add another one first, with voltbus cluster add", n, Fewest))
	}
	return next, nil
}

// leaving returns the replica that is being removed, "" for none.
func (d *Document) leaving() string {
	for _, r := range d.Replicas {
		if r.Leaving {
			return r.Name
		}
	}
	return ""
}

// without returns the list without a replica that has left.
func (d Document) without(name string, now time.Time) Document {
	d.Replicas = slices.DeleteFunc(slices.Clone(d.Replicas), func(r Replica) bool { return r.Name == name })
	d.Former = append(slices.Clone(d.Former), Former{name, now.UTC()})
	return d
}

// joined returns the list with a replica that has started.
func (d Document) joined(name string) Document {
	d.Replicas = slices.Clone(d.Replicas)
	for i := range d.Replicas {
		if d.Replicas[i].Name == name {
			d.Replicas[i].Joining = false
		}
	}
	return d
}
