package answer

import (
	"encoding/json"
	"time"
)

// The states of a node.
const (
	NodeHere   = "here"      // it is the one that answers
	NodeOnline = "connected" // to the node above it, and so on up to the one that answers
	NodeAway   = "away"
)

// Node is this node or one below it, as it said last how it is.
type Node struct {
	Name    string     `json:"name"`
	State   string     `json:"state"`           // here, connected, away
	Since   *time.Time `json:"since,omitempty"` // since when it is away; of a child that is connected, since when it is
	Parent  string     `json:"parent"`          // the node above it; "" without one
	Path    []string   `json:"path"`            // the nodes from below the one that answers to this one; empty for itself
	Prefix  string     `json:"prefix"`          // below which its points are here
	Origins []string   `json:"origins"`         // of its blocks

	Heard   *time.Time `json:"heard,omitempty"` // when it said what follows, by the clock of the one that answers; nil: never
	Version string     `json:"version"`
	Roles   []string   `json:"roles"`             // collector, concentrator, store, agents, child
	Started *time.Time `json:"started,omitempty"` // by its clock

	Link     string   `json:"link"`              // its way to its parent: connecting, connected, refused, pending, revoked; "" without one
	LinkNote string   `json:"link_note"`         // why it is not connected, or why its data is not taken
	RTTMS    float64  `json:"rtt_ms"`            // of a report to its parent and the answer
	OffsetMS float64  `json:"offset_ms"`         // its clock less that of its parent, as it measured
	SkewMS   *float64 `json:"skew_ms,omitempty"` // the same, as its parent measured; only at the parent

	Waiting       uint64     `json:"waiting"`                 // samples that its parent does not have yet
	WaitingOctets uint64     `json:"waiting_octets"`          // of them in its log, about
	WaitingSince  *time.Time `json:"waiting_since,omitempty"` // when the oldest was recorded, by its clock

	Disk     int64    `json:"disk"`      // octets left for its data
	DiskSize int64    `json:"disk_size"` // octets
	Celsius  *float64 `json:"celsius,omitempty"`
	Memory   int64    `json:"memory"` // octets
	CPU      float64  `json:"cpu"`    // processors in use

	Devices        int    `json:"devices"`
	DevicesFailing int    `json:"devices_failing"`
	Points         int    `json:"points"` // of its own devices
	Agents         int    `json:"agents"`
	AgentsFailing  int    `json:"agents_failing"`
	Alerts         int    `json:"alerts"`
	Health         string `json:"health"` // ok, degraded; "" unknown
	Note           string `json:"note"`   // what a person should know

	Outages  []Outage  `json:"outages,omitempty"`  // when it was away from its parent, the newest first; of nodes deeper than children the newest three
	Received *Received `json:"received,omitempty"` // of a child: what came since the start of the one that answers
	// Live is how live messages go between a child and the one that answers, or of that between it and its parent;
	// nil if there is no such link, or one of them does not know how.
	Live *LiveLink `json:"live,omitempty"`
}

// Outage is a time in which a child was not connected, and what became of what it recorded meanwhile.
type Outage struct {
	From    time.Time  `json:"from"`              // when it was heard of last, or when the node that tells began to look
	Unknown *time.Time `json:"unknown,omitempty"` // since when nobody knows before From, because that node did not run; nil: From was seen
	To      *time.Time `json:"to,omitempty"`      // when it came back; nil: it has not yet
	Waited  uint64     `json:"waited"`            // samples that were there and not here when it came back
	Coming  uint64     `json:"coming"`            // of them those that are still not on disk here
	Missing uint64     `json:"missing"`           // of them those that it could not send any more
	Left    uint64     `json:"left"`              // of them those that were left out on purpose
	Done    *time.Time `json:"done,omitempty"`    // when the last of them was on disk here; nil: not yet
	At      string     `json:"at,omitempty"`      // the node above it that counted this, and is "here" then; "" for this one
}

// Received counts what came from a child.
type Received struct {
	Blocks   uint64 `json:"blocks"`
	Samples  uint64 `json:"samples"`
	Octets   uint64 `json:"octets"`
	Repeated uint64 `json:"repeated"` // samples that were here already
	Missing  uint64 `json:"missing"`  // samples that it could not send any more
	Left     uint64 `json:"left"`     // samples that were left out on the way
	Dropped  uint64 `json:"dropped"`  // frames that came too fast; they come again
	Reason   string `json:"reason"`   // why its last block was not taken; "" if it was
}

// RefusedNode is a node that the tree does not let in.
type RefusedNode struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Nodes are this node, first, and all below it, those above others first.
type Nodes struct {
	Nodes   []Node        `json:"nodes"`
	Above   []string      `json:"above"`   // the parent and those above it, the nearest first
	Refused []RefusedNode `json:"refused"` // nodes below that the parent does not let in
}

// NodesChange is an event of the stream about nodes: the first one is whole, the others are what changed
// since the one before.
type NodesChange struct {
	Whole bool `json:"whole,omitempty"` // nodes that are not here are no more
	// Nodes are those that changed: name, and the fields of a Node that changed, null for one that is
	// no more. One that is new comes with all.
	Nodes   []map[string]json.RawMessage `json:"nodes"`
	Gone    []string                     `json:"gone,omitempty"`    // names of those that are no more
	Above   *[]string                    `json:"above,omitempty"`   // as in Nodes, if it changed
	Refused *[]RefusedNode               `json:"refused,omitempty"` // as in Nodes, if it changed
}

// LedgerChange is an event of the stream about nodes with the ledger: the first one is whole, the others are
// what changed since the one before.
type LedgerChange struct {
	Whole  bool                       `json:"whole,omitempty"` // accounts of nodes that are not here are no more
	Ledger map[string]json.RawMessage `json:"ledger"`          // the fields of a Ledger that changed, without the nodes
	Nodes  []LedgerNode               `json:"nodes"`           // the accounts that changed, by more than when they were asked for
	Gone   [][]string                 `json:"gone,omitempty"`  // the paths of nodes whose accounts are no more
}
