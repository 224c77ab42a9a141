package app

import (
	"encoding/binary"

	"voltbus/protocol/dnp3/object"
)

// headerBase is the size of group, variation and qualifier.
const headerBase = 3

// maxEmpty bounds how many zero-length strings one header may claim, as they cost
// the sender nothing.
const maxEmpty = 256

// Reader walks the object headers of a fragment, as [Fragment.Headers] does, without a
// copy of each, for fragments of many:
//
//	var r app.Reader
//	for r.Read(fragment); r.Next(); {
//		use(r.Header())
//	}
//	return r.Err()
type Reader struct {
	reader reader
	err    error
}

// Read makes the reader stand before the first header of a fragment.
func (r *Reader) Read(f Fragment) {
	r.reader.function, r.reader.rest, r.reader.at = f.Function, f.Objects, f.head()
	r.reader.base, r.err = object.Timestamp{}, nil
}

// Next steps to the next header and reports whether there is one.
func (r *Reader) Next() bool {
	if len(r.reader.rest) == 0 || r.err != nil {
		return false
	}
	r.err = r.reader.next()
	return r.err == nil
}

// Header returns the header at which the reader stands, valid until Next is called.
func (r *Reader) Header() *Header { return &r.reader.Header }

// reader walks the object headers of a fragment. It fills its header in place, as
// headers are large and most fragments have many.
type reader struct {
	Header

	function Function
	rest     []byte
	at       int // offset of rest in the fragment
	base     object.Timestamp
}

// next reads one object header and steps over its objects.
func (r *reader) next() error {
	if r.quick() {
		return nil
	}
	if err := r.head(); err != nil {
		return err
	}
	size, err := r.size()
	if err != nil {
		return err
	}
	if size > uint64(len(r.rest)) {
		return r.truncated(size)
	}
	r.data = r.rest[:size]
	r.advance(int(size))
	if r.layout.Kind() == object.KindCommonTime {
		r.noteCommonTime()
	}
	return nil
}

// quick reads the header of points behind indexes of two octets, as most events and
// commands are sent, and leaves everything else, above all what is wrong, to next.
func (r *reader) quick() bool {
	if len(r.rest) < headerBase+2 || Qualifier(r.rest[2]) != Index16 {
		return false
	}
	v := object.Of(r.rest[0], r.rest[1])
	layout := v.Layout()
	if layout == nil || layout.Form() != object.FormPoint || !r.function.carriesValues(v.Group()) {
		return false
	}
	count := int(binary.LittleEndian.Uint16(r.rest[headerBase:]))
	end := headerBase + 2 + count*(2+layout.Size())
	if end > len(r.rest) {
		return false
	}
	h := &r.Header
	h.Variation, h.Qualifier, h.values, h.layout = v, Index16, true, layout
	h.Start, h.Stop, h.Count = 0, 0, uint64(count)
	h.octet, h.common, h.data = int32(r.at), r.base, r.rest[headerBase+2:end]
	r.advance(end)
	return true
}

// head reads group, variation, qualifier and range.
func (r *reader) head() error {
	r.Header = Header{octet: int32(r.at)}
	if len(r.rest) < headerBase {
		return r.truncated(headerBase)
	}
	r.Variation, r.Qualifier = object.Of(r.rest[0], r.rest[1]), Qualifier(r.rest[2])
	if r.layout = r.Variation.Layout(); r.layout == nil {
		return r.fail(UnknownObject)
	}
	if !r.Qualifier.valid() {
		return r.fail(BadQualifier)
	}
	r.values = r.Qualifier.code() == rangeFree || r.function.carriesValues(r.Variation.Group())
	r.common = r.base
	r.advance(headerBase)
	return r.readRange()
}

func (r *reader) readRange() error {
	w, n := r.Qualifier.width(), r.Qualifier.fields()
	if len(r.rest) < w*n {
		return r.truncated(uint64(w * n))
	}
	switch n {
	case 2:
		r.Start, r.Stop = readUint(r.rest[:w]), readUint(r.rest[w:2*w])
		if r.Stop < r.Start {
			return r.fail(BadRange)
		}
		r.Count = uint64(r.Stop-r.Start) + 1
	case 1:
		r.Count = uint64(readUint(r.rest[:w]))
	}
	r.advance(w * n)
	return nil
}

// size returns how many octets of prefixes and objects follow the header.
func (r *reader) size() (uint64, error) {
	q, form := r.Qualifier, r.layout.Form()
	switch {
	case q.code() == rangeFree:
		return r.freeSize()
	case !r.values:
		return r.Count * uint64(q.prefix()), nil
	case q == AllObjects || form == object.FormFree:
		return 0, r.fail(BadQualifier)
	case form == object.FormNone:
		return 0, r.fail(BadObject)
	case form == object.FormTyped:
		return r.typedSize()
	case form == object.FormPacked:
		if !q.Ranged() {
			return 0, r.fail(BadQualifier)
		}
		return (r.Count*uint64(r.layout.Bits()) + 7) / 8, nil
	default:
		each := uint64(q.prefix() + r.layout.Size())
		if each == 0 && r.Count > maxEmpty {
			return 0, r.fail(BadRange)
		}
		return r.Count * each, nil
	}
}

// freeSize adds up objects that a size precedes.
func (r *reader) freeSize() (uint64, error) {
	if r.layout.Form() != object.FormFree {
		return 0, r.fail(BadQualifier)
	}
	prefix := r.Qualifier.prefix()
	at := uint64(0)
	for range r.Count {
		if at+uint64(prefix) > uint64(len(r.rest)) {
			return 0, r.truncated(at + uint64(prefix))
		}
		at += uint64(prefix)
		at += uint64(readUint(r.rest[at-uint64(prefix) : at]))
	}
	return at, nil
}

// typedSize adds up device attributes, which say their size behind their type.
func (r *reader) typedSize() (uint64, error) {
	prefix := r.Qualifier.prefix()
	at := 0
	for range r.Count {
		at += prefix
		if at+object.AttributeHead > len(r.rest) {
			return 0, r.truncated(uint64(at + object.AttributeHead))
		}
		at += object.AttributeSize(r.rest[at:])
	}
	return uint64(at), nil
}

// noteCommonTime keeps the base for the relative times that follow.
func (r *reader) noteCommonTime() {
	if !r.values || len(r.data) < object.TimeSize {
		return
	}
	r.base = object.ReadTime(r.data[len(r.data)-object.TimeSize:])
	if r.Variation == object.G51V2 {
		r.base.Quality = object.TimeUnsynchronized
	}
}

func (r *reader) advance(n int) {
	r.rest = r.rest[n:]
	r.at += n
}

func (r *reader) fail(reason Reason) error {
	return &ParseError{Reason: reason, Octet: int(r.octet), Variation: r.Variation, Qualifier: r.Qualifier}
}

func (r *reader) truncated(need uint64) error {
	return &ParseError{
		Reason: Truncated, Octet: r.at, Variation: r.Variation, Qualifier: r.Qualifier,
		Need: need, Have: uint64(len(r.rest)),
	}
}
