package directory

import (
	"errors"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
)

// Len returns how many meters and channels there are.
func (d *Directory) Len() (meters, channels int) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names.len(), int(d.next)
}

// Number returns the number of a meter, from 0.
func (d *Directory) Number(id string) (uint32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names.one(id)
}

// Meter returns the meter with a number.
func (d *Directory) Meter(number uint32) meter.Meter {
	d.mu.RLock()
	defer d.mu.RUnlock()
	m := d.models[d.meters.model.At(number)]
	return meter.Meter{ID: strings.Clone(d.names.text(number)), Commodity: m.Commodity, Channels: slices.Clone(m.Channels)}
}

// Ref is a channel as it is kept: its number in the store, and what it is.
type Ref struct {
	Number  uint32
	Channel *meter.Channel // nil for a channel that is not registered
}

// share is how many keys one goroutine looks up: with millions of meters each waits for the memory.
const share = 20_000

// Refs appends what the keys stand for.
func (d *Directory) Refs(dst []Ref, keys []store.ChannelKey) []Ref {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n := len(dst)
	dst = slices.Grow(dst, len(keys))[:n+len(keys)]
	out := dst[n:]
	var all sync.WaitGroup
	for ; len(keys) > share; keys, out = keys[share:], out[share:] {
		part, of := out[:share], keys[:share]
		all.Go(func() { refs(d, part, of) })
	}
	refs(d, out, keys)
	all.Wait()
	return dst
}

// refs finds many keys at a time. The caller holds mu.
func refs(d *Directory, out []Ref, keys []store.ChannelKey) {
	s := &search{}
	for len(keys) > 0 {
		count := min(together, len(keys))
		for i := range count {
			s.ids[i] = keys[i].Meter
		}
		d.names.find(s, count)
		for i := range count {
			out[i] = ref(d, s.n[i], keys[i].Channel)
		}
		out, keys = out[count:], keys[count:]
	}
}

// ref returns a channel of the meter whose number is one less; 0 stands for none.
func ref(d *Directory, n uint32, channel int) Ref {
	if n == 0 {
		return Ref{}
	}
	channels := d.models[d.meters.model.At(n-1)].Channels
	for i := range channels {
		if channels[i].Number == channel {
			return Ref{d.meters.first.At(n-1) + uint32(i), &channels[i]}
		}
	}
	return Ref{}
}

// ChannelOf returns the number of the channel with a reading type.
func (d *Directory) ChannelOf(id string, t meter.ReadingType) (int, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, ok := d.names.one(id)
	if !ok {
		return 0, false
	}
	channels := d.models[d.meters.model.At(n)].Channels
	for i := range channels {
		if channels[i].ReadingType == t {
			return channels[i].Number, true
		}
	}
	return 0, false
}

// place returns the meter of a channel's number, and the index of the channel. The caller holds mu.
func (d *Directory) place(channel uint32) (n uint32, index int) {
	n = uint32(sort.Search(d.names.len(), func(i int) bool { return d.meters.first.At(uint32(i)) > channel }) - 1)
	return n, int(channel - d.meters.first.At(n))
}

// Register returns the register that counts the same quantity as a channel; false if its meter has none.
func (d *Directory) Register(channel uint32) (number uint32, c *meter.Channel, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(channel)
	m := d.models[d.meters.model.At(n)]
	at := m.register[i]
	if at < 0 {
		return 0, nil, false
	}
	return d.meters.first.At(n) + uint32(at), &m.Channels[at], true
}

// Profiles appends the channels whose register is the one with a number.
func (d *Directory) Profiles(dst []uint32, register uint32) []uint32 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(register)
	for k, at := range d.models[d.meters.model.At(n)].register {
		if at == i {
			dst = append(dst, d.meters.first.At(n)+uint32(k))
		}
	}
	return dst
}

// Key returns what a channel's number stands for.
func (d *Directory) Key(channel uint32) (store.ChannelKey, *meter.Channel) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(channel)
	c := &d.models[d.meters.model.At(n)].Channels[i]
	return store.ChannelKey{Meter: strings.Clone(d.names.text(n)), Channel: c.Number}, c
}

// Commodity returns what the meter of a channel measures.
func (d *Directory) Commodity(channel uint32) meter.Commodity {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, _ := d.place(channel)
	return d.models[d.meters.model.At(n)].Commodity
}

// Knows appends whether each key is that of a channel.
func (d *Directory) Knows(dst []bool, keys []store.ChannelKey) []bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var found [together]Ref
	for len(keys) > 0 {
		count := min(together, len(keys))
		refs(d, found[:], keys[:count])
		for i := range count {
			dst = append(dst, found[i].Channel != nil)
		}
		keys = keys[count:]
	}
	return dst
}

var errAfter = errors.New("no meter is registered with this id: begin anew")

// Meters lists meters behind the one with the id after, at most limit.
func (d *Directory) Meters(after string, limit int) ([]meter.Meter, error) {
	from := uint32(0)
	if after != "" {
		n, ok := d.Number(after)
		if !ok {
			return nil, fault.E("meter.Meters", fault.NotFound, after, errAfter)
		}
		from = n + 1
	}
	all, _ := d.Len()
	out := make([]meter.Meter, 0, min(limit, all))
	for n := from; int(n) < all && len(out) < limit; n++ {
		out = append(out, d.Meter(n))
	}
	return out, nil
}

// DaysOfExchange returns until which day the meter that was replaced at a moment is expected, and since which the other.
// On the day itself both deliver a part.
func (d *Directory) DaysOfExchange(at time.Time) (until, since store.Day) {
	day := d.calendar.Of(at.UnixMicro() + 1)
	return day + 1, day
}

// Exchanged notes that a meter was replaced by another. "" stands for one that another store keeps; the others are registered.
func (d *Directory) Exchanged(old, id string, at time.Time) {
	from, gone := d.Number(old)
	to, came := d.Number(id)
	d.mu.Lock()
	defer d.mu.Unlock()
	until, since := d.DaysOfExchange(at)
	if gone {
		d.meters.until.Set(from, until)
	}
	if came {
		d.meters.since.Set(to, since)
	}
}

// Expected calls f with the channels that have an interval and are expected on a day, in the order of their
// numbers, from the meter with a number on, until f returns false. f must not call the directory.
func (d *Directory) Expected(day store.Day, from uint32, f func(meter, channel uint32, c *meter.Channel) bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for n := from; int(n) < d.names.len(); n++ {
		if day < d.meters.since.At(n) || day >= d.meters.until.At(n) {
			continue
		}
		first, channels := d.meters.first.At(n), d.models[d.meters.model.At(n)].Channels
		for i := range channels {
			if channels[i].Interval > 0 && !f(n, first+uint32(i), &channels[i]) {
				return
			}
		}
	}
}
