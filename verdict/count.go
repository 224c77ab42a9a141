package verdict

import (
	"fmt"

	"voltbus/internal/plural"
)

// Count says how many devices answer and how much is recorded, here and at the descendants.
type Count struct {
	Well, Devices           int // here: those that answer, and all
	Recorded                uint64
	Connected, Nodes        int // below: those that are connected, and all
	WellBelow, DevicesBelow int // of a node that is away it is not known that its devices answer
}

// Sentence is what health says of it.
func (c *Count) Sentence() string {
	here := fmt.Sprintf("%s; %s recorded", answering(c.Well, c.Devices), plural.Of(c.Recorded, "sample"))
	if c.Nodes == 0 {
		return here
	}
	if c.Devices == 0 { // it only gathers what its descendants read
		here = "no devices here"
		if c.Recorded > 0 {
			here += "; " + plural.Of(c.Recorded, "sample") + " recorded here"
		}
	}
	return fmt.Sprintf("%s; %d of %s %s connected, %s there", here, c.Connected, plural.Of(c.Nodes, "descendant"),
		plural.Word(c.Nodes, "is", "are"), answering(c.WellBelow, c.DevicesBelow))
}

func answering(well, all int) string {
	return fmt.Sprintf("%d of %s %s", well, plural.Of(all, "device"), plural.Word(all, "answers", "answer"))
}
