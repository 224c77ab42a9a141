// Package uplink defines the messages between a node and its parent about blocks: lanes, the frame around a block, the greeting and the
// answers. docs/formats/uplink.md describes them. Package sender is the child's side, package receiver the parent's.
package uplink

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/wire"
)

// Protocol is the version of the protocol. Added fields do not change it: nodes that do not know them ignore
// them, and nodes that do not receive them do without.
const Protocol = 1

// The supported versions: including the next one, so that either end may be updated first.
const (
	OldestProtocol = 1
	NewestProtocol = Protocol + 1
)

// Understand refuses the protocol version of the node other if the node here does not support it:
// fault.Invalid, naming the one to update.
func Understand(protocol int, other, here string) error {
	var update string
	switch {
	case protocol < OldestProtocol:
		update = other
	case protocol > NewestProtocol:
		update = here
	default:
		return nil
	}
	return fault.E("uplink.Understand", fault.Invalid, other, fmt.Errorf(
		"%w: it speaks %d, and %s understands %d to %d; update the program of %s", errProtocol, protocol, here, OldestProtocol, NewestProtocol, update))
}

var errProtocol = errors.New("the versions of the uplink are too far apart")

// Lane is a lane of blocks. Each keeps its order, and the urgent one overtakes the other.
type Lane string

// The lanes.
const (
	Normal Lane = wire.NormalLane
	Urgent Lane = wire.UrgentLane
)

// urgentMark is the suffix of origins whose blocks use the urgent lane.
const urgentMark = "!"

// LaneOf returns the lane of an origin's blocks.
func LaneOf(origin string) Lane {
	if strings.HasSuffix(origin, urgentMark) {
		return Urgent
	}
	return Normal
}

// The methods that a child may call on its parent.
const (
	HelloMethod     = "uplink.hello"
	PositionsMethod = "uplink.positions"
	DescribeMethod  = "uplink.describe"
)

// Position is how far an origin's blocks have come.
type Position struct {
	Sequence uint64 `json:"sequence"` // of the last block; 0 before the first
	Samples  uint64 `json:"samples"`  // in all blocks up to it, including those left out
}

// Hello is the first message of a child on a connection.
type Hello struct {
	Protocol int                 `json:"protocol"`
	Version  string              `json:"version"` // of the program, for people
	Time     time.Time           `json:"time"`    // the child's clock
	Origins  map[string]Position `json:"origins"` // the child's positions of all origins that it sends
}

// Welcome is the parent's answer to a Hello.
type Welcome struct {
	Protocol  int                 `json:"protocol"`
	Name      string              `json:"name"`             // the parent's
	Prefix    point.Path          `json:"prefix,omitempty"` // all points of the child lie below it; "" for anywhere
	Time      time.Time           `json:"time"`             // the parent's clock
	Positions map[string]Position `json:"positions"`        // the parent's positions of the origins in the Hello, which are authoritative
	Window    int64               `json:"window"`           // bytes of a lane that may be in flight
	Parts     bool                `json:"parts,omitempty"`  // blocks may be sent in parts
	Live      bool                `json:"live,omitempty"`   // live messages may be sent, on a separate connection
	Store     string              `json:"store,omitempty"`  // the database that the parent stores into; "" for its own files, UnknownStore while it is unavailable
}

// UnknownStore stands for a database that has not been reached yet, so that its identity is unknown.
const UnknownStore = "unknown"

// Origins requests positions.
type Origins struct {
	Origins []string `json:"origins"`
}

// Positions answers Origins.
type Positions struct {
	Positions map[string]Position `json:"positions"`
}

// Answer is the outcome for blocks of an origin.
type Answer struct {
	Epoch  uint64 `json:"epoch"` // of the answered frame
	Origin string `json:"origin"`
	// Position is how far the parent has the origin on disk: everything up to it is acknowledged.
	Position
	// Expected requests going back: the block after Position did not arrive.
	Expected bool `json:"expected,omitempty"`
	// Failure tells why a block was refused. With the kind unavailable this is temporary; otherwise the
	// origin waits until a person removes the cause.
	Failure *wire.Failure `json:"failure,omitempty"`
	// Part answers a part that is not the last.
	Part *Held `json:"part,omitempty"`
}

