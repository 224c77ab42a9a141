package catalog

import (
	"sync"

	"voltbus/identity"
)

// recent caches the credentials looked up since the last change of any user or credential: each request needs one, twice, and a
// database look-up takes longer than reading a meter's message. It is safe for concurrent use.
type recent struct {
	mu      sync.RWMutex
	changes uint64
	of      map[identity.Hash]identity.Credential
}

// mostRecent bounds the number of cached ones; a few hundred bytes each.
const mostRecent = 4096

// get returns a credential, or the number of changes before its look-up.
func (r *recent) get(hash identity.Hash) (c identity.Credential, known bool, changes uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	c, known = r.of[hash]
	return c, known, r.changes
}

// put caches a looked-up credential, unless something changed meanwhile.
func (r *recent) put(c identity.Credential, changes uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changes != changes {
		return
	}
	if r.of == nil || len(r.of) >= mostRecent {
		r.of = make(map[identity.Hash]identity.Credential)
	}
	r.of[c.Hash] = c
}

// changed clears the cache. It is called after each change, before the change is reported as done.
func (r *recent) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	r.of = nil
}
