package answer

import "time"

// LedgerNode is the account of a node of the subtree, as the node itself reported it.
type LedgerNode struct {
	_ struct{} `doc:"The account of a node, as it said itself"`

	Node    string    `json:"node"`
	Path    []string  `json:"path" doc:"The nodes on the way to it, itself last; empty: this one"`
	State   string    `json:"state" api:"one-of=here|current|old|silent" doc:"old: it does not answer, and this is what it said last; silent: it said nothing yet"`
	AsOf    time.Time `json:"as_of,omitzero"` // when the node reported it
	Reason  string    `json:"reason" doc:"Why it is old or silent, or why the state of its ledger is not ok"`
	Ledger  string    `json:"ledger" doc:"The state of its ledger: ok, paused, backlog"`
	Stores  bool      `json:"stores" doc:"It has a store"`
	Prefix  string    `json:"prefix" doc:"Below which its points lie here"`
	Origins []Hop     `json:"origins"` // the accounts of origins there
	Gaps    []Gap     `json:"gaps"`    // the newest ones

	Overwritten uint64 `json:"overwritten,omitempty" doc:"Samples in the place of which its store has another value of the same time; left out if none"`
}

// Hop is the account of an origin at a node.
type Hop struct {
	_ struct{} `doc:"How an origin stands at a node"`

	Origin
	// Above is how many of its samples the node's parent has on disk, including missing ones and those left out; absent without a parent.
	Above *uint64 `json:"above,omitempty" doc:"Samples that the parent of the node has on disk, missing ones and those left out included; none without a parent, or before it was asked"`
}

// LedgerSum is the account of the whole subtree: what its origins acknowledged, and where it is on the answering node.
type LedgerSum struct {
	_ struct{} `doc:"samples = stored + missing + left_out + waiting, over all origins"`

	Nodes    int    `json:"nodes" api:"schema=Count"`
	Old      int    `json:"old" api:"min=0" doc:"Of them those whose word is old or missing"`
	Origins  int    `json:"origins" api:"schema=Count"`
	Samples  uint64 `json:"samples" doc:"Acknowledged where they were produced"`
	Stored   uint64 `json:"stored" doc:"At this node"`
	Left     uint64 `json:"left_out"` // not sent here, because nobody selected them or a rule withheld them
	Missing  uint64 `json:"missing"`
	Waiting  uint64 `json:"waiting" doc:"On their way"`
	Refused  uint64 `json:"refused" doc:"That were never acknowledged"`
	Repeated uint64 `json:"repeated"`

	Overwritten uint64 `json:"overwritten" doc:"At this node: of those stored, in the place of which another value of the same time is"`
}
