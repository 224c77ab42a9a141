package answer

import (
	"strings"
	"time"

	"voltbus/point"
	"voltbus/wire"
)

// LiveLink says how live messages go over the link between a node and its parent, since the start of the one
// that answers.
type LiveLink struct {
	Connected bool       `json:"connected"`
	Since     *time.Time `json:"since,omitempty"` // of the connection
	Up        LiveFlow   `json:"up"`              // to the parent
	Down      LiveFlow   `json:"down"`            // from the parent
	Refused   uint64     `json:"refused"`         // messages that the one that answers did not take
	Reason    string     `json:"reason"`          // why the last of them was refused; "" for none
}

// LiveFlow is one direction of a link.
type LiveFlow struct {
	Subjects []string `json:"subjects"` // what is wanted at the other end, with wildcards, the first 20
	Wanted   int      `json:"wanted"`   // how many there are; 0: nothing travels
	Messages uint64   `json:"messages"`
	Octets   uint64   `json:"octets"`  // on the link
	Dropped  uint64   `json:"dropped"` // messages that the link did not carry in time
	// Withheld is what is wanted at the parent and does not go up, at most 20; none also of a child that does not know how to say it.
	Withheld []LiveWithheld `json:"withheld,omitempty"`
}

// LiveWithheld is what is wanted at a node and does not come, because a node below does not allow it.
type LiveWithheld struct {
	Subject string `json:"subject"`        // as it is wanted
	Node    string `json:"node"`           // that withholds it
	Part    bool   `json:"part,omitempty"` // some of it comes
	Allow   string `json:"allow"`          // what its uplink.allow lacks, in its names
}

// Place returns the path at or below which lies what is withheld; "" for anything.
func (w *LiveWithheld) Place() point.Path {
	parts := strings.Split(w.Subject, ".")
	parts = parts[min(2, len(parts)):] // behind live.scan, live.point, or msg and who sends it
	for i, token := range parts {
		if token == "*" || token == ">" {
			parts = parts[:i]
			break
		}
	}
	place, err := wire.ParseSubject("", strings.Join(parts, "."))
	if err != nil {
		return ""
	}
	return place
}
