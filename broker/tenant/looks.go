package tenant

import "time"

// lookRate is how many levels of retained topics the subscriptions of a connection may look at in a second, four times as many at once:
// several times all that are kept by default.
const lookRate = 250_000

// Looks bounds the work that the subscriptions of a connection make: a filter such as # looks at every retained topic, and one packet has
// many filters. The zero Looks is unused.
type Looks struct{ bucket }

// Spent reports whether no more subscription may be made for now.
func (l *Looks) Spent(now time.Time) bool {
	l.rate = lookRate
	return l.debt(now) > 0
}

// Use notes a look at so many levels.
func (l *Looks) Use(now time.Time, levels int) {
	l.rate = lookRate
	l.use(now, float64(levels))
}
