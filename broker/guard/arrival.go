package guard

import (
	"net/netip"
	"sync"

	"voltbus/internal/admission"
)

// Arrivals counts the clients that have not been let in yet, from before their handshake on. They take at most half of
// the places, and those of one network a quarter, so that connections that say nothing keep no device out.
type Arrivals struct {
	most, each int
	mu         sync.Mutex
	all        int
	of         map[netip.Prefix]int
}

// fewArrivals always have a place.
const fewArrivals = 16

// NewArrivals counts for a broker of so many clients.
func NewArrivals(clients int) *Arrivals {
	return &Arrivals{most: max(clients/2, fewArrivals), each: max(clients/4, fewArrivals), of: map[netip.Prefix]int{}}
}

// Enter counts a client; leave, which may be called again, ends that. false if there are too many. On loopback programs
// stand between the broker and clients of many addresses.
func (a *Arrivals) Enter(peer netip.Addr) (leave func(), entered bool) {
	network := admission.ParseNetwork(peer.String())
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all >= a.most || (a.of[network] >= a.each && !peer.IsLoopback()) {
		return nil, false
	}
	a.all++
	a.of[network]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.all--
		if a.of[network]--; a.of[network] == 0 {
			delete(a.of, network)
		}
	}), true
}
