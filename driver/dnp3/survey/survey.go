// Package survey discovers the points of an outstation from its answers.
package survey

import (
	"cmp"
	"slices"
	"strconv"

	"voltbus/driver"
	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// maxSurveyed bounds the points that a Survey keeps for one device.
const maxSurveyed = 100_000

// Survey collects the points in an outstation's answers. It is a master.Handler; call its other methods after
// the request has ended. The zero value is ready to use.
type Survey struct {
	info  master.Info
	found map[pointlist.Key]*surveyed
}

type surveyed struct {
	item   pointlist.Item
	number uint8 // the received variation
	sample point.Sample
}

// Begin implements master.Handler.
func (y *Survey) Begin(i master.Info) { y.info = i }

// End implements master.Handler.
func (*Survey) End(master.Info) {}

// Header implements master.Handler.
func (y *Survey) Header(h app.Header) {
	kind := h.Variation.Kind()
	if h.Variation.Event() || pointlist.TypeName(kind) == "" {
		return
	}
	if kind == object.KindOctetString {
		for o := range h.Objects() {
			y.add(kind, o.Index, 0, func(*pointlist.Item) (point.Value, point.Quality) { return pointlist.TextOf(o.Data), point.Good })
		}
		return
	}
	for p := range h.Points() {
		y.add(kind, p.Index, h.Variation.Number(), func(t *pointlist.Item) (point.Value, point.Quality) { return t.Read(p.Value, p.Flags) })
	}
}

func (y *Survey) add(kind object.Kind, index uint32, number uint8, read func(*pointlist.Item) (point.Value, point.Quality)) {
	k := pointlist.KeyOf(kind, index)
	s := y.found[k]
	if s == nil {
		if len(y.found) >= maxSurveyed {
			return
		}
		if y.found == nil {
			y.found = make(map[pointlist.Key]*surveyed)
		}
		s = &surveyed{item: pointlist.NewItem(kind, index)}
		y.found[k] = s
	}
	s.number = number
	value, quality := read(&s.item)
	s.sample = point.Sample{Point: s.item.Path, Time: y.info.Received.UTC(), Value: value, Quality: quality}
}

// Rest returns requests for the types without any point found: a device may exclude some from its classes. It
// may refuse each of them.
func (y *Survey) Rest() []*master.Request {
	has := make(map[object.Kind]bool)
	for _, s := range y.found {
		has[s.item.Kind] = true
	}
	var rest []*master.Request
	for _, t := range pointlist.Types() {
		if !has[t.Kind] {
			rest = append(rest, master.ReadAll(object.Of(t.Group, 0)))
		}
	}
	return rest
}

// Found returns the points by type and index.
func (y *Survey) Found() []driver.Found {
	all := make([]*surveyed, 0, len(y.found))
	for _, s := range y.found {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *surveyed) int {
		return cmp.Or(cmp.Compare(a.item.Group(), b.item.Group()), cmp.Compare(a.item.Index, b.item.Index))
	})
	found := make([]driver.Found, len(all))
	for i, s := range all {
		entry := map[string]string{
			"name": s.item.Name, "type": pointlist.TypeName(s.item.Kind), "index": strconv.FormatUint(uint64(s.item.Index), 10),
		}
		if s.number > 0 {
			entry["variation"] = strconv.Itoa(int(s.number))
		}
		found[i] = driver.Found{Info: s.item.Info(), Sample: s.sample, Entry: entry}
	}
	return found
}
