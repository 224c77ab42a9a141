// Package tenant says what each device may do at the broker, and how much of it is used.
package tenant

import (
	"strings"
	"time"

	"voltbus/broker/setting"
	"voltbus/protocol/mqtt/topic"
)

// Tenant is a device that has clients or sessions, whose connections are of a type L. The one without a name has those of clients
// that need none.
type Tenant[L comparable] struct {
	Name      string
	Kind      *setting.Kind // nil without a name
	publish   []string
	subscribe []string
	Sessions  int
	Links     map[L]struct{}
	messages  bucket
	bytes     bucket
	posted    time.Time // Of its last message without MQTT
}

// Tenants are devices by their names, "" for clients without one. The broker's lock guards them.
type Tenants[L comparable] map[string]*Tenant[L]

// Of returns the tenant of a device, which it makes if need be.
func (m Tenants[L]) Of(device string) *Tenant[L] {
	t := m[device]
	if t == nil {
		t = &Tenant[L]{Name: device, Links: map[L]struct{}{}}
		m[device] = t
	}
	return t
}

// Release forgets a tenant that has nothing any more.
func (m Tenants[L]) Release(t *Tenant[L]) {
	if len(t.Links) == 0 && t.Sessions == 0 && t.posted.IsZero() {
		delete(m, t.Name)
	}
}

// Forget lets go of tenants that use no MQTT and have been silent for as long as their allowances need to fill.
func (m Tenants[L]) Forget(now time.Time) {
	for _, t := range m {
		if !t.posted.IsZero() && now.Sub(t.posted) > 2*burst*time.Second {
			t.posted = time.Time{}
			m.Release(t)
		}
	}
}

// Be takes over what a kind says.
func (t *Tenant[L]) Be(k *setting.Kind) {
	if t.Kind == k {
		return
	}
	t.Kind = k
	t.publish, t.subscribe = topicsOf(k.Publish, t.Name), topicsOf(k.Subscribe, t.Name)
	t.messages.rate, t.bytes.rate = float64(k.Rate), float64(k.Bytes)
}

// topicsOf puts the name of a device into topics.
func topicsOf(patterns []string, device string) []string {
	list := make([]string, len(patterns))
	for i, p := range patterns {
		list[i] = strings.ReplaceAll(p, setting.DeviceName, device)
	}
	return list
}

// MayPublish reports whether the tenant may publish to a topic.
func (t *Tenant[L]) MayPublish(name string) bool {
	if t.Kind == nil {
		return t.Name == "" && !strings.HasPrefix(name, "$")
	}
	for _, p := range t.publish {
		if topic.Match(p, name) {
			return true
		}
	}
	return false
}

// MaySubscribe reports whether everything that a filter matches lies within what the tenant may subscribe to.
func (t *Tenant[L]) MaySubscribe(filter string) bool {
	if t.Kind == nil {
		return t.Name == "" && !strings.HasPrefix(filter, "$")
	}
	for _, p := range t.subscribe {
		if covers(p, filter) {
			return true
		}
	}
	return false
}

// covers reports whether one filter matches everything that another matches.
func covers(wide, narrow string) bool {
	if strings.HasPrefix(narrow, "$") && !strings.HasPrefix(wide, "$") {
		return false
	}
	for {
		w, wideRest, wideMore := strings.Cut(wide, "/")
		if w == "#" {
			return true
		}
		n, narrowRest, narrowMore := strings.Cut(narrow, "/")
		if n == "#" || w != "+" && w != n {
			return false
		}
		if !narrowMore { // "a/#" matches "a" too, MQTT 5.0 §4.7.1.2
			return !wideMore || wideRest == "#"
		}
		if !wideMore {
			return false
		}
		wide, narrow = wideRest, narrowRest
	}
}

// Pause is how long the clients of the tenant are not read, because they sent too much.
func (t *Tenant[L]) Pause(now time.Time) time.Duration {
	if t.Kind == nil {
		return 0
	}
	return min(max(t.messages.debt(now), t.bytes.debt(now)), maxPause)
}

// Use takes a message from what the tenant may send.
func (t *Tenant[L]) Use(now time.Time, octets int) {
	t.messages.use(now, 1)
	t.bytes.use(now, float64(octets))
}

// Posted notes a message of the tenant without MQTT.
func (t *Tenant[L]) Posted(now time.Time) { t.posted = now }

// maxPause bounds a pause, so that a connection that ended is noticed.
const maxPause = 5 * time.Second

// burst is how many seconds' worth may be used at once.
const burst = 4

// bucket is an allowance that fills with time.
type bucket struct {
	rate  float64 // a second; 0 has no bound
	level float64 // what was used and is not filled up yet
	at    int64   // Unix nanoseconds
}

// use takes from the allowance.
func (b *bucket) use(now time.Time, n float64) {
	if b.at != 0 {
		b.level = max(0, b.level-b.filled(now))
	}
	b.at = now.UnixNano()
	b.level += n
}

// filled is how much the allowance filled up since it was used: nothing if the clock was set back meanwhile.
func (b *bucket) filled(now time.Time) float64 {
	return b.rate * max(0, float64(now.UnixNano()-b.at)/1e9)
}

// debt is how long it takes until there is an allowance again.
func (b *bucket) debt(now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	over := b.level - b.rate*burst - b.filled(now)
	if over <= 0 {
		return 0
	}
	return time.Duration(over / b.rate * 1e9)
}
