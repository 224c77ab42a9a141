package dnp3

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"voltbus/driver"
	"voltbus/point"
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/master"
	"voltbus/protocol/dnp3/object"
)

// maxSurveyed bounds the points of one device that a Survey keeps.
const maxSurveyed = 100_000

// Survey collects the points that an outstation shows in its answers. It is a master.Handler; its
// other methods are for when the request has ended. The zero value is ready.
type Survey struct {
	info  master.Info
	found map[key]*surveyed
}

type surveyed struct {
	item   item
	number uint8 // of the variation in which it came
	sample point.Sample
}

// Begin implements master.Handler.
func (y *Survey) Begin(i master.Info) { y.info = i }

// End implements master.Handler.
func (*Survey) End(master.Info) {}

// Header implements master.Handler.
func (y *Survey) Header(h app.Header) {
	kind := h.Variation.Kind()
	if h.Variation.Event() || typeOf(kind) == nil {
		return
	}
	if kind == object.KindOctetString {
		for o := range h.Objects() {
			y.add(kind, o.Index, 0, func(*item) (point.Value, point.Quality) { return textOf(o.Data), point.Good })
		}
		return
	}
	for p := range h.Points() {
		y.add(kind, p.Index, h.Variation.Number(), func(t *item) (point.Value, point.Quality) { return t.read(p.Value, p.Flags) })
	}
}

func (y *Survey) add(kind object.Kind, index uint32, number uint8, read func(*item) (point.Value, point.Quality)) {
	k := keyOf(kind, index)
	s := y.found[k]
	if s == nil {
		if len(y.found) >= maxSurveyed {
			return
		}
		if y.found == nil {
			y.found = make(map[key]*surveyed)
		}
		name := TypeName(kind) + "_" + strconv.FormatUint(uint64(index), 10)
		s = &surveyed{item: item{name: name, path: point.Path(name), kind: kind, index: index, scale: 1}}
		y.found[k] = s
	}
	s.number = number
	value, quality := read(&s.item)
	s.sample = point.Sample{Point: s.item.path, Time: y.info.Received.UTC(), Value: value, Quality: quality}
}

// Rest returns requests for the types of which no point was found: a device may leave some out of
// its classes. It may refuse each of them.
func (y *Survey) Rest() []*master.Request {
	has := make(map[object.Kind]bool)
	for _, s := range y.found {
		has[s.item.kind] = true
	}
	var rest []*master.Request
	for i := range typeTable {
		if t := &typeTable[i]; !has[t.kind] {
			rest = append(rest, master.ReadAll(object.Of(t.group, 0)))
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
		return cmp.Or(cmp.Compare(typeOf(a.item.kind).group, typeOf(b.item.kind).group), cmp.Compare(a.item.index, b.item.index))
	})
	found := make([]driver.Found, len(all))
	for i, s := range all {
		entry := map[string]string{
			"name": s.item.name, "type": TypeName(s.item.kind), "index": strconv.FormatUint(uint64(s.item.index), 10),
		}
		if s.number > 0 {
			entry["variation"] = strconv.Itoa(int(s.number))
		}
		found[i] = driver.Found{Info: s.item.info(), Sample: s.sample, Entry: entry}
	}
	return found
}

// Discover implements driver.Discoverer: a read of the present values, and a question for each type of
// which that shows no point.
func (n *session) Discover(ctx context.Context) ([]driver.Found, error) {
	const op = "dnp3.Discover"
	if err := n.ready(ctx); err != nil {
		return nil, n.fail(op, err)
	}
	y := &Survey{}
	n.station.survey(y)
	defer n.station.survey(nil)
	if _, err := n.do(ctx, master.ReadClasses(app.Class0)); err != nil {
		return nil, n.fail(op, err)
	}
	for _, r := range n.station.rest(y) {
		if _, err := n.do(ctx, r); err != nil && !errors.Is(err, master.ErrRefused) {
			return nil, n.fail(op, err)
		}
	}
	n.station.survey(nil)
	return y.Found(), nil
}
