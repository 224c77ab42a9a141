package sim

import "time"

// clock is the time of a model: it shows a given time at a given moment of the real clock, and may run faster
// from there on.
type clock struct {
	begin time.Time // of the real clock
	shows time.Time // what the model's clock shows at that time
	speed int64     // seconds of the model per second
}

// clock returns the clock of the configuration.
func (c *Config) clock() clock {
	shows := c.Shows
	if shows.IsZero() {
		shows = c.Begin
	}
	return clock{begin: c.Begin, shows: shows, speed: c.Speed}
}

// at is the model's time at a real time. Seconds and the fraction are multiplied separately, since a duration
// holds only 292 years.
func (c clock) at(t time.Time) time.Time {
	passed := t.Sub(c.begin)
	seconds, rest := int64(passed/time.Second), int64(passed%time.Second)
	return time.Unix(c.shows.Unix()+seconds*c.speed, int64(c.shows.Nanosecond())+rest*c.speed).UTC()
}

// same reports whether two clocks show the same time.
func (c clock) same(o clock) bool {
	return c.speed == o.speed && c.at(o.begin).Equal(o.shows)
}
