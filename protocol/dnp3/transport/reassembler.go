package transport

// Counters says what a [Reassembler] met since it was made.
type Counters struct {
	// Fragments is the number of complete fragments.
	Fragments uint64
	// Segments is the number of segments offered.
	Segments uint64
	// Empty is the number of segments without data, all dropped.
	Empty uint64
	// Strays is the number of segments dropped because no fragment was open.
	Strays uint64
	// Repeats is the number of segments dropped because they carried the number
	// of the one before.
	Repeats uint64
	// Gaps is the number of fragments abandoned for an unexpected number.
	Gaps uint64
	// Restarts is the number of fragments abandoned because another one began.
	Restarts uint64
	// Oversize is the number of fragments abandoned because the buffer was full.
	Oversize uint64
}

// Reassembler joins segments from one peer into fragments. The zero value is
// ready for fragments of one segment; longer ones need a buffer from
// [Reassembler.Lend], whose capacity bounds the fragment. Not for concurrent use.
//
// A segment with FIR always starts a new fragment, whatever its number. One
// without FIR must follow the open fragment's last segment: the same number again
// is a repeat and is ignored, any other abandons the fragment.
type Reassembler struct {
	buf      []byte
	last     Sequence
	open     bool
	counters Counters
}

// Lend gives the reassembler the buffer for fragments of several segments and
// abandons an open one. Only its capacity counts.
func (r *Reassembler) Lend(buf []byte) {
	r.buf, r.open = buf[:0], false
}

// TakeBack abandons an open fragment and returns the buffer, nil if none was lent.
// The caller does this when Open is false and the last fragment is dealt with.
func (r *Reassembler) TakeBack() []byte {
	buf := r.buf
	r.buf, r.open = nil, false
	return buf
}

// Open reports whether a fragment is unfinished.
func (r *Reassembler) Open() bool { return r.open }

// Counters returns what the reassembler met so far.
func (r *Reassembler) Counters() Counters { return r.counters }

// Add takes a segment with its header octet and returns the fragment that it
// completes, if any. The fragment shares the segment's memory when the segment is
// all of it, otherwise the lent buffer's; it is valid until either is used again.
func (r *Reassembler) Add(segment []byte) (fragment []byte, complete bool) {
	r.counters.Segments++
	if len(segment) <= HeaderSize {
		r.counters.Empty++
		return nil, false
	}
	h, data := Header(segment[0]), segment[HeaderSize:]
	if h.First() {
		return r.start(h, data)
	}
	return r.resume(h, data)
}

func (r *Reassembler) start(h Header, data []byte) ([]byte, bool) {
	if r.open {
		r.counters.Restarts++
		r.open = false
	}
	if h.Final() {
		r.counters.Fragments++
		return data, true
	}
	r.buf = r.buf[:0]
	return r.store(h, data)
}

func (r *Reassembler) resume(h Header, data []byte) ([]byte, bool) {
	switch {
	case !r.open:
		r.counters.Strays++
		return nil, false
	case h.Sequence() == r.last:
		r.counters.Repeats++
		return nil, false
	case h.Sequence() != r.last.Next():
		r.counters.Gaps++
		r.open = false
		return nil, false
	default:
		return r.store(h, data)
	}
}

func (r *Reassembler) store(h Header, data []byte) ([]byte, bool) {
	if len(data) > cap(r.buf)-len(r.buf) {
		r.counters.Oversize++
		r.open = false
		return nil, false
	}
	r.buf = append(r.buf, data...)
	r.last, r.open = h.Sequence(), !h.Final()
	if r.open {
		return nil, false
	}
	r.counters.Fragments++
	return r.buf, true
}
