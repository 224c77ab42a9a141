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

// Protocol is the version of what is said. Fields that are added do not change it: who does not know
// them ignores them, and who does not get them does without.
const Protocol = 1

// The versions that are understood: also the next one, so that either end may be updated first.
const (
	OldestProtocol = 1
	NewestProtocol = Protocol + 1
)

// Understand refuses the version that the node other speaks if the node here does not understand it:
// fault.Invalid, with which of the two to update.
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

// Lane is a way up. Each keeps its order, and the urgent one overtakes the other.
type Lane string

// The lanes.
const (
	Normal Lane = wire.NormalLane
	Urgent Lane = wire.UrgentLane
)

// urgentMark ends the names of origins whose blocks go by the urgent lane.
const urgentMark = "!"

// LaneOf returns the lane of an origin's blocks.
func LaneOf(origin string) Lane {
	if strings.HasSuffix(origin, urgentMark) {
		return Urgent
	}
	return Normal
}

// The methods that a child may ask of its parent.
const (
	HelloMethod     = "uplink.hello"
	PositionsMethod = "uplink.positions"
	DescribeMethod  = "uplink.describe"
)

// Position is how far an origin's blocks have come.
type Position struct {
	Sequence uint64 `json:"sequence"` // of the last block; 0 before the first
	Samples  uint64 `json:"samples"`  // in all blocks up to it, also those that were left out
}

// Hello is the first that a child says on a connection.
type Hello struct {
	Protocol int                 `json:"protocol"`
	Version  string              `json:"version"` // of the program, for people
	Time     time.Time           `json:"time"`    // the child's clock
	Origins  map[string]Position `json:"origins"` // what the child has of all origins that it sends
}

// Welcome is the parent's answer to a Hello.
type Welcome struct {
	Protocol  int                 `json:"protocol"`
	Name      string              `json:"name"`             // the parent's
	Prefix    point.Path          `json:"prefix,omitempty"` // all points of the child lie below it; "" for anywhere
	Time      time.Time           `json:"time"`             // the parent's clock
	Positions map[string]Position `json:"positions"`        // what the parent has of the origins in the Hello: this counts
	Window    int64               `json:"window"`           // bytes of a lane that may be under way
	Parts     bool                `json:"parts,omitempty"`  // blocks may come in parts
	Live      bool                `json:"live,omitempty"`   // live messages may come, by a connection of their own
	Store     string              `json:"store,omitempty"`  // the database that the parent stores into; "" for files of its own, UnknownStore while it is away
}

// UnknownStore stands for a database that was not reached yet, so that nobody knows which one it is.
const UnknownStore = "unknown"

// Origins asks for positions.
type Origins struct {
	Origins []string `json:"origins"`
}

// Positions answers Origins.
type Positions struct {
	Positions map[string]Position `json:"positions"`
}

// Answer says what became of blocks of an origin.
type Answer struct {
	Epoch  uint64 `json:"epoch"` // of the frame that is answered
	Origin string `json:"origin"`
	// Position is how far the parent has the origin on disk: all up to it is acknowledged.
	Position
	// Expected asks to go back: the block that follows Position did not come.
	Expected bool `json:"expected,omitempty"`
	// Failure says why a block was not taken. Of the kind unavailable it is for a while; else the
	// origin waits until somebody changes what stands in the way.
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

// Description is what a child says of one of its points.
type Description struct {
	Path        point.Path        `json:"path"`
	Kind        string            `json:"kind"`
	Unit        string            `json:"unit,omitempty"`
	Description string            `json:"description,omitempty"`
	Writable    bool              `json:"writable,omitempty"`
	Device      point.Path        `json:"device,omitempty"`
	Interval    time.Duration     `json:"interval,omitempty"` // nanoseconds
	Tags        map[string]string `json:"tags,omitempty"`
	Removed     bool              `json:"removed,omitempty"` // it is no more
}

// Descriptions are what a child has to say of its points; at most MaxDescriptions at once.
type Descriptions struct {
	Points []Description `json:"points"`
}

// MaxDescriptions bounds one message with descriptions.
const MaxDescriptions = 500

// Frame is what stands around a block on its way up.
type Frame struct {
	// Epoch counts the times that the lane began anew on its connection. Answers repeat it, so that
	// those to what was sent before are told apart.
	Epoch uint64
	// Previous is the sequence up to which the sender sent the origin, or knows the parent to have
	// it, before this block. A parent that is elsewhere missed something.
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

// ParseFrame reads a frame. Its block is a part of data. It fails with fault.Corrupt.
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

// Encode returns an answer as it is sent.
func (a *Answer) Encode() []byte {
	body, err := json.Marshal(a)
	if err != nil { // numbers and texts are always written
		return nil
	}
	return body
}

// ParseAnswer reads an answer; fault.Corrupt.
func ParseAnswer(body []byte) (a Answer, err error) {
	if err := json.Unmarshal(body, &a); err != nil {
		return a, fault.E("uplink.ParseAnswer", fault.Corrupt, "", fmt.Errorf("read the parent's answer: %w", err))
	}
	return a, nil
}

// Refusal is the body of an answer that reports an error.
func Refusal(err error) []byte {
	body, _ := json.Marshal(wire.Reply{Error: FailureOf(err, identity.MissingOf(err))}) // texts
	return body
}

// FailureOf returns an error in the form in which it is sent. missing is the capability that a
// refusal misses.
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
