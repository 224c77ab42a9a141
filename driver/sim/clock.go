package sim

import "time"

// clock is what a model takes for the time: it shows a moment at another one of the real clock,
// and runs faster from there on.
type clock struct {
	begin time.Time // of the real clock
	shows time.Time // what the model's clock shows then
	speed int64     // seconds of the model in a second
}

// clock returns the clock of the configuration.
func (c *Config) clock() clock {
	shows := c.Shows
	if shows.IsZero() {
		shows = c.Begin
	}
	return clock{begin: c.Begin, shows: shows, speed: c.Speed}
}

// at is the model's time at a real time. Seconds and the rest are multiplied each by themselves,
// since a duration holds only 292 years.
func (c clock) at(t time.Time) time.Time {
	passed := t.Sub(c.begin)
	seconds, rest := int64(passed/time.Second), int64(passed%time.Second)
	return time.Unix(c.shows.Unix()+seconds*c.speed, int64(c.shows.Nanosecond())+rest*c.speed).UTC()
}

// same reports whether both show the same.
func (c clock) same(o clock) bool {
	return c.speed == o.speed && c.at(o.begin).Equal(o.shows)
}
