package answer

import "time"

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

	Received *Received `json:"received,omitempty"` // of a child: what came since the start of the one that answers
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
