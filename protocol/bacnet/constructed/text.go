package constructed

import (
	"fmt"
	"strconv"
	"strings"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Text shows the value of a property whose type is constructed, such as a schedule, for people. It returns false for a property
// that it does not know, and for a value that is malformed.
func Text(p enum.Property, data encoding.Any) (text string, known bool) {
	switch p {
	case enum.PropertyWeeklySchedule:
		days, err := List(data, ReadDailySchedule)
		return weekText(days), err == nil
	case enum.PropertyExceptionSchedule:
		return listText(data, ReadSpecialEvent)
	case enum.PropertyDateList:
		return listText(data, ReadCalendarEntry)
	case enum.PropertyEffectivePeriod:
		return listText(data, ReadDateRange)
	case enum.PropertyEventTimeStamps:
		return listText(data, ReadTimeStamp)
	case enum.PropertyRecipientList:
		return listText(data, ReadDestination)
	case enum.PropertyLogDeviceObjectProperty, enum.PropertyListOfObjectPropertyReferences:
		return listText(data, ReadObjectPropertyReference)
	default:
		return "", false
	}
}

func listText[T fmt.Stringer](data encoding.Any, read func(*encoding.Decoder) T) (string, bool) {
	list, err := List(data, read)
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = element.String()
	}
	return strings.Join(texts, "; "), err == nil
}

var weekdays = [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} //nolint:gochecknoglobals // a table

// weekText shows the days of a week with their names; fewer days without.
func weekText(days []DailySchedule) string {
	texts := make([]string, len(days))
	for i, day := range days {
		if texts[i] = day.String(); len(days) == len(weekdays) {
			texts[i] = weekdays[i] + " " + texts[i]
		}
	}
	return strings.Join(texts, "; ")
}

// String returns the times with their values, such as "08:00:00.00 21, 17:00:00.00 null"; "none" without any.
func (s DailySchedule) String() string {
	if len(s) == 0 {
		return "none"
	}
	texts := make([]string, len(s))
	for i, v := range s {
		texts[i] = v.Time.String() + " " + v.Value.String()
	}
	return strings.Join(texts, ", ")
}

// String returns the day, both ends or the pattern.
func (e CalendarEntry) String() string {
	switch e.Choice {
	case OnDate:
		return e.Date.String()
	case InRange:
		return e.Range.String()
	default:
		return e.WeekNDay.String()
	}
}

// String returns both ends with "to" between.
func (r DateRange) String() string { return r.From.String() + " to " + r.To.String() }

// String returns the pattern in words, such as "Mon in week 1 of month 5".
func (w WeekNDay) String() string {
	day := "each day"
	if w.Weekday >= 1 && w.Weekday <= 7 {
		day = weekdays[w.Weekday-1]
	}
	if w.Week != encoding.Wildcard {
		day += " in week " + weekOfMonth(w.Week)
	}
	switch w.Month {
	case encoding.Wildcard:
		return day
	case 13:
		return day + " of odd months"
	case 14:
		return day + " of even months"
	}
	return day + " of month " + strconv.Itoa(int(w.Month))
}

// weekOfMonth is the week of a month; 6 to 9 count from its end (clause 21, BACnetWeekNDay).
func weekOfMonth(week uint8) string {
	if week >= 6 && week <= 9 {
		return strconv.Itoa(int(week)-5) + " from the end"
	}
	return strconv.Itoa(int(week))
}

// String returns the days, what is scheduled on them, and the priority.
func (e SpecialEvent) String() string {
	when := e.Entry.String()
	if e.ByCalendar {
		when = e.Calendar.String()
	}
	return fmt.Sprintf("%s: %v (priority %d)", when, e.Day, e.Priority)
}

// String returns object and property, in front of them the device if it is another one.
func (r ObjectPropertyReference) String() string {
	text := r.Object.String() + " " + PropertyReference{Property: r.Property, Index: r.Index}.String()
	if r.Remote {
		text = r.Device.String() + " " + text
	}
	return text
}

// String returns the device, or network and MAC in hexadecimal.
func (r Recipient) String() string {
	if r.ByAddress {
		return fmt.Sprintf("%d:0x%x", r.Address.Net, r.Address.MAC)
	}
	return r.Device.String()
}

// String returns who is told, as which process, and of what.
func (r Destination) String() string {
	kind := "unconfirmed"
	if r.Confirmed {
		kind = "confirmed"
	}
	return fmt.Sprintf("%v process %d %s, days %v from %v to %v, transitions %v", r.Recipient, r.Process, kind, r.Days, r.From, r.To, r.Transitions)
}
