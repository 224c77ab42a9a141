package answer

import (
	"encoding/json"
	"time"
)

// The states of a node.
const (
	NodeHere   = "here"      // it is the answering node
	NodeOnline = "connected" // to its parent, and so on up to the answering node
	NodeAway   = "away"
)

// Node is this node or a descendant, with the status that it last reported.
type Node struct {
	_ struct{} `doc:"Figures are 0, texts empty where the node does not say."`

	Name    string     `json:"name"`
	State   string     `json:"state" api:"one-of=here|connected|away" doc:"here: it is the one that answers"`
	Since   *time.Time `json:"since,omitempty" doc:"Since when it is away; of a child that is connected, since when it is"`
	Parent  string     `json:"parent" doc:"Its parent; empty without one"`
	Path    []string   `json:"path" doc:"The nodes from below the one that answers to this one; empty for itself"`
	Prefix  string     `json:"prefix" doc:"Below which its points are here"`
	Origins []string   `json:"origins" doc:"Of its blocks"`

	Heard   *time.Time `json:"heard,omitempty" doc:"When it said what follows, by the clock of the one that answers; missing: never"`
	Version string     `json:"version"`
	Roles   []string   `json:"roles" doc:"collector (it has devices), concentrator (it has children), store, agents, child (it has a parent)"`
	Started *time.Time `json:"started,omitempty" doc:"By its clock"`

	Link     string   `json:"link" doc:"Its way to its parent: connecting, connected, refused, pending, revoked; empty without a parent"`
	LinkNote string   `json:"link_note" doc:"Why it is not connected, or why its data is not taken"`
	RTTMS    float64  `json:"rtt_ms" doc:"Of a report to its parent and the answer, in milliseconds"`
	OffsetMS float64  `json:"offset_ms" doc:"Its clock less that of its parent, as it measured, in milliseconds"`
	SkewMS   *float64 `json:"skew_ms,omitempty" doc:"The same, as its parent measured; only of children of the one that answers"`

	Waiting      uint64     `json:"waiting" doc:"Samples that its parent does not have yet"`
	WaitingBytes uint64     `json:"waiting_octets" doc:"Of them in its log, about"`
	WaitingSince *time.Time `json:"waiting_since,omitempty" doc:"When the oldest of them was recorded, by its clock"`

	Disk     int64    `json:"disk" doc:"Bytes left for its data"`
	DiskSize int64    `json:"disk_size"` // bytes
	Celsius  *float64 `json:"celsius,omitempty" doc:"The temperature of the board, if it tells"`
	Memory   int64    `json:"memory" doc:"Bytes"`
	CPU      float64  `json:"cpu" doc:"Processors in use"`

	Devices        int    `json:"devices"`
	DevicesFailing int    `json:"devices_failing" doc:"Those that do not answer"`
	Points         int    `json:"points" doc:"Of its own devices"`
	Agents         int    `json:"agents"`
	AgentsFailing  int    `json:"agents_failing" doc:"Those that end again and again, or say that they are bad"`
	Alerts         int    `json:"alerts" doc:"Open alarms of the node, of which alerts of agents are some"`
	Health         string `json:"health" doc:"ok, degraded; empty: unknown"`
	Note           string `json:"note" doc:"What a person should know, such as that it went back to an older configuration"`

	Outages  []Outage  `json:"outages,omitempty" api:"max=21" doc:"When it was away, the newest first; only of children of the one that answers"`
	Received *Received `json:"received,omitempty"` // from a child: counts since the start of the answering node
	// Live describes the live messages between a child and the answering node, or between the answering node and
	// its parent; nil if there is no such link, or one of the two does not support it.
	Live *LiveLink `json:"live,omitempty"`
}

// Outage is a time in which a child was not connected, and the outcome for the data it recorded during that time.
type Outage struct {
	_ struct{} `doc:"A time in which a child was not connected. When it greets again, both compare up to which number each has the blocks of each origin on disk: the difference is what waited."`

	From    time.Time  `json:"from" doc:"When it was heard of last; if that is not known, when the node that tells began to look"`
	Unknown *time.Time `json:"unknown,omitempty" doc:"Since when nobody knows before from whether it was there, because that node did not run; missing: from was seen"`
	To      *time.Time `json:"to,omitempty" doc:"When it came back; missing: it has not yet"`
	Waited  uint64     `json:"waited" doc:"Samples that were on disk there and not here when it came back"`
	Coming  uint64     `json:"coming" doc:"Of them those that are still not on disk here"`
	Missing uint64     `json:"missing" doc:"Of them those that it could not send any more"`
	Left    uint64     `json:"left" doc:"Of them those that were left out on purpose"`
	Done    *time.Time `json:"done,omitempty" doc:"When the last of them was on disk here; missing: not yet"`
	At      string     `json:"at,omitempty" doc:"The ancestor that counted this, on whose disk here means; missing: this node"`
}

// Received counts what arrived from a child.
type Received struct {
	_ struct{} `doc:"What came from a child since the start of the one that answers"`

	Blocks   uint64 `json:"blocks"`
	Samples  uint64 `json:"samples"`
	Bytes    uint64 `json:"octets"`
	Repeated uint64 `json:"repeated" doc:"Samples that were here already"`
	Missing  uint64 `json:"missing" doc:"Samples that it could not send any more"`
	Left     uint64 `json:"left" doc:"Samples that were left out on the way"`
	Dropped  uint64 `json:"dropped" doc:"Frames that came too fast; they come again"`
	Reason   string `json:"reason" doc:"Why its last block was not taken; empty if it was"`
}

// RefusedNode is a node that was refused admission to the tree.
type RefusedNode struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Nodes lists this node first, and then all its descendants, parents before children.
type Nodes struct {
	Nodes   []Node        `json:"nodes"`
	Above   []string      `json:"above" doc:"The parent and those above it, the nearest first"`
	Refused []RefusedNode `json:"refused" doc:"Descendants of this node that its parent does not let into the tree"`
}

// NodesChange is an event of the stream about nodes: the first is complete, each further one holds the changes since the previous event.
type NodesChange struct {
	_ struct{} `doc:"An event of the stream about nodes: what changed since the one before"`

	Whole   bool                         `json:"whole,omitempty" doc:"Nodes that are not here are no more; of the first event"`
	Nodes   []map[string]json.RawMessage `json:"nodes" api:"items=NodeChange" doc:"Of each node that changed its name, and those fields of a Node that changed; null for one that is no more"`
	Gone    []string                     `json:"gone,omitempty" doc:"Names of those that are no more"`
	Above   *[]string                    `json:"above,omitempty" doc:"As of Nodes, if it changed"`
	Refused *[]RefusedNode               `json:"refused,omitempty" doc:"As of Nodes, if it changed"`
}

// LedgerChange is an event of the stream about nodes with the ledger: the first is complete, others hold what changed since the last.
type LedgerChange struct {
	_ struct{} `doc:"An event of the stream about nodes with the ledger: what changed since the one before"`

	Whole  bool                       `json:"whole,omitempty" doc:"Accounts of nodes that are not here are no more; of the first event"`
	Ledger map[string]json.RawMessage `json:"ledger" doc:"The fields of a Ledger that changed, without the nodes"`
	Nodes  []LedgerNode               `json:"nodes" doc:"The accounts that changed, by more than as_of"`
	Gone   [][]string                 `json:"gone,omitempty" doc:"Paths of the nodes whose accounts are no more"`
}
