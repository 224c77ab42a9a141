package point

import "time"

// Bounds is the accepted range of a source's times. A time outside it comes from a clock that is not set or
// wrong: the receiver replaces it by the time of arrival, marks the reading uncertain(clock) and counts it.
type Bounds struct {
	Past  time.Duration // how old a reading may be when it arrives; 0: any age, from 1980 on
	Ahead time.Duration // how far in the future its time may be; 0: any
}

// clocksBegin is the first accepted time if Past is 0: clocks that were never set start in 1970.
var clocksBegin = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // never changed

// Hold reports whether the time of a reading that arrived at a given time is accepted.
func (b Bounds) Hold(t, arrived time.Time) bool {
	past := !t.Before(clocksBegin)
	if b.Past > 0 {
		past = !t.Before(arrived.Add(-b.Past))
	}
	return past && (b.Ahead <= 0 || !t.After(arrived.Add(b.Ahead)))
}

// Doubtful marks a quality as uncertain in time, unless it is worse.
func (q Quality) Doubtful() Quality {
	if q.IsGood() {
		return UncertainClock
	}
	return q
}
