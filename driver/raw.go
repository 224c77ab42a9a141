package driver

import "voltbus/point"

// Raw is what a device sent for a point, before it became a value. The zero Raw says that there is nothing to show.
type Raw struct {
	At     string    // where the device keeps it, such as "holding 0–1"
	Words  []uint16  // as they arrived
	Orders []Ordered // its value in each order of the bytes; nil if it has only one
}

// Ordered is the value of a point if its bytes stand in an order.
type Ordered struct {
	Order string      // A is the most significant byte: ABCD, BADC, CDAB or DCBA
	Value point.Value // the zero Value if the bytes mean none in this order
	Used  bool        // the configuration says this order
}

// Interpreter is a Session that shows what it reads, so that an engineer who does not know the order of the bytes of a device finds it.
type Interpreter interface {
	Session
	// Interpret shows what the last Read got for a point.
	Interpret(name string) Raw
}
