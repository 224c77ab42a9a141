package point

import "time"

// Stamp gives the readings of one point different times in the order in which they came, although their
// source, or the clock at which they arrived, gave some of them the same. The zero Stamp is ready for
// use. It is not safe for concurrent use.
type Stamp struct{ given, made int64 } // microseconds; all from given to made are taken

// Holds reports whether Next changes t, because a reading has it already.
func (s *Stamp) Holds(t time.Time) bool {
	at := t.UnixMicro()
	return s.made != 0 && at >= s.given && at <= s.made
}

// Next returns t, or the microsecond behind the last time that it returned if it returned t before or went
// on from it. A time before that stays as it is: clocks are set back, and devices report old events late.
func (s *Stamp) Next(t time.Time) time.Time {
	if s.Holds(t) {
		s.made++
		return time.UnixMicro(s.made).UTC()
	}
	s.given = t.UnixMicro()
	s.made = s.given
	return t
}

// Last returns the time that Next returned last.
func (s *Stamp) Last() time.Time { return time.UnixMicro(s.made).UTC() }
