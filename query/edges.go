package query

import "time"

// edges returns the beginnings of the buckets between from and to, and the end of the last one. In a zone
// they are aligned to local time: at midnight and whole steps after it, on the first of the month, on
// Mondays. Without a zone durations begin at from, and days and months are UTC.
func (s Step) edges(from, to time.Time, zone *time.Location) []time.Time {
	switch {
	case s.Months > 0 || s.Days > 0:
		return s.dates(from, to, orUTC(zone))
	case zone == nil:
		return s.steps(from, to)
	}
	return s.clock(from, to, zone)
}

func orUTC(zone *time.Location) *time.Location {
	if zone == nil {
		return time.UTC
	}
	return zone
}

func (s Step) steps(from, to time.Time) []time.Time {
	list := []time.Time{from}
	for at := from; at.Before(to); {
		at = at.Add(s.Duration)
		list = append(list, at)
	}
	return list
}

// dates are the midnights at which a calendar step begins. Steps of several days are counted from
// Monday, 29 December 1969, those of several months from the year 0.
func (s Step) dates(from, to time.Time, zone *time.Location) []time.Time {
	local := from.In(zone)
	year, month, day := local.Date()
	if s.Months > 0 {
		back := (year*12 + int(month) - 1) % s.Months
		month, day = month-time.Month(back), 1
	} else {
		monday := time.Date(1969, 12, 29, 0, 0, 0, 0, time.UTC)
		number := int(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(monday) / (24 * time.Hour))
		day -= ((number % s.Days) + s.Days) % s.Days
	}
	var list []time.Time
	for {
		at := wall(year, month, day, 0, zone)
		list = append(cut(list, at), at)
		if !at.Before(to) {
			return list
		}
		month += time.Month(s.Months)
		day += s.Days
	}
}

// clock returns the local times of a step that divides a day.
func (s Step) clock(from, to time.Time, zone *time.Location) []time.Time {
	year, month, day := from.In(zone).Date()
	var list []time.Time
	for begin := wall(year, month, day, 0, zone); ; day++ {
		end := wall(year, month, day+1, 0, zone)
		for at := begin; at.Before(end); at = s.next(at, begin, end, zone) {
			if !at.After(from) {
				list = list[:0]
			}
			list = append(list, at)
			if !at.Before(to) {
				return list
			}
		}
		begin = end
	}
}

// next returns the edge after one within the day from begin to end. Steps that divide the day's clock change,
// if any, continue through it: an hour that occurs twice has two buckets. Longer steps follow local time: the
// bucket with the clock change is longer or shorter.
func (s Step) next(at, begin, end time.Time, zone *time.Location) time.Time {
	change := end.Sub(begin) - 24*time.Hour
	if change%s.Duration == 0 {
		return at.Add(s.Duration)
	}
	year, month, day := begin.Add(12 * time.Hour).In(zone).Date()
	local := at.In(zone)
	shown := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute +
		time.Duration(local.Second())*time.Second + time.Duration(local.Nanosecond())
	for n := shown/s.Duration + 1; ; n++ {
		if next := wall(year, month, day, n*s.Duration, zone); next.After(at) {
			return next
		}
	}
}

// cut drops edges at or after a time: a date that a zone skipped has none.
func cut(list []time.Time, at time.Time) []time.Time {
	for len(list) > 0 && !list[len(list)-1].Before(at) {
		list = list[:len(list)-1]
	}
	return list
}

// wall returns the first instant at which the clock of the zone shows a time of the day, or, if it skips that
// time, the one at which it skips it.
func wall(year int, month time.Month, day int, clock time.Duration, zone *time.Location) time.Time {
	shown := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Add(clock)
	_, offset := shown.In(zone).Zone()
	at := shown.Add(-time.Duration(offset) * time.Second).In(zone)
	// The right instant has the offset of this period or of an adjacent one.
	begin, end := at.ZoneBounds()
	best := time.Time{}
	for _, period := range []time.Time{begin.Add(-time.Second), at, end} {
		if period.Before(shown.Add(-48*time.Hour)) || period.After(shown.Add(48*time.Hour)) {
			continue // no bound, or too far to matter
		}
		_, offset := period.Zone()
		candidate := shown.Add(-time.Duration(offset) * time.Second).In(zone)
		if shows(candidate, shown) && (best.IsZero() || candidate.Before(best)) {
			best = candidate
		}
	}
	if !best.IsZero() {
		return best.UTC()
	}
	return jump(at, shown, begin, end).UTC()
}

func shows(at, shown time.Time) bool {
	_, offset := at.Zone()
	return at.Add(time.Duration(offset) * time.Second).Equal(shown)
}

// jump returns the clock change that skips the time.
func jump(at, shown, begin, end time.Time) time.Time {
	_, offset := at.Zone()
	if at.Add(time.Duration(offset) * time.Second).After(shown) {
		return begin
	}
	return end
}
