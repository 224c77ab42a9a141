package owner

import (
	"strings"
	"sync"

	"voltbus/bus"
	"voltbus/bus/lease"
)

// The kinds of what has a lease begin its name.
const (
	deviceItem = "device:"
	agentItem  = "agent:"
)

// Control is the name of the lease of control, and the group of the devices that it commands.
const Control = "control"

// Leases combine what several parts of a node want. It is safe for concurrent use.
type Leases struct {
	*lease.Leases

	mu    sync.Mutex
	wants map[string]wanted // by the kind of item
}

// wanted is what one part wants.
type wanted struct {
	items []lease.Item
	busy  func(name string) bool
}

// OpenLeases returns the leases of the parts of a replica; nil for a node alone, and for one that only looks at its data.
func OpenLeases(b *bus.Bus, idle bool) (*Leases, error) {
	if idle {
		return nil, nil //nolint:nilnil // it runs nothing
	}
	l, err := bus.LeasesOf(b)
	if l == nil || err != nil {
		return nil, err
	}
	return &Leases{Leases: l, wants: map[string]wanted{}}, nil
}

// want replaces what is wanted of a kind. The names are without the kind; busy reports whether one is still in use.
func (l *Leases) want(kind string, items []lease.Item, busy func(name string) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wants[kind] = wanted{items, busy}
	var all []lease.Item
	for kind, w := range l.wants {
		for _, i := range w.items {
			all = append(all, lease.Item{Name: kind + i.Name, Group: i.Group})
		}
	}
	l.Leases.Want(all, l.busy)
}

// busy reports whether something is still in use here.
func (l *Leases) busy(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, w := range l.wants {
		if rest, is := strings.CutPrefix(name, kind); is {
			return w.busy(rest)
		}
	}
	return false
}
