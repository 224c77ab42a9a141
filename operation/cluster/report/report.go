// Package report holds the answers about replicas.
package report

import "time"

// Cluster is what a replica knows of the cluster that it is one of.
type Cluster struct {
	Replicated bool       `json:"replicated" doc:"Whether the node is one of several replicas; without that everything else is empty"`
	Self       string     `json:"self" doc:"The replica that answers"`
	Reached    int        `json:"reached" api:"min=0" doc:"Replicas that it reaches now, itself too"`
	Majority   int        `json:"majority" api:"min=0" doc:"How many must have a block on disk before it is acknowledged"`
	State      string     `json:"state" api:"one-of=ok|degraded|minority" doc:"minority: nothing is acknowledged here"`
	Sentence   string     `json:"sentence" doc:"The state in words"`
	Ledger     string     `json:"ledger" doc:"What the ledgers of all replicas say together"`
	Lossless   bool       `json:"lossless" doc:"Whether all replicas have stored all that any of them had acknowledged at the time until"`
	Until      *time.Time `json:"until,omitempty" doc:"Up to when that is known"`
	Confirmed  uint64     `json:"confirmed" api:"min=0" doc:"Samples that were acknowledged until then"`
	Replicas   []Replica  `json:"replicas" doc:"By name"`
}

// Replica is one node of a cluster, as it told last.
type Replica struct {
	Name     string        `json:"name"`
	Address  string        `json:"address" doc:"Where it listens for the others"`
	Reached  bool          `json:"reached" doc:"By the replica that answers"`
	Since    time.Time     `json:"since" doc:"Since when it is reached, or not"`
	State    string        `json:"state" api:"one-of=member|joining|leaving|draining|drained|witness" doc:"joining: it was added and has not started yet; leaving: it is being removed; drained: it may be stopped; witness: it has the logs, and neither clients nor devices"`
	Note     string        `json:"note,omitempty" doc:"What it waits for, or what is not well with it"`
	Version  string        `json:"version" doc:"Of its program; empty if it has told nothing yet"`
	Started  *time.Time    `json:"started,omitempty"`
	Clients  int           `json:"clients" api:"min=0" doc:"MQTT clients that are connected to it"`
	Disk     int64         `json:"disk" doc:"Free bytes of its data directory"`
	DiskSize int64         `json:"disk_size" doc:"Bytes"`
	Store    string        `json:"store" doc:"files, none for a witness, or the name of a database"`
	Log      ReplicaLog    `json:"log" doc:"What it recorded, in blocks"`
	Copies   []ReplicaCopy `json:"copies" doc:"How far each other replica has it"`
}

// ReplicaLog is the log that a replica writes.
type ReplicaLog struct {
	Leader       string `json:"leader" doc:"The replica that orders its blocks; empty if that is not known"`
	First        uint64 `json:"first" doc:"Oldest block"`
	Last         uint64 `json:"last" doc:"Newest block"`
	Bytes        int64  `json:"bytes"`
	Acknowledged uint64 `json:"acknowledged" doc:"Samples"`
}

// ReplicaCopy is how far another replica has what a replica recorded.
type ReplicaCopy struct {
	Replica string  `json:"replica"`
	Behind  uint64  `json:"behind" doc:"Entries of the log that are not on its disk"`
	Blocks  uint64  `json:"blocks" doc:"Blocks that it has not stored"`
	Samples uint64  `json:"samples" doc:"Samples in them"`
	Seconds float64 `json:"seconds" api:"min=0" doc:"How long the oldest of them waits"`
	Missing uint64  `json:"missing" doc:"Samples that the log had dropped before it stored them"`
}
