package packet

// Limits bound what a packet may hold beyond the rules of the standard. 0 is no limit.
type Limits struct {
	// Levels is how many levels a topic name or filter has at most.
	Levels int
	// UserProperties is how many user properties a packet, or the will in it, has at most.
	UserProperties int
	// Filters is how many topic filters a SUBSCRIBE or UNSUBSCRIBE has at most.
	Filters int
}

// Decoder decodes packets of one connection. It has no state: several goroutines may share it.
type Decoder struct {
	// Version is the version that the connection speaks. [Decoder.Connect] does not ask for it.
	Version Version
	Limits  Limits
}

// open begins to read a frame that must be of the type.
func (d *Decoder) open(f Frame, want Type) reader {
	r := reader{body: f.Body, of: f.Type}
	switch {
	case f.Type != want:
		r.fail(violation("§2.1.2", "got a %s, want a %s", f.Type, want))
	case f.padded && d.Version == V5:
		r.fail(malformed("MQTT-1.5.5-1", "remaining length of the %s takes more bytes than it needs", f.Type))
	}
	return r
}

// Ping checks a PINGREQ or PINGRESP (§3.12, §3.13).
func (d *Decoder) Ping(f Frame) error {
	r := d.open(f, f.Type)
	if f.Type != PINGREQ && f.Type != PINGRESP {
		r.fail(violation("§2.1.2", "got a %s, want a PINGREQ or PINGRESP", f.Type))
	}
	return r.end()
}
