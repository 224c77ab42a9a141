package lease

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
)

// Item is something that only one replica uses at a time.
type Item struct {
	Name string
	// Group is the same for items that one replica should have together, such as the devices on one line.
	Group string
}

// entry is an item in the table.
type entry struct {
	Group  string   `json:"group,omitempty"`
	Wanted []string `json:"wanted"`          // the replicas that can use it, sorted
	Owner  string   `json:"owner,omitempty"` // "": nobody
	Epoch  uint64   `json:"epoch,omitempty"` // grows with each change of the owner
}

// table says who has what.
type table struct {
	Epoch   uint64            `json:"epoch"` // of the last change of an owner
	Entries map[string]*entry `json:"entries"`
}

func newTable() *table { return &table{Entries: map[string]*entry{}} }

// encode returns the table as it is in the stream: the names of ten thousand devices are much alike.
func (t *table) encode() ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	err := json.NewEncoder(w).Encode(t)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("pack the table of leases: %w", err)
	}
	return packed.Bytes(), nil
}

// maxTable bounds the size of a table in memory, in bytes.
const maxTable = 256 << 20

func decodeTable(data []byte) (*table, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpack the table of leases: %w", err)
	}
	t := newTable()
	if err := json.NewDecoder(io.LimitReader(r, maxTable)).Decode(t); err != nil {
		return nil, fmt.Errorf("read the table of leases: %w", err)
	}
	return t, nil
}

// clone returns a copy that may be changed.
func (t *table) clone() *table {
	c := &table{Epoch: t.Epoch, Entries: make(map[string]*entry, len(t.Entries))}
	for name, e := range t.Entries {
		c.Entries[name] = &entry{Group: e.Group, Wanted: slices.Clone(e.Wanted), Owner: e.Owner, Epoch: e.Epoch}
	}
	return c
}

// view is what a replica knows beside the table.
type view struct {
	self     string
	wants    map[string]string // items that it can use, and their groups
	gone     map[string]bool   // replicas that have shown no sign of life for the term
	able     map[string]bool   // replicas that may get items: they are there, and not drained
	steady   map[string]bool   // those of them that have been there for long enough to get items of others
	released map[string]bool   // items of its own that it does not use any more
	wait     bool              // do not assign anything yet: the others may be starting too
}

// plan changes the table as this replica may: it says what it can use, gives back what it has released, and gives what nobody has to
// those who can use it. It reports whether anything changed.
func (t *table) plan(v *view) (changed bool) {
	changed = t.register(v)
	for _, e := range t.Entries {
		if v.gone[e.Owner] {
			e.Owner, changed = "", true
		}
	}
	for name := range v.released {
		if e := t.Entries[name]; e != nil && e.Owner == v.self {
			e.Owner, changed = "", true
		}
	}
	if !v.wait && t.assign(v) {
		changed = true
	}
	for name, e := range t.Entries {
		if len(e.Wanted) == 0 && e.Owner == "" {
			delete(t.Entries, name)
			changed = true
		}
	}
	return changed
}

// register records what this replica can use.
func (t *table) register(v *view) (changed bool) {
	for name, group := range v.wants {
		e := t.Entries[name]
		if e == nil {
			e = &entry{}
			t.Entries[name] = e
		}
		at, is := slices.BinarySearch(e.Wanted, v.self)
		if !is {
			e.Wanted, changed = slices.Insert(e.Wanted, at, v.self), true
		}
		if at == 0 && e.Group != group { // where replicas disagree, the first one counts
			e.Group, changed = group, true
		}
	}
	for name, e := range t.Entries {
		if _, wants := v.wants[name]; wants {
			continue
		}
		if at, is := slices.BinarySearch(e.Wanted, v.self); is {
			e.Wanted, changed = slices.Delete(e.Wanted, at, at+1), true
		}
	}
	return changed
}

// assign gives what nobody has to replicas that can use it: where the rest of its group is, otherwise where the least is.
func (t *table) assign(v *view) (changed bool) {
	load, groups := t.loads()
	for _, name := range slices.Sorted(maps.Keys(t.Entries)) {
		e := t.Entries[name]
		if e.Owner != "" {
			continue
		}
		may := slices.DeleteFunc(slices.Clone(e.Wanted), func(r string) bool { return !v.able[r] })
		if len(may) == 0 {
			continue
		}
		group := cmp.Or(e.Group, name)
		best := slices.MinFunc(may, func(a, b string) int {
			return cmp.Or(
				cmp.Compare(groups[at{b, group}], groups[at{a, group}]),
				cmp.Compare(load[a], load[b]),
				cmp.Compare(rank(a, group), rank(b, group)))
		})
		t.Epoch++
		e.Owner, e.Epoch, changed = best, t.Epoch, true
		load[best]++
		groups[at{best, group}]++
	}
	return changed
}

type at struct{ replica, group string }

// loads counts what each replica has, and of each group.
func (t *table) loads() (load map[string]int, groups map[at]int) {
	load, groups = map[string]int{}, map[at]int{}
	for name, e := range t.Entries {
		if e.Owner != "" {
			load[e.Owner]++
			groups[at{e.Owner, cmp.Or(e.Group, name)}]++
		}
	}
	return load, groups
}

// rank orders replicas differently for each group, and alike at all replicas.
func rank(replica, group string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(replica + "\x00" + group))
	return h.Sum64()
}

// unwanted returns the items that this replica has and should give away: those that it can no longer use, and, where it is drained,
// those that another one can take.
func (t *table) unwanted(v *view) map[string]bool {
	list := map[string]bool{}
	for name, e := range t.Entries {
		if e.Owner != v.self {
			continue
		}
		_, wants := v.wants[name]
		if !wants || !v.able[v.self] && slices.ContainsFunc(e.Wanted, func(r string) bool { return v.able[r] }) {
			list[name] = true
		}
	}
	return list
}

// surplus returns the smallest group of this replica that would be better at another one, which has at least twice its size less; none
// if all is well balanced.
func (t *table) surplus(v *view) map[string]bool {
	load, groups := t.loads()
	of := map[string][]string{}
	for name, e := range t.Entries {
		if e.Owner == v.self {
			of[cmp.Or(e.Group, name)] = append(of[cmp.Or(e.Group, name)], name)
		}
	}
	var best []string
	for group, names := range of {
		better := func(r string) bool {
			return r != v.self && v.steady[r] && groups[at{r, group}] == 0 && load[v.self]-load[r] >= 2*len(names) &&
				!slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(t.Entries[name].Wanted, r) })
		}
		slices.Sort(names)
		if slices.ContainsFunc(slices.Collect(maps.Keys(v.steady)), better) &&
			(best == nil || cmp.Or(cmp.Compare(len(names), len(best)), slices.Compare(names, best)) < 0) {
			best = names
		}
	}
	list := map[string]bool{}
	for _, name := range best {
		list[name] = true
	}
	return list
}
