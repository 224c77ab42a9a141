package live

import (
	"slices"
	"sync"
	"time"
)

// Traffic counts the messages in one direction since the start of the node.
type Traffic struct {
	Messages uint64
	Bytes    uint64 // as on the link
	Dropped  uint64 // messages that the link could not carry in time
}

// Status is the state of a link for live messages.
type Status struct {
	Connected bool
	Since     time.Time  // of the connection; zero without one
	Asked     []string   // the subjects that this end wants
	Wanted    []string   // the subjects that the other end wants
	Withheld  []Withheld // what the upper end wants but does not get; both ends know it
	Sent      Traffic
	Received  Traffic // Dropped: as reported by the other end
	Refused   uint64  // messages and control frames of the other end that were refused
	Refusal   error   // the last refusal
	Broken    uint64  // wanted messages of this node's bus that cannot be parsed
}

// Counts are the accounts of a link, over all its connections. They are safe for concurrent use.
type Counts struct {
	mu     sync.Mutex
	status Status
	of     *peer  // whose dropped messages were last counted
	drops  uint64 // their number
}

// Status returns the current status.
func (c *Counts) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.status
	s.Asked, s.Wanted, s.Withheld = slices.Clone(s.Asked), slices.Clone(s.Wanted), slices.Clone(s.Withheld)
	return s
}

func (c *Counts) change(f func(*Status)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.status)
}

func (c *Counts) began() {
	c.change(func(s *Status) { s.Connected, s.Since, s.Asked, s.Wanted, s.Withheld = true, time.Now(), nil, nil, nil })
}

func (c *Counts) ended() {
	c.change(func(s *Status) {
		s.Connected, s.Since, s.Asked, s.Wanted, s.Withheld = false, time.Time{}, nil, nil, nil
	})
}

func (c *Counts) asked(subjects []string)  { c.change(func(s *Status) { s.Asked = subjects }) }
func (c *Counts) wanted(subjects []string) { c.change(func(s *Status) { s.Wanted = subjects }) }
func (c *Counts) withheld(l []Withheld)    { c.change(func(s *Status) { s.Withheld = l }) }
func (c *Counts) overrun()                 { c.change(func(s *Status) { s.Refused++ }) }
func (c *Counts) unreadable()              { c.change(func(s *Status) { s.Broken++ }) }

func (c *Counts) refuse(err error) {
	c.change(func(s *Status) { s.Refused, s.Refusal = s.Refused+1, err })
}

func (c *Counts) sent(messages, octets int) {
	c.change(func(s *Status) { s.Sent.Messages += uint64(messages); s.Sent.Bytes += uint64(octets) })
}

func (c *Counts) received(messages, octets int, lost uint64) {
	c.change(func(s *Status) {
		s.Received.Messages += uint64(messages)
		s.Received.Bytes += uint64(octets)
		s.Received.Dropped += lost
	})
}

// dropped records how many messages a connection has dropped so far.
func (c *Counts) dropped(of *peer, count uint64) {
	c.change(func(s *Status) {
		if c.of != of {
			c.of, c.drops = of, 0
		}
		s.Sent.Dropped += count - c.drops
		c.drops = count
	})
}
