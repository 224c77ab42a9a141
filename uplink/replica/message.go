// Package replica keeps at each node one document for itself and for every descendant: its place in the tree, status, ledger, and the
// outages that its parent observed. A child sends its parent what changed in these documents; on each connection both first compare what
// they have, so that only what differs travels. The package is given functions that ask the neighbours, and knows no bus.
package replica

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/point"
	"voltbus/uplink/lineage"
)

// ReportMethod is what a child asks of its parent: a Report, answered with a Reception. A parent asks
// it of its child to have it report at once; the body is how many milliseconds that may take.
const ReportMethod = "replica.report"

// Bounds of the tree, and of what a child reports.
const (
	MaxHops  = lineage.MaxHops
	MaxNodes = 10_000 // below one node

	maxFacts    = 96       // parts of a document that are no origins
	maxOrigins  = 10_000   // of a document
	maxName     = 64       // bytes of the name of a node or a part
	maxOrigin   = 255      // bytes of the name of an origin
	maxFact     = 512      // bytes of a part
	maxOfOrigin = 2 << 10  // bytes of a part about an origin
	maxLarge    = 64 << 10 // bytes of the parts node and ledger
	maxReport   = 1 << 20  // bytes of a report; senders stay far below
	maxBranch   = 64 << 20 // bytes of all documents of a child and its descendants
	maxListed   = 8        // origins of a node that are listed
	maxText     = 300      // bytes of other texts that a neighbour sends
)

// Node is where a node stands below another one.
type Node struct {
	Name    string   `json:"name,omitempty"`
	Path    []string `json:"path,omitempty"`    // the nodes on the way to this one, itself last; nil: the one that reports
	Origins []string `json:"origins,omitempty"` // of its blocks
	// Prefix is where its points lie at the one that reports; "" for anywhere.
	Prefix point.Path `json:"prefix,omitempty"`
	Away   time.Time  `json:"away,omitzero"` // since when it is not connected; zero: it is
}

// The parts of a document. Any other part is a fact about the node.
const (
	nodePart     = "node"    // a Node without its name
	ledgerPart   = "ledger"  // of its ledger what is not of one origin
	originPart   = "origin:" // and the name of an origin: how it stands there
	outagesPart  = "outages" // the one fact about a node that its parent reports, and not the node itself
	absent       = "null"    // is sent for a part that is no more
	mostOutages  = 3         // of a node are reported, the newest
	partOverhead = 64        // bytes of memory that a part takes beside its name and value, about
)

func isFact(part string) bool {
	return part != nodePart && part != ledgerPart && !strings.HasPrefix(part, originPart)
}

// Entry is what is reported of a node. Of one that both know, Base is the version that the parent has, and
// Parts are those that changed since. An entry with a Digest and without parts is an offer: the parent asks
// for what differs from what it has.
type Entry struct {
	Node    string `json:"n,omitempty"` // "" for the one that reports
	Base    uint64 `json:"b,omitempty"` // 0: nothing was sent of it before
	Version uint64 `json:"v,omitempty"`
	Digest  uint64 `json:"d,omitempty"`
	Gone    bool   `json:"g,omitempty"` // it is no more in the tree
	// Age is how many milliseconds ago the node reported; less than 0 if it has not yet.
	Age   int64 `json:"a,omitempty"`
	Parts parts `json:"s,omitempty"` // null for one that is no more
}

// Report is what a node sends its parent.
type Report struct {
	Time  time.Time `json:"time"`            // the clock of the one that reports
	Begin bool      `json:"begin,omitempty"` // offers of all nodes follow, to the report with End
	End   bool      `json:"end,omitempty"`   // nodes that were not offered since Begin are no more
	Nodes []Entry   `json:"nodes"`
}

// Reception is the answer.
type Reception struct {
	Time time.Time `json:"time"` // the clock of the parent
	// Want asks for nodes of which the parent has something else: the digests of the parts that it has.
	Want map[string]map[string]uint64 `json:"want,omitempty"`
	// Above are the parent and those above it, the nearest first.
	Above []string `json:"above"`
	// Refused are the nodes that the parent does not let in, and why.
	Refused []lineage.Refused `json:"refused,omitempty"`
	// Audit is the newest of what the child reported as Status.Audit before this report.
	Audit string `json:"audit,omitempty"`
}

var (
	errReport   = errors.New("is not a report of nodes; is the version of that node's program much newer than this one's?")
	errLong     = errors.New("holds more than a node has to say of itself")
	errLarge    = fmt.Errorf("holds more than %d MiB of a child and those below it", maxBranch>>20)
	errStranger = errors.New("is no child of this node")
)

// check checks an entry that somebody sent, and brings its parts into the form in which they are compared.
func (e *Entry) check() error {
	if len(e.Node) > maxName || len(e.Parts) > maxFacts+maxOrigins {
		return errLong
	}
	for name, value := range e.Parts {
		if !fits(name, len(value)) {
			return errLong
		}
		if bytes.ContainsAny(value, " \t\r\n<>&") {
			plain, err := json.Marshal(value)
			if err != nil {
				return err
			}
			e.Parts[name] = plain
		}
	}
	return nil
}

// fits reports whether a part may have the name and so many bytes.
func fits(part string, size int) bool {
	switch {
	case strings.HasPrefix(part, originPart):
		return len(part) <= len(originPart)+maxOrigin && size <= maxOfOrigin
	case part == nodePart || part == ledgerPart:
		return size <= maxLarge
	}
	return len(part) <= maxName && size <= maxFact
}

func clipText(s string) string {
	s = strings.ToValidUTF8(s, "")
	return strings.ToValidUTF8(s[:min(len(s), maxText)], "")
}

func clipTexts(list []string, most int) []string {
	out := make([]string, 0, min(len(list), most))
	for _, s := range list[:min(len(list), most)] {
		out = append(out, clipText(s))
	}
	return out
}
