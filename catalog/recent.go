package catalog

import (
	"sync"

	"voltbus/identity"
)

// recent keeps the credentials that were looked up since the last change of any user or credential: each request asks for one, twice,
// and a look-up in the database takes longer than to read a meter's message. It is safe for concurrent use.
type recent struct {
	mu      sync.RWMutex
	changes uint64
	of      map[identity.Hash]identity.Credential
}

// mostRecent bounds how many are kept; a few hundred bytes each.
const mostRecent = 4096

// get returns a credential, or how many changes there were before it is looked up.
func (r *recent) get(hash identity.Hash) (c identity.Credential, known bool, changes uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	c, known = r.of[hash]
	return c, known, r.changes
}

// put keeps a credential that was looked up, unless something changed meanwhile.
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

// changed forgets all. It is called after each change, before anybody is told that it is done.
func (r *recent) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes++
	r.of = nil
}
