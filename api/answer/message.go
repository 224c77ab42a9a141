package answer

// Message is a message from another system, in that system's format.
type Message struct {
	Sender string // the sender, as in the audit log
	Under  string // the path below which they may record; "" is anywhere
	Media  string // the Content-Type
	Body   []byte
	// Member is the member of the metering cluster that sent the message, "" for other senders; Digest is that member's digest of the cluster.
	Member, Digest string
}

// Reply is the HTTP response to the sender of a message.
type Reply struct {
	Status   int
	Media    string
	Body     []byte
	Readings int // number of readings in the message
}
