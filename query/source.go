package query

import (
	"time"

	"voltbus/point"
)

// How a node took part in an answer.
const (
	SourceStored      = "stored"      // what it has of the time is stored here: it was not asked
	SourceAsked       = "asked"       // it was asked, and answered
	SourceUnreachable = "unreachable" // it is not connected
	SourceRefused     = "refused"     // it does not let this node read some of the points
	SourceLate        = "late"        // its answer did not come in time
	SourceFailed      = "failed"      // it could not answer
)

// Source is another node of which points were asked for.
type Source struct {
	Node    string     `json:"node"`
	State   string     `json:"state"`
	From    *time.Time `json:"from,omitempty"`    // what it was, or should have been, asked for begins here; nil for the beginning
	To      *time.Time `json:"to,omitempty"`      // and ends here; nil for the newest
	Samples int        `json:"samples"`           // that it gave
	Since   *time.Time `json:"since,omitempty"`   // it is not connected
	Waiting uint64     `json:"waiting,omitempty"` // samples that it and its descendants had not sent yet at their last report
	Missing string     `json:"missing,omitempty"` // the capability
	Why     string     `json:"why,omitempty"`     // for people: what is missing in the answer
}

// Whole reports whether nothing of what was asked for is missing because of the node.
func (s *Source) Whole() bool { return s.State == SourceStored || s.State == SourceAsked }

// Newest are the newest samples of points, in the order asked or in path order.
type Newest struct {
	Samples []point.Sample
	Sources []Source
}
