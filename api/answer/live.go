package answer

import (
	"strings"
	"time"

	"voltbus/point"
	"voltbus/wire"
)

// LiveLink describes the live messages on the link between a node and its parent, since the answering node started.
type LiveLink struct {
	_ struct{} `doc:"How live messages go over the link between a node and its parent, since the start of the one that answers. In an answer about nodes it is that between a child and the one that answers; of the one that answers, that to its parent."`

	Connected bool       `json:"connected"`
	Since     *time.Time `json:"since,omitempty"` // start of the connection
	Up        LiveFlow   `json:"up"`              // to the parent
	Down      LiveFlow   `json:"down"`            // from the parent
	Refused   uint64     `json:"refused" doc:"Messages that the one that answers did not take"`
	Reason    string     `json:"reason" doc:"Why the last of them was refused; empty for none"`
}

// LiveFlow is one direction of a link.
type LiveFlow struct {
	_ struct{} `doc:"One direction of a link for live messages"`

	Subjects []string `json:"subjects" api:"max=20" doc:"What is wanted at the other end, with wildcards of the bus"`
	Wanted   int      `json:"wanted" doc:"How many subjects that are; 0: nothing travels"`
	Messages uint64   `json:"messages"`
	Bytes    uint64   `json:"octets" doc:"On the link"`
	Dropped  uint64   `json:"dropped" doc:"Messages that the link did not carry in time"`
	// Withheld lists at most 20 subjects that the parent wants and that are not sent up; it is also empty for a child that cannot report them.
	Withheld []LiveWithheld `json:"withheld,omitempty" api:"max=20" doc:"What is wanted at the parent and does not go up; absent if there is nothing, or if the child does not know how to say it"`
}

// LiveWithheld is a subject that a node wants and does not receive, because a descendant does not allow it.
type LiveWithheld struct {
	Subject string `json:"subject" doc:"As it is wanted, with wildcards of the bus"`
	Node    string `json:"node" doc:"That withholds it"`
	Part    bool   `json:"part,omitempty" doc:"Some of it comes"`
	Allow   string `json:"allow" doc:"What its uplink.allow lacks, such as subscribe **, in its names"`
}

// Place returns the path at or below which the withheld subject lies; "" for any path.
func (w *LiveWithheld) Place() point.Path {
	parts := strings.Split(w.Subject, ".")
	parts = parts[min(2, len(parts)):] // after live.scan, live.point, or msg and the sender
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
