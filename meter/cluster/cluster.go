// Package cluster says which members of a cluster of metering data systems keep a meter. It is pure: it neither stores readings nor
// reaches other members.
//
// The choice is rendezvous hashing (highest random weight): each member has a weight for each meter, and the members with the
// highest weights keep it. If a member is added or removed, only the meters that it gets or had are kept elsewhere.
package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Members is who belongs to a cluster. It is immutable and safe for concurrent use.
type Members struct {
	names  []string // in their order
	seeds  []uint64
	copies int
}

// MostMembers and MostCopies bound a cluster.
const (
	MostMembers = 64
	MostCopies  = 2
)

var (
	errFew    = errors.New("a cluster has 2 members or more")
	errMany   = fmt.Errorf("a cluster has %d members at most", MostMembers)
	errCopies = fmt.Errorf("copies: write 1 to %d", MostCopies)
)

// New returns members of these names, in any order, each meter of which is kept by so many of them.
func New(names []string, copies int) (*Members, error) {
	m := &Members{names: slices.Clone(names), copies: copies}
	slices.Sort(m.names)
	switch {
	case len(names) < 2:
		return nil, errFew
	case len(names) > MostMembers:
		return nil, errMany
	case copies < 1 || copies > MostCopies:
		return nil, errCopies
	}
	for i, n := range m.names {
		if n == "" || i > 0 && n == m.names[i-1] {
			return nil, fmt.Errorf("member %q: give each member a name of its own", n)
		}
		m.seeds = append(m.seeds, mix(hash(n)))
	}
	return m, nil
}

// Names lists the members in their order. It is not to be changed.
func (m *Members) Names() []string { return m.names }

// Copies returns how many members keep each meter.
func (m *Members) Copies() int { return m.copies }

// Index returns the place of a member in Names; −1 for a stranger.
func (m *Members) Index(name string) int {
	if i, found := slices.BinarySearch(m.names, name); found {
		return i
	}
	return -1
}

// Owner returns the place in Names of the member that owns a meter.
func (m *Members) Owner(meter string) int {
	owner, _ := m.two(meter)
	return owner
}

// Holders appends to dst the places in Names of the members that keep a meter: its owner, and behind it who keeps the copy.
func (m *Members) Holders(dst []int, meter string) []int {
	owner, second := m.two(meter)
	if dst = append(dst, owner); m.copies > 1 {
		dst = append(dst, second)
	}
	return dst
}

// Holds reports whether the member at a place keeps a meter.
func (m *Members) Holds(at int, meter string) bool {
	owner, second := m.two(meter)
	return at == owner || m.copies > 1 && at == second
}

// two returns the members with the two highest weights.
func (m *Members) two(meter string) (first, second int) {
	h := hash(meter)
	first, second = -1, -1
	var most, next uint64
	for i, seed := range m.seeds {
		switch w := mix(h ^ seed); {
		case first < 0 || w > most:
			second, next = first, most
			first, most = i, w
		case second < 0 || w > next:
			second, next = i, w
		}
	}
	return first, second
}

// Digest is the same for all members that agree on who keeps which meter, in which time zone days are counted, and in nothing else.
func (m *Members) Digest(zone string) string {
	text := "1\n" + zone + "\n" + strconv.Itoa(m.copies) + "\n" + strings.Join(m.names, "\n")
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// String says who belongs to the cluster.
func (m *Members) String() string {
	text := strings.Join(m.names, ", ")
	if m.copies > 1 {
		text += " with " + strconv.Itoa(m.copies) + " copies"
	}
	return text
}

// hash is FNV-1a of 64 bits. Stores depend on it: it never changes.
func hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// mix is the finalizer of SplitMix64: each bit of a weight depends on each bit of meter and member.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
