package node

import (
	"fmt"
	"sync"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/internal/plural"
)

// crowded counts, by child, the descriptions of points that there was no room for, since the start.
type crowded struct {
	mu      sync.Mutex
	refused map[string]uint64
}

// refuse counts some more and returns what is said of it.
func (c *crowded) refuse(child string, some, most int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[string]uint64{}
	}
	c.refused[child] += uint64(some)
	return fault.E("node.describedBelow", fault.Refused, child, fmt.Errorf(
		"describes more points than are listed below one child: ingest.child_points of this node is %d, with texts of %d octets each on average; "+
			"raise it if these points are right", most, catalog.PointBytes))
}

// said returns what there is to say of a child; "" if there was always room.
func (c *crowded) said(child string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused[child] == 0 {
		return ""
	}
	return fmt.Sprintf("describes more points than ingest.child_points lets in: %s refused since the start",
		plural.Of(int(c.refused[child]), "description"))
}
