package answer

import (
	"time"

	"voltbus/identity"
)

// Child is a node whose parent is this node.
type Child struct {
	Name       string          `json:"name"`
	Public     string          `json:"public" doc:"The public half of its key"`
	Print      string          `json:"fingerprint" doc:"What people compare of the key"`
	State      string          `json:"state" api:"one-of=pending|approved|revoked|expired" doc:"expired: its bundle was not used in time"`
	Prefix     string          `json:"prefix" doc:"Below which its points are; empty: anywhere"`
	Grants     identity.Grants `json:"grants"` // what it may do besides recording and publishing below the prefix
	Version    string          `json:"version" doc:"Of its program, when it joined"`
	Invitation string          `json:"invitation" doc:"The ID of the one that it joined with, or empty"`
	Joined     time.Time       `json:"joined"`
	Changed    time.Time       `json:"changed"` // when its state last changed
	By         string          `json:"by" doc:"Who changed the state last; empty if nobody had to"`
	Keys       int             `json:"keys" doc:"How many keys it has had"`
	Expires    *time.Time      `json:"expires,omitempty" doc:"Until when the key of a bundle is taken that was not used yet; left out: it was used, or does not expire"`
	Online     *AgentOnline    `json:"online,omitempty" doc:"Left out if it is not connected"`
	Refusal    string          `json:"refusal" doc:"Why blocks of it are not taken, such as a point outside its prefix; empty if they are"`
}

// ChildExpired is the state of a child whose bundle was not used in time.
const ChildExpired = "expired"

// Children are the children of this node, by name.
type Children struct {
	Children []Child `json:"children"`
}

// Invitation lets one node become a child.
type Invitation struct {
	ID       string          `json:"id"`
	State    string          `json:"state" api:"one-of=open|used|expired|cancelled"` // open, used, expired, cancelled
	Approved bool            `json:"approved"`                                       // the child needs no approval
	Name     string          `json:"name" doc:"What the node is called; empty: it chooses"`
	Prefix   string          `json:"prefix"`
	Grants   identity.Grants `json:"grants"`
	Created  time.Time       `json:"created"`
	Expires  time.Time       `json:"expires"`
	By       string          `json:"by" doc:"Who invited"`
	Used     *time.Time      `json:"used,omitempty"` // when it was used
	UsedBy   string          `json:"used_by" doc:"The name of the node that used it, or empty"`
}

// Invitations are the invitations, newest first.
type Invitations struct {
	Invitations []Invitation `json:"invitations"`
}

// Invited is a new invitation with its code, which is shown only once.
type Invited struct {
	Invitation Invitation `json:"invitation"`
	Code       string     `json:"code" doc:"Begins with vb1; a secret until it is used"`
	QR         []string   `json:"qr" doc:"The code as a picture: a row a text, 1 for dark, without a margin; empty if it is too long"`
	Addresses  []string   `json:"addresses"` // the addresses of this node in the code
}

// Door tells how other nodes reach and recognise this one.
type Door struct {
	Node        string   `json:"node"`
	Addresses   []string `json:"addresses"` // host:port of the bus
	Fingerprint string   `json:"fingerprint" doc:"SHA-256 of the certificate of its authority"`
	Authority   string   `json:"authority" doc:"That certificate, PEM"`
}

// Parent is the parent of this node.
type Parent struct {
	Member      bool       `json:"member" doc:"Whether this node has a parent; if not, the rest is empty"`
	Parent      string     `json:"parent" doc:"Its name"`
	Addresses   []string   `json:"addresses"`
	Fingerprint string     `json:"fingerprint" doc:"Of its authority"`
	Name        string     `json:"name" doc:"What it calls this node"`
	Prefix      string     `json:"prefix"`
	State       string     `json:"state" api:"one-of=|pending|approved|revoked|expired"` // pending, approved, revoked, expired; "" without a parent
	Why         string     `json:"why" doc:"The state in words, as the parent said it"`
	Key         string     `json:"key_fingerprint" doc:"What people compare of the key that the parent knows"`
	Joined      *time.Time `json:"joined,omitempty"`
	Uplink      *Uplink    `json:"uplink,omitempty"` // nil without a parent
}

// Uplink is the state of this node's uplink, which sends its blocks to the parent.
type Uplink struct {
	_ struct{} `doc:"How the blocks of this node go up"`

	State    string         `json:"state" api:"one-of=connecting|connected|refused"` // connecting, connected, refused
	Since    *time.Time     `json:"since,omitempty"`
	Reason   string         `json:"reason" doc:"Why there is no connection; empty if there is one"`
	RTTMS    float64        `json:"rtt_ms" doc:"Of the greeting, in milliseconds"`
	OffsetMS float64        `json:"offset_ms" doc:"The parent's clock less this one, in milliseconds"`
	Waiting  uint64         `json:"waiting" doc:"Blocks of the log that the parent has not acknowledged"`
	Lanes    []UplinkLane   `json:"lanes"`
	Origins  []UplinkOrigin `json:"origins"`
	Live     *LiveLink      `json:"live,omitempty"` // nil if the node does not support it
}

// UplinkLane is a lane of the uplink.
type UplinkLane struct {
	Name   string     `json:"name" api:"one-of=normal|urgent"` // normal, urgent
	Frames int        `json:"frames" doc:"Under way"`
	Bytes  int64      `json:"octets" doc:"Under way"`
	Oldest *time.Time `json:"oldest,omitempty"` // when the oldest unacknowledged block that was read was closed
	Sent   uint64     `json:"sent" doc:"Bytes since the start"`
	Back   uint64     `json:"back" doc:"Times that it began anew, since the parent missed something"`
}

// UplinkOrigin counts the samples of an origin since the start.
type UplinkOrigin struct {
	Origin       string `json:"origin"`
	Sequence     uint64 `json:"sequence" doc:"Of the last block that the parent has"`
	Samples      uint64 `json:"samples" doc:"In all blocks up to it"`
	Sent         uint64 `json:"sent" doc:"Samples since the start"`
	Bytes        uint64 `json:"octets" doc:"Since the start"`
	Acknowledged uint64 `json:"acknowledged" doc:"Samples since the start, with those left out"`
	Left         uint64 `json:"left" doc:"Samples that the selection left out"`
	Repeated     uint64 `json:"repeated" doc:"Samples that were sent once more"`
	Dropped      uint64 `json:"dropped" doc:"Samples that the log had dropped, or that were damaged"`
	Reason       string `json:"reason" doc:"Why the parent does not take it; empty if it does"`
}
