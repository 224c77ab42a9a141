package directory

import (
	"errors"
	"slices"
	"sort"
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
	return len(d.entries), int(d.next)
}

// Number returns the number of a meter, from 0.
func (d *Directory) Number(id string) (uint32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names.Find(id)
}

// Meter returns the meter with a number.
func (d *Directory) Meter(number uint32) meter.Meter {
	d.mu.RLock()
	defer d.mu.RUnlock()
	m := d.models[d.entries[number].model]
	return meter.Meter{ID: string(d.names.Append(nil, number)), Commodity: m.Commodity, Channels: slices.Clone(m.Channels)}
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
		all.Go(func() { d.refs(part, of) })
	}
	d.refs(out, keys)
	all.Wait()
	return dst
}

func (d *Directory) refs(out []Ref, keys []store.ChannelKey) {
	for i, k := range keys {
		out[i] = d.ref(k)
	}
}

func (d *Directory) ref(k store.ChannelKey) Ref {
	n, ok := d.names.Find(k.Meter)
	if !ok {
		return Ref{}
	}
	channels := d.models[d.entries[n].model].Channels
	for i := range channels {
		if channels[i].Number == k.Channel {
			return Ref{d.entries[n].first + uint32(i), &channels[i]}
		}
	}
	return Ref{}
}

// ChannelOf returns the number of the channel with a reading type.
func (d *Directory) ChannelOf(id string, t meter.ReadingType) (int, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, ok := d.names.Find(id)
	if !ok {
		return 0, false
	}
	channels := d.models[d.entries[n].model].Channels
	for i := range channels {
		if channels[i].ReadingType == t {
			return channels[i].Number, true
		}
	}
	return 0, false
}

// place returns the meter of a channel's number, and the index of the channel. The caller holds mu.
func (d *Directory) place(channel uint32) (n int, index int) {
	n = sort.Search(len(d.entries), func(i int) bool { return d.entries[i].first > channel }) - 1
	return n, int(channel - d.entries[n].first)
}

// Register returns the register that counts the same quantity as a channel; false if its meter has none.
func (d *Directory) Register(channel uint32) (number uint32, c *meter.Channel, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(channel)
	m := d.models[d.entries[n].model]
	at := m.register[i]
	if at < 0 {
		return 0, nil, false
	}
	return d.entries[n].first + uint32(at), &m.Channels[at], true
}

// Profiles appends the channels whose register is the one with a number.
func (d *Directory) Profiles(dst []uint32, register uint32) []uint32 {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(register)
	for k, at := range d.models[d.entries[n].model].register {
		if at == i {
			dst = append(dst, d.entries[n].first+uint32(k))
		}
	}
	return dst
}

// Key returns what a channel's number stands for.
func (d *Directory) Key(channel uint32) (store.ChannelKey, *meter.Channel) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, i := d.place(channel)
	c := &d.models[d.entries[n].model].Channels[i]
	return store.ChannelKey{Meter: string(d.names.Append(nil, uint32(n))), Channel: c.Number}, c
}

// Commodity returns what the meter of a channel measures.
func (d *Directory) Commodity(channel uint32) meter.Commodity {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, _ := d.place(channel)
	return d.models[d.entries[n].model].Commodity
}

// Knows appends whether each key is that of a channel.
func (d *Directory) Knows(dst []bool, keys []store.ChannelKey) []bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for _, k := range keys {
		dst = append(dst, d.ref(k).Channel != nil)
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

// Exchanged notes that a meter was replaced by another. Both are registered.
func (d *Directory) Exchanged(old, id string, at time.Time) {
	from, _ := d.Number(old)
	to, _ := d.Number(id)
	d.mu.Lock()
	defer d.mu.Unlock()
	until, since := d.DaysOfExchange(at)
	d.entries[from].until, d.entries[to].since = until, since
}

// Expected calls f with the channels that have an interval and are expected on a day, in the order of their
// numbers, from the meter with a number on, until f returns false. f must not call the directory.
func (d *Directory) Expected(day store.Day, from uint32, f func(meter, channel uint32, c *meter.Channel) bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for n := int(from); n < len(d.entries); n++ {
		e := &d.entries[n]
		if day < e.since || day >= e.until {
			continue
		}
		channels := d.models[e.model].Channels
		for i := range channels {
			if channels[i].Interval > 0 && !f(uint32(n), e.first+uint32(i), &channels[i]) {
				return
			}
		}
	}
}
