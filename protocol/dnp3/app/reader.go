package app

// headerBase is the size of group, variation and qualifier.
const headerBase = 3

// maxEmpty bounds how many zero-length strings one header may claim, as they cost
// the sender nothing.
const maxEmpty = 256

// reader walks the object headers of a fragment.
type reader struct {
	function Function
	rest     []byte
	octet    int // offset of rest in the fragment
	common   Timestamp
}

// next reads one object header and steps over its objects.
func (r *reader) next() (Header, error) {
	h, err := r.head()
	if err != nil {
		return Header{}, err
	}
	size, err := r.size(&h)
	if err != nil {
		return Header{}, err
	}
	if size > uint64(len(r.rest)) {
		return Header{}, r.truncated(&h, size)
	}
	h.data = r.rest[:size]
	r.advance(int(size))
	r.noteCommonTime(&h)
	return h, nil
}

// head reads group, variation, qualifier and range.
func (r *reader) head() (Header, error) {
	h := Header{octet: r.octet}
	if len(r.rest) < headerBase {
		return h, r.truncated(&h, headerBase)
	}
	h.Variation, h.Qualifier = Of(r.rest[0], r.rest[1]), Qualifier(r.rest[2])
	if h.layout = h.Variation.layout(); h.layout == nil {
		return h, r.fail(&h, UnknownObject)
	}
	if !h.Qualifier.valid() {
		return h, r.fail(&h, BadQualifier)
	}
	h.values = h.Qualifier.code() == rangeFree || r.function.carriesValues(h.Variation.Group())
	h.common = r.common
	r.advance(headerBase)
	return h, r.readRange(&h)
}

func (r *reader) readRange(h *Header) error {
	w, n := h.Qualifier.width(), h.Qualifier.fields()
	if len(r.rest) < w*n {
		return r.truncated(h, uint64(w*n))
	}
	switch {
	case n == 2:
		h.Start, h.Stop = readUint(r.rest[:w]), readUint(r.rest[w:2*w])
		if h.Stop < h.Start {
			return r.fail(h, BadRange)
		}
		h.Count = uint64(h.Stop-h.Start) + 1
	case n == 1:
		h.Count = uint64(readUint(r.rest[:w]))
	}
	r.advance(w * n)
	return nil
}

// size returns how many octets of prefixes and objects follow the header.
func (r *reader) size(h *Header) (uint64, error) {
	q, l := h.Qualifier, h.layout
	switch {
	case q.code() == rangeFree:
		return r.freeSize(h)
	case !h.values:
		return h.Count * uint64(q.prefix()), nil
	case q == AllObjects || l.value == free:
		return 0, r.fail(h, BadQualifier)
	case l.value == noValue:
		return 0, r.fail(h, BadObject)
	case l.value == typed:
		return r.typedSize(h)
	case l.packed() > 0:
		if !q.Ranged() {
			return 0, r.fail(h, BadQualifier)
		}
		return (h.Count*l.packed() + 7) / 8, nil
	default:
		each := uint64(q.prefix()) + uint64(l.size)
		if each == 0 && h.Count > maxEmpty {
			return 0, r.fail(h, BadRange)
		}
		return h.Count * each, nil
	}
}

// freeSize adds up objects that a size precedes.
func (r *reader) freeSize(h *Header) (uint64, error) {
	if h.layout.value != free {
		return 0, r.fail(h, BadQualifier)
	}
	prefix := h.Qualifier.prefix()
	at := uint64(0)
	for range h.Count {
		if at+uint64(prefix) > uint64(len(r.rest)) {
			return 0, r.truncated(h, at+uint64(prefix))
		}
		at += uint64(prefix)
		at += uint64(readUint(r.rest[at-uint64(prefix) : at]))
	}
	return at, nil
}

// typedSize adds up device attributes, which say their size behind their type.
func (r *reader) typedSize(h *Header) (uint64, error) {
	prefix := h.Qualifier.prefix()
	at := 0
	for range h.Count {
		at += prefix
		if at+attributeHead > len(r.rest) {
			return 0, r.truncated(h, uint64(at+attributeHead))
		}
		at += attributeSize(r.rest[at:])
	}
	return uint64(at), nil
}

// noteCommonTime keeps the base for the relative times that follow.
func (r *reader) noteCommonTime(h *Header) {
	if !h.values || h.layout.kind != KindCommonTime || len(h.data) < timeSize {
		return
	}
	r.common = absolute(h.data[len(h.data)-timeSize:])
	if h.Variation == G51V2 {
		r.common.Quality = TimeUnsynchronized
	}
}

func (r *reader) advance(n int) {
	r.rest = r.rest[n:]
	r.octet += n
}

func (r *reader) fail(h *Header, reason Reason) error {
	return &ParseError{Reason: reason, Octet: h.octet, Variation: h.Variation, Qualifier: h.Qualifier}
}

func (r *reader) truncated(h *Header, need uint64) error {
	return &ParseError{
		Reason: Truncated, Octet: r.octet, Variation: h.Variation, Qualifier: h.Qualifier,
		Need: need, Have: uint64(len(r.rest)),
	}
}
