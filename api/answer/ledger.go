package answer

import "time"

// LedgerNode is the account of a node of the subtree, as it said itself.
type LedgerNode struct {
	Node    string    `json:"node"`
	Path    []string  `json:"path"`           // the nodes on the way to it, itself last; empty: the one that answers
	State   string    `json:"state"`          // here; current; old: it is away, and this is what it said last; silent: it said nothing yet
	AsOf    time.Time `json:"as_of,omitzero"` // when it said so
	Reason  string    `json:"reason"`         // why it is not current
	Ledger  string    `json:"ledger"`         // the state of its ledger: ok, paused, backlog
	Stores  bool      `json:"stores"`         // it has a store
	Prefix  string    `json:"prefix"`         // below which its points lie here
	Origins []Hop     `json:"origins"`        // how origins stand there
	Gaps    []Gap     `json:"gaps"`           // the newest

	Overwritten uint64 `json:"overwritten,omitempty"` // samples in the place of which its store has another value of the same time
}

// Hop is how an origin stands at a node.
type Hop struct {
	Origin
	// Above is how many of its samples the parent of the node has on disk, missing ones and those left
	// out included; absent without a parent.
	Above *uint64 `json:"above,omitempty"`
}

// LedgerSum is the account of the whole subtree: what its origins acknowledged, and where it is at the
// node that answers.
type LedgerSum struct {
	Nodes    int    `json:"nodes"`
	Old      int    `json:"old"` // of them those whose word is old, or missing
	Origins  int    `json:"origins"`
	Samples  uint64 `json:"samples"`  // acknowledged where they were produced
	Stored   uint64 `json:"stored"`   // here; without a store, on disk
	Left     uint64 `json:"left_out"` // on their way here, because nobody selected them
	Missing  uint64 `json:"missing"`
	Waiting  uint64 `json:"waiting"` // on their way
	Refused  uint64 `json:"refused"` // that were never acknowledged
	Repeated uint64 `json:"repeated"`

	Overwritten uint64 `json:"overwritten"` // here: of those stored, in the place of which another value of the same time is
}
