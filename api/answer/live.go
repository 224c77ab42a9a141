package answer

import "time"

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
}
