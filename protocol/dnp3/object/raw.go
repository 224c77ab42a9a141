package object

// Raw is one object as octets. Its methods are typed views of those octets.
type Raw struct {
	Variation Variation
	// Index is the index from the range or the prefix; without either it counts
	// from 0.
	Index uint32
	// Data are the object's octets, without index and size prefix; nil when the
	// header carries no values.
	Data []byte
}
