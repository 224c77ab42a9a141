package constructed

import (
	"fmt"
	"time"

	"voltbus/protocol/bacnet/encoding"
)

// TimeValue is a value from a time of day on (BACnetTimeValue). Null hands over to what has
// a lower priority.
type TimeValue struct {
	Time  encoding.Time
	Value encoding.Value
}

// ReadTimeValue reads a time and a value.
func ReadTimeValue(d *encoding.Decoder) TimeValue {
	return TimeValue{d.Time(encoding.App), d.Value()}
}

// Append writes time and value.
func (v TimeValue) Append(b []byte) []byte {
	return v.Value.Append(encoding.AppendTime(b, encoding.App, v.Time), encoding.App)
}

// DailySchedule is the schedule of one day (BACnetDailySchedule). The property weekly-schedule
// has seven, from Monday on.
type DailySchedule []TimeValue

// ReadDailySchedule reads a day.
func ReadDailySchedule(d *encoding.Decoder) DailySchedule { return readTimeValues(d, 0) }

// Append writes the day.
func (s DailySchedule) Append(b []byte) []byte { return s.append(b, 0) }

func (s DailySchedule) append(b []byte, tag int) []byte {
	return encoding.AppendAny(b, tag, Encode(s...))
}

func readTimeValues(d *encoding.Decoder, tag int) DailySchedule {
	d.Opening(tag)
	s := DailySchedule{}
	for d.More() {
		s = append(s, ReadTimeValue(d))
	}
	d.Closing(tag)
	return s
}

// CalendarEntry is a day, a range of days or a pattern (BACnetCalendarEntry).
type CalendarEntry struct {
	Choice   CalendarChoice
	Date     encoding.Date // of OnDate, may be a pattern
	Range    DateRange     // of InRange
	WeekNDay WeekNDay      // of OnWeekNDay
}

// CalendarChoice is the form of a calendar entry.
type CalendarChoice uint8

// The choices in the order of their context tags.
const (
	OnDate CalendarChoice = iota
	InRange
	OnWeekNDay
)

// ReadCalendarEntry reads an entry, such as those of the property date-list.
func ReadCalendarEntry(d *encoding.Decoder) CalendarEntry {
	switch {
	case d.Has(0):
		return CalendarEntry{Choice: OnDate, Date: d.Date(0)}
	case d.HasOpening(1):
		d.Opening(1)
		e := CalendarEntry{Choice: InRange, Range: ReadDateRange(d)}
		d.Closing(1)
		return e
	}
	e := CalendarEntry{Choice: OnWeekNDay}
	octets := d.Octets(2)
	if d.Err() == nil && len(octets) != 3 {
		d.Fail(fmt.Errorf("week and day: %w", encoding.ErrLength))
	}
	if d.Err() == nil {
		e.WeekNDay = WeekNDay{octets[0], octets[1], octets[2]}
	}
	return e
}

// Append writes the entry.
func (e CalendarEntry) Append(b []byte) []byte {
	switch e.Choice {
	case OnDate:
		return encoding.AppendDate(b, 0, e.Date)
	case InRange:
		return encoding.AppendAny(b, 1, e.Range.Append(nil))
	default:
		return encoding.AppendOctets(b, 2, []byte{e.WeekNDay.Month, e.WeekNDay.Week, e.WeekNDay.Weekday})
	}
}

// Matches reports whether the entry is in force on the day of t, in t's own zone.
func (e CalendarEntry) Matches(t time.Time) bool {
	switch e.Choice {
	case OnDate:
		return e.Date.Matches(t)
	case InRange:
		return e.Range.Contains(t)
	default:
		return e.WeekNDay.matches(t)
	}
}

// Contains reports whether the day of t lies in the range, in t's own zone.
func (r DateRange) Contains(t time.Time) bool {
	day := ordinal(encoding.DateOf(t))
	return (r.From.Year == encoding.Wildcard || ordinal(r.From) <= day) &&
		(r.To.Year == encoding.Wildcard || day <= ordinal(r.To))
}

func ordinal(d encoding.Date) int { return int(d.Year)<<16 | int(d.Month)<<8 | int(d.Day) }

func (w WeekNDay) matches(t time.Time) bool {
	month := encoding.Date{Year: encoding.Wildcard, Month: w.Month, Day: encoding.Wildcard, Weekday: w.Weekday}
	if !month.Matches(t) {
		return false
	}
	last := time.Date(t.Year(), t.Month()+1, 0, 0, 0, 0, 0, t.Location()).Day()
	switch {
	case w.Week == encoding.Wildcard:
		return true
	case w.Week >= 6:
		return (last-t.Day())/7 == int(w.Week)-6
	}
	return (t.Day()-1)/7 == int(w.Week)-1
}

// SpecialEvent is an exception from the week (BACnetSpecialEvent), an element of the property
// exception-schedule.
type SpecialEvent struct {
	Calendar encoding.ObjectID // the calendar whose days count, if ByCalendar
	Entry    CalendarEntry     // the days that count, otherwise
	Day      DailySchedule
	Priority uint8 // 1 highest – 16

	ByCalendar bool
}

// ReadSpecialEvent reads an exception.
func ReadSpecialEvent(d *encoding.Decoder) SpecialEvent {
	var e SpecialEvent
	if e.ByCalendar = d.Has(1); e.ByCalendar {
		e.Calendar = d.ObjectID(1)
	} else {
		d.Opening(0)
		e.Entry = ReadCalendarEntry(d)
		d.Closing(0)
	}
	e.Day = readTimeValues(d, 2)
	e.Priority = uint8(min(d.Unsigned(3), 255))
	return e
}

// Append writes the exception.
func (e SpecialEvent) Append(b []byte) []byte {
	if e.ByCalendar {
		b = encoding.AppendObjectID(b, 1, e.Calendar)
	} else {
		b = encoding.AppendAny(b, 0, e.Entry.Append(nil))
	}
	return encoding.AppendUnsigned(e.Day.append(b, 2), 3, uint64(e.Priority))
}
