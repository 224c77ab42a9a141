package point

import "time"

// Bounds say which times of a source are believed. A time outside of them is of a clock that was never set
// or is set wrongly: the receiver gives it the time of its arrival, makes it uncertain(clock) and
// counts it.
type Bounds struct {
	Past  time.Duration // how old a reading may be when it arrives; 0: as old as it likes, from 1980 on
	Ahead time.Duration // how far its time may lie in the future then; 0: as far as it likes
}

// clocksBegin is the first time that is believed where Past bounds nothing: clocks that were never set begin at 1970.
var clocksBegin = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // never changed

// Hold reports whether the time of a reading that arrived at a moment is believed.
func (b Bounds) Hold(t, arrived time.Time) bool {
	past := !t.Before(clocksBegin)
	if b.Past > 0 {
		past = !t.Before(arrived.Add(-b.Past))
	}
	return past && (b.Ahead <= 0 || !t.After(arrived.Add(b.Ahead)))
}

// Doubtful adds to a quality that the time is uncertain, where nothing worse is known.
func (q Quality) Doubtful() Quality {
	if q.IsGood() {
		return UncertainClock
	}
	return q
}
