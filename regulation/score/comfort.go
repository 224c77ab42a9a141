package score

import "time"

// Comfort sums how far and how long a temperature is outside of its bounds. The zero value is ready.
type Comfort struct {
	Violation float64 // K·h
}

// Add counts a temperature that holds for a time, in the unit of the bounds, °C.
func (c *Comfort) Add(temperature, low, high float64, held time.Duration) {
	c.Violation += max(0, temperature-high, low-temperature) * held.Hours()
}

// Switches counts the switching of an on/off unit. The zero value is one that has not been observed.
type Switches struct {
	Count int // changes between on and off
	Early int // of them, those sooner after the change before than the lock-out

	known bool
	on    bool
	since time.Time // of the last change that was observed; zero: none
}

// Observe notes whether the unit is on. Times do not fall.
func (s *Switches) Observe(at time.Time, on bool, lockout time.Duration) {
	if s.known && on != s.on {
		s.Count++
		if !s.since.IsZero() && at.Sub(s.since) < lockout {
			s.Early++
		}
		s.since = at
	}
	s.known, s.on = true, on
}
