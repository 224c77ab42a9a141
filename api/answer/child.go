package answer

import (
	"time"

	"voltbus/identity"
)

// Child is a node below this one.
type Child struct {
	Name       string          `json:"name"`
	Public     string          `json:"public"`      // the public key
	Print      string          `json:"fingerprint"` // what people compare of it
	State      string          `json:"state"`       // pending, approved, revoked, expired
	Prefix     string          `json:"prefix"`      // below which its points are; "" for everywhere
	Grants     identity.Grants `json:"grants"`      // what it may do beside recording and publishing below the prefix
	Version    string          `json:"version"`     // of its program, when it joined
	Invitation string          `json:"invitation"`  // the ID of the one that it joined with; "" for none
	Joined     time.Time       `json:"joined"`
	Changed    time.Time       `json:"changed"`           // when its state changed last
	By         string          `json:"by"`                // who changed it; "" if nobody had to
	Keys       int             `json:"keys"`              // how many it has had
	Expires    *time.Time      `json:"expires,omitempty"` // until when the key of a bundle is taken that was not used yet; nil: it was, or does not expire
	Online     *AgentOnline    `json:"online,omitempty"`  // nil: it is not connected
	Refusal    string          `json:"refusal"`           // why blocks of it are not taken; "" if they are
}

// ChildExpired is the state of a child with a bundle that was not used in its time.
const ChildExpired = "expired"

// Children are the nodes below this one, by name.
type Children struct {
	Children []Child `json:"children"`
}

// Invitation lets one node become a child.
type Invitation struct {
	ID       string          `json:"id"`
	State    string          `json:"state"`    // open, used, expired, cancelled
	Approved bool            `json:"approved"` // the child needs nobody's approval
	Name     string          `json:"name"`     // what the child is called; "" lets it choose
	Prefix   string          `json:"prefix"`
	Grants   identity.Grants `json:"grants"`
	Created  time.Time       `json:"created"`
	Expires  time.Time       `json:"expires"`
	By       string          `json:"by"`             // who invited
	Used     *time.Time      `json:"used,omitempty"` // when
	UsedBy   string          `json:"used_by"`        // the child's name; "" if nobody used it
}

// Invitations are the invitations, the newest first.
type Invitations struct {
	Invitations []Invitation `json:"invitations"`
}

// Invited is a new invitation with its code, which is shown only here.
type Invited struct {
	Invitation Invitation `json:"invitation"`
	Code       string     `json:"code"`
	QR         []string   `json:"qr"`        // the code as a picture, a row a text, "1" for dark
	Addresses  []string   `json:"addresses"` // where the code says that this node is
}

// Door is how nodes reach and recognise this one.
type Door struct {
	Node        string   `json:"node"`
	Addresses   []string `json:"addresses"`   // host:port of the bus
	Fingerprint string   `json:"fingerprint"` // of the authority
	Authority   string   `json:"authority"`   // its certificate, PEM
}

// Parent is the node above this one.
type Parent struct {
	Member      bool       `json:"member"` // false: there is none, and the rest says nothing
	Parent      string     `json:"parent"` // its name
	Addresses   []string   `json:"addresses"`
	Fingerprint string     `json:"fingerprint"` // of its authority
	Name        string     `json:"name"`        // what it calls this node
	Prefix      string     `json:"prefix"`
	State       string     `json:"state"`           // pending, approved, revoked, expired; "" without a parent
	Why         string     `json:"why"`             // the state in words
	Key         string     `json:"key_fingerprint"` // what people compare of this node's key
	Joined      *time.Time `json:"joined,omitempty"`
	Uplink      *Uplink    `json:"uplink,omitempty"` // nil without a parent
}

// Uplink is how the blocks of this node go up.
type Uplink struct {
	State    string         `json:"state"` // connecting, connected, refused
	Since    *time.Time     `json:"since,omitempty"`
	Reason   string         `json:"reason"`    // why there is no connection; "" if there is one
	RTTMS    float64        `json:"rtt_ms"`    // of the greeting, in milliseconds
	OffsetMS float64        `json:"offset_ms"` // the parent's clock less this one, in milliseconds
	Waiting  uint64         `json:"waiting"`   // blocks of the log that are not acknowledged
	Lanes    []UplinkLane   `json:"lanes"`
	Origins  []UplinkOrigin `json:"origins"`
	Live     *LiveLink      `json:"live,omitempty"` // nil of a node that does not know how
}

// UplinkLane is a lane of the uplink.
type UplinkLane struct {
	Name   string     `json:"name"`             // normal, urgent
	Frames int        `json:"frames"`           // under way
	Octets int64      `json:"octets"`           // of them
	Oldest *time.Time `json:"oldest,omitempty"` // when the oldest block that was read and is not acknowledged was closed
	Sent   uint64     `json:"sent"`             // octets since the start
	Back   uint64     `json:"back"`             // times that it began anew, since the parent missed something
}

// UplinkOrigin counts samples of an origin since the start.
type UplinkOrigin struct {
	Origin       string `json:"origin"`
	Sequence     uint64 `json:"sequence"` // of the last block that the parent has
	Samples      uint64 `json:"samples"`  // in all blocks up to it
	Sent         uint64 `json:"sent"`
	Octets       uint64 `json:"octets"`
	Acknowledged uint64 `json:"acknowledged"`
	Left         uint64 `json:"left"`     // left out by the selection
	Repeated     uint64 `json:"repeated"` // sent once more
	Dropped      uint64 `json:"dropped"`  // the log had dropped them, or they were damaged
	Reason       string `json:"reason"`   // why the parent does not take it; "" if it does
}
