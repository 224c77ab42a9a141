package point

import "time"

// Stamp gives the readings of one point distinct times in their order of arrival, even if their source, or
// the local clock, gave some of them the same time. The zero Stamp is ready to use. It is not safe for
// concurrent use.
type Stamp struct{ given, made int64 } // microseconds; all from given to made are taken

// Holds reports whether Next would change t, because a reading already has it.
func (s *Stamp) Holds(t time.Time) bool {
	at := t.UnixMicro()
	return s.made != 0 && at >= s.given && at <= s.made
}

// Next returns t, or the microsecond after the last time that it returned if it has returned t before or
// advanced from it. An earlier time is unchanged: clocks are set back, and devices report old events late.
func (s *Stamp) Next(t time.Time) time.Time {
	if s.Holds(t) {
		s.made++
		return time.UnixMicro(s.made).UTC()
	}
	s.given = t.UnixMicro()
	s.made = s.given
	return t
}

// Last returns the time last returned by Next.
func (s *Stamp) Last() time.Time { return time.UnixMicro(s.made).UTC() }
