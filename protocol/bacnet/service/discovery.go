package service

import (
	"fmt"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Segmentation says which segmented messages a device takes (clause 21, BACnetSegmentation).
type Segmentation uint8

// The values of the standard.
const (
	SegmentedBoth Segmentation = iota
	SegmentedTransmit
	SegmentedReceive
	NoSegmentation
)

// String returns the standard's name.
func (s Segmentation) String() string {
	switch s {
	case SegmentedBoth:
		return "segmented-both"
	case SegmentedTransmit:
		return "segmented-transmit"
	case SegmentedReceive:
		return "segmented-receive"
	case NoSegmentation:
		return "no-segmentation"
	}
	return fmt.Sprintf("segmentation %d", uint8(s))
}

// Range is a range of device instances, with both ends; the zero value means all.
type Range struct {
	Low, High uint32
	Limited   bool
}

// Devices returns the range from low to high.
func Devices(low, high uint32) Range { return Range{low, high, true} }

// Has reports whether the range includes a device.
func (r Range) Has(instance uint32) bool {
	return !r.Limited || r.Low <= instance && instance <= r.High
}

// Append writes the range: it is the whole Who-Is request (clause 16.10).
func (r Range) Append(b []byte) []byte {
	if !r.Limited {
		return b
	}
	return encoding.AppendUnsigned(encoding.AppendUnsigned(b, 0, uint64(r.Low)), 1, uint64(r.High))
}

func readRange(d *encoding.Decoder) Range {
	if !d.Has(0) {
		return Range{}
	}
	return Range{d.Uint32(0), d.Uint32(1), true}
}

// DecodeWhoIs reads a Who-Is request.
func DecodeWhoIs(p []byte) (Range, error) {
	d := encoding.NewDecoder(p)
	r := readRange(d)
	return r, d.End()
}

// Announcement is an I-Am: what a device says of itself (clause 16.10.4).
type Announcement struct {
	Device       encoding.ObjectID
	MaxAPDU      uint32 // octets
	Segmentation Segmentation
	Vendor       uint16
}

// Append writes the announcement.
func (a Announcement) Append(b []byte) []byte {
	b = encoding.AppendUnsigned(encoding.AppendObjectID(b, encoding.App, a.Device), encoding.App, uint64(a.MaxAPDU))
	return encoding.AppendUnsigned(encoding.AppendEnumerated(b, encoding.App, uint32(a.Segmentation)), encoding.App, uint64(a.Vendor))
}

// DecodeAnnouncement reads an I-Am.
func DecodeAnnouncement(p []byte) (Announcement, error) {
	d := encoding.NewDecoder(p)
	a := Announcement{
		Device: d.ObjectID(encoding.App), MaxAPDU: d.Uint32(encoding.App),
		Segmentation: Segmentation(min(d.Enumerated(encoding.App), uint32(NoSegmentation))),
		Vendor:       uint16(d.Unsigned(encoding.App)),
	}
	if d.Err() == nil && a.Device.Type != enum.Device {
		return a, fmt.Errorf("announcement of %v: it must be a device", a.Device)
	}
	return a, d.End()
}

// ObjectQuery is a Who-Has: which device has an object (clause 16.9).
type ObjectQuery struct {
	Devices Range
	Object  encoding.ObjectID // unless there is a name
	Name    string
}

// Append writes the query.
func (q ObjectQuery) Append(b []byte) []byte {
	b = q.Devices.Append(b)
	if q.Name != "" {
		return encoding.AppendText(b, 3, q.Name)
	}
	return encoding.AppendObjectID(b, 2, q.Object)
}

// DecodeObjectQuery reads a Who-Has.
func DecodeObjectQuery(p []byte) (ObjectQuery, error) {
	d := encoding.NewDecoder(p)
	q := ObjectQuery{Devices: readRange(d)}
	if d.Has(3) {
		q.Name = d.Text(3)
	} else {
		q.Object = d.ObjectID(2)
	}
	return q, d.End()
}

// ObjectAnnouncement is an I-Have: the answer to a Who-Has (clause 16.9.4).
type ObjectAnnouncement struct {
	Device, Object encoding.ObjectID
	Name           string
}

// Append writes the announcement.
func (a ObjectAnnouncement) Append(b []byte) []byte {
	b = encoding.AppendObjectID(encoding.AppendObjectID(b, encoding.App, a.Device), encoding.App, a.Object)
	return encoding.AppendText(b, encoding.App, a.Name)
}

// DecodeObjectAnnouncement reads an I-Have.
func DecodeObjectAnnouncement(p []byte) (ObjectAnnouncement, error) {
	d := encoding.NewDecoder(p)
	a := ObjectAnnouncement{d.ObjectID(encoding.App), d.ObjectID(encoding.App), d.Text(encoding.App)}
	return a, d.End()
}