// Err returns the failure as an error of its kind, or nil.
func (a *Answer) Err() error {
	if a.Failure == nil {
		return nil
	}
	kind, _ := fault.ParseKind(a.Failure.Kind)
	return fault.E("uplink", kind, a.Failure.Subject, a.Failure)
}

// Description is a child's description of one of its points.
type Description struct {
	Path        point.Path        `json:"path"`
	Kind        string            `json:"kind"`
	Unit        string            `json:"unit,omitempty"`
	Description string            `json:"description,omitempty"`
	Writable    bool              `json:"writable,omitempty"`
	Device      point.Path        `json:"device,omitempty"`
	Interval    time.Duration     `json:"interval,omitempty"` // nanoseconds
	Tags        map[string]string `json:"tags,omitempty"`
	Removed     bool              `json:"removed,omitempty"` // it has been removed
}

// Descriptions are a child's descriptions of points; at most MaxDescriptions at once.
type Descriptions struct {
	Points []Description `json:"points"`
}

// MaxDescriptions bounds one message with descriptions.
const MaxDescriptions = 500

// Frame is the envelope of a block on its way up.
type Frame struct {
	// Epoch counts the restarts of the lane on its connection. Answers repeat it, so that answers to earlier
	// frames can be distinguished.
	Epoch uint64
	// Previous is the sequence number up to which the sender has sent the origin, or knows the parent to have
	// it, before this block. A parent with another position missed something.
	Previous uint64
	Block    []byte // encoded, see package wire
}

// frameVersion is the first byte of a frame.
const frameVersion = 1

var (
	errFrame   = errors.New("the frame of the block is cut short")
	errVersion = errors.New("the frame of the block is of a version that this node does not know; update this node first, the child later")
)

// Append appends the frame to dst.
func (f *Frame) Append(dst []byte) []byte {
	dst = append(dst, frameVersion)
	dst = binary.AppendUvarint(dst, f.Epoch)
	dst = binary.AppendUvarint(dst, f.Previous)
	return append(dst, f.Block...)
}

// ParseFrame parses a frame. Its block is a slice of data. It fails with fault.Corrupt.
func ParseFrame(data []byte) (f Frame, err error) {
	const op = "uplink.ParseFrame"
	if len(data) == 0 {
		return f, fault.E(op, fault.Corrupt, "", errFrame)
	}
	if data[0] != frameVersion {
		return f, fault.E(op, fault.Corrupt, "", fmt.Errorf("%w (%d)", errVersion, data[0]))
	}
	data = data[1:]
	for _, number := range []*uint64{&f.Epoch, &f.Previous} {
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return f, fault.E(op, fault.Corrupt, "", errFrame)
		}
		*number, data = v, data[n:]
	}
	f.Block = data
	return f, nil
}

// Encode returns the encoded answer.
func (a *Answer) Encode() []byte {
	body, err := json.Marshal(a)
	if err != nil { // numbers and strings cannot fail
		return nil
	}
	return body
}

// ParseAnswer decodes an answer. It fails with fault.Corrupt.
func ParseAnswer(body []byte) (a Answer, err error) {
	if err := json.Unmarshal(body, &a); err != nil {
		return a, fault.E("uplink.ParseAnswer", fault.Corrupt, "", fmt.Errorf("read the parent's answer: %w", err))
	}
	return a, nil
}

// Refusal is the body of an answer that reports an error.
func Refusal(err error) []byte {
	body, _ := json.Marshal(wire.Reply{Error: FailureOf(err, identity.MissingOf(err))}) // strings cannot fail
	return body
}

// FailureOf converts an error to the form in which it is sent. missing is the missing capability of a
// refusal.
func FailureOf(err error, missing string) *wire.Failure {
	f := &wire.Failure{Kind: fault.KindOf(err).String(), Message: err.Error(), Missing: missing}
	if e, ok := errors.AsType[*fault.Error](err); ok {
		f.Subject = e.Subject
		if e.Err != nil {
			f.Message = e.Err.Error()
		}
	}
	return f
}
