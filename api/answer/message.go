package answer

// Message is what another system sends in a form of its own.
type Message struct {
	Sender string // who, as in the audit log
	Under  string // below which path they may record; "" is anywhere
	Media  string // the Content-Type
	Body   []byte
	// Member is which member of the metering cluster sent it, "" for others, and Digest that of the cluster as it knows it.
	Member, Digest string
}

// Reply is what the sender of a message is answered over HTTP.
type Reply struct {
	Status   int
	Media    string
	Body     []byte
	Readings int // that the message had
}
