// Package tally counts what happens at a broker.
package tally

// Counts are what happened since the broker was made.
type Counts struct {
	Connects, Refused   uint64 // clients that were let in, and that were not
	Received, Delivered uint64 // messages of clients, and to clients
	Recorded            uint64 // messages whose samples are on disk, or were offered
	Samples             uint64
	Unknown             uint64 // messages that no template took
	Undecoded           uint64 // messages whose payload is not what the template says
	Unauthorized        uint64 // messages and subscriptions outside of the rights
	Dropped             uint64 // deliveries that a slow or absent client did not get
	Overflow            uint64 // messages with QoS 0 that were not recorded because too many waited
	NotRecorded         uint64 // messages with QoS 1 or 2 that were refused because they could not be recorded
	Unretained          uint64 // messages and wills that were not retained because there was no room
	Expired, TakenOver  uint64
	Misdated            uint64 // samples whose time was not believed
	Barred              uint64 // points that were not taken
}

// Add adds what became of messages that were recorded.
func (c *Counts) Add(more *Counts) {
	c.Recorded += more.Recorded
	c.Samples += more.Samples
	c.Undecoded += more.Undecoded
	c.Misdated += more.Misdated
	c.Barred += more.Barred
}
