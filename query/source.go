package query

import (
	"time"

	"voltbus/point"
)

// How a node contributed to an answer.
const (
	SourceStored      = "stored"      // its data for the period is stored here: it was not asked
	SourceAsked       = "asked"       // it was asked, and answered
	SourceUnreachable = "unreachable" // it is not connected
	SourceRefused     = "refused"     // it does not let this node read some of the points
	SourceLate        = "late"        // it did not answer in time
	SourceFailed      = "failed"      // it could not answer
)

// Source is another node whose points were queried.
type Source struct {
	Node    string     `json:"node"`
	State   string     `json:"state"`
	From    *time.Time `json:"from,omitempty"`    // beginning of the period that it was, or should have been, asked for; nil for the very beginning
	To      *time.Time `json:"to,omitempty"`      // end of that period; nil for the newest
	Samples int        `json:"samples"`           // samples that it returned
	Since   *time.Time `json:"since,omitempty"`   // since when it has not been connected
	Waiting uint64     `json:"waiting,omitempty"` // samples that it and its descendants had not sent yet at their last report
	Missing string     `json:"missing,omitempty"` // the missing capability
	Why     string     `json:"why,omitempty"`     // for people: what is missing in the answer
}

// Whole reports whether nothing is missing from the answer because of the node.
func (s *Source) Whole() bool { return s.State == SourceStored || s.State == SourceAsked }

// Newest are the newest samples of points, in the order requested or in path order.
type Newest struct {
	Samples []point.Sample
	Sources []Source
}
