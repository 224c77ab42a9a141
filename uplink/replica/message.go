// Package replica keeps at each node one document for itself and for every descendant: its place in the tree, status, ledger, and the
// outages that its parent observed. A child sends its parent what changed in these documents; on each connection both first compare what
// they have, so that only what differs travels. The package is given functions for requests to the neighbours, and does not know the
// bus.
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

// ReportMethod is the method that a child calls on its parent: a Report, answered with a Reception. A parent
// calls it on its child to make it report at once; the body is the time limit in milliseconds.
const ReportMethod = "replica.report"

// Bounds of the tree, and of a child's reports.
const (
	MaxHops  = lineage.MaxHops
	MaxNodes = 10_000 // below one node

	maxFacts    = 96       // parts of a document other than origins
	maxOrigins  = 10_000   // origins per document
	maxName     = 64       // bytes of the name of a node or a part
	maxOrigin   = 255      // bytes of the name of an origin
	maxFact     = 512      // bytes of a part
	maxOfOrigin = 2 << 10  // bytes of a part about an origin
	maxLarge    = 64 << 10 // bytes of the parts node and ledger
	maxReport   = 1 << 20  // bytes of a report; senders stay far below
	maxBranch   = 64 << 20 // bytes of all documents of a child and its descendants
	maxListed   = 8        // origins listed per node
	maxText     = 300      // bytes of other strings from a neighbour
)

// Node is the position of a child.
type Node struct {
	Name    string   `json:"name,omitempty"`
	Path    []string `json:"path,omitempty"`    // the nodes on the way to this one, itself last; nil: the reporting node
	Origins []string `json:"origins,omitempty"` // of its blocks
	// Prefix is the path of its points at the reporting node; "" for anywhere.
	Prefix point.Path `json:"prefix,omitempty"`
	Away   time.Time  `json:"away,omitzero"` // since when it has been disconnected; zero: it is connected
}

// The parts of a document. Any other part is a fact about the node.
const (
	nodePart     = "node"    // a Node without its name
	ledgerPart   = "ledger"  // the part of its ledger that does not concern one origin
	originPart   = "origin:" // followed by the name of an origin: its account
	outagesPart  = "outages" // the only fact about a node reported by its parent instead of the node itself
	absent       = "null"    // sent for a removed part
	mostOutages  = 3         // reported per node, the newest
	partOverhead = 64        // approximate memory of a part in bytes besides its name and value
)

func isFact(part string) bool {
	return part != nodePart && part != ledgerPart && !strings.HasPrefix(part, originPart)
}

// Entry is the report about one node. For a node known to both, Base is the parent's version, and Parts are
// those that changed since. An entry with a Digest and without parts is an offer: the parent requests what
// differs from its data.
type Entry struct {
	Node    string `json:"n,omitempty"` // "" for the reporting node
	Base    uint64 `json:"b,omitempty"` // 0: nothing of it was sent before
	Version uint64 `json:"v,omitempty"`
	Digest  uint64 `json:"d,omitempty"`
	Gone    bool   `json:"g,omitempty"` // it is no longer in the tree
	// Age is how many milliseconds ago the node reported; less than 0 if it has not reported yet.
	Age   int64 `json:"a,omitempty"`
	Parts parts `json:"s,omitempty"` // null for a removed part
}

// Report is what a node sends its parent.
type Report struct {
	Time  time.Time `json:"time"`            // the reporting node's clock
	Begin bool      `json:"begin,omitempty"` // offers of all nodes follow, to the report with End
	End   bool      `json:"end,omitempty"`   // nodes not offered since Begin have been removed
	Nodes []Entry   `json:"nodes"`
}

// Reception is the answer.
type Reception struct {
	Time time.Time `json:"time"` // the clock of the parent
	// Want requests nodes whose data differs at the parent: the digests of the parent's parts.
	Want map[string]map[string]uint64 `json:"want,omitempty"`
	// Above lists the parent and its ancestors, nearest first.
	Above []string `json:"above"`
	// Refused are the nodes that the parent does not admit, and why.
	Refused []lineage.Refused `json:"refused,omitempty"`
	// Audit is the latest Status.Audit that the child reported before this report.
	Audit string `json:"audit,omitempty"`
}

var (
	errReport   = errors.New("is not a report of nodes; is the version of that node's program much newer than this one's?")
	errLong     = errors.New("holds more than a node has to say of itself")
	errLarge    = fmt.Errorf("holds more than %d MiB of a child and those below it", maxBranch>>20)
	errStranger = errors.New("is no child of this node")
)

// check checks a received entry, and normalises its parts for comparison.
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

// fits reports whether a part may have the name and size.
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
