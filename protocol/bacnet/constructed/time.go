package constructed

import (
	"fmt"

	"voltbus/protocol/bacnet/encoding"
)

// TimeStamp is when an event happened, or which number it has (BACnetTimeStamp).
type TimeStamp struct {
	Choice   TimeChoice
	Time     encoding.Time     // of ByTime
	Sequence uint32            // of BySequence
	DateTime encoding.DateTime // of ByDateTime
}

// TimeChoice is the form of a time stamp.
type TimeChoice uint8

// The choices in the order of their context tags.
const (
	ByTime TimeChoice = iota
	BySequence
	ByDateTime
)

// ReadTimeStamp reads a time stamp.
func ReadTimeStamp(d *encoding.Decoder) TimeStamp {
	switch {
	case d.Has(0):
		return TimeStamp{Choice: ByTime, Time: d.Time(0)}
	case d.Has(1):
		return TimeStamp{Choice: BySequence, Sequence: d.Uint32(1)}
	default:
		return TimeStamp{Choice: ByDateTime, DateTime: d.DateTime(2)}
	}
}

// Append writes the time stamp.
func (t TimeStamp) Append(b []byte) []byte {
	switch t.Choice {
	case ByTime:
		return encoding.AppendTime(b, 0, t.Time)
	case BySequence:
		return encoding.AppendUnsigned(b, 1, uint64(t.Sequence))
	default:
		return encoding.AppendDateTime(b, 2, t.DateTime)
	}
}

// String returns the time, or the number after a #.
func (t TimeStamp) String() string {
	switch t.Choice {
	case ByTime:
		return t.Time.String()
	case BySequence:
		return fmt.Sprintf("#%d", t.Sequence)
	default:
		return t.DateTime.String()
	}
}

// DateRange is a range of days with both ends (BACnetDateRange); an end that is not specified
// is open.
type DateRange struct {
	From, To encoding.Date
}

// ReadDateRange reads a range, such as the property effective-period.
func ReadDateRange(d *encoding.Decoder) DateRange {
	return DateRange{d.Date(encoding.App), d.Date(encoding.App)}
}

// Append writes the range.
func (r DateRange) Append(b []byte) []byte {
	return encoding.AppendDate(encoding.AppendDate(b, encoding.App, r.From), encoding.App, r.To)
}

// WeekNDay is a pattern of days: month, week of the month and day of the week
// (BACnetWeekNDay); [encoding.Wildcard] stands for any.
type WeekNDay struct {
	Month   uint8 // 1–12, 13 odd months, 14 even months
	Week    uint8 // 1–5 from the start, 6–9 seven days each from the end
	Weekday uint8 // 1 Monday – 7 Sunday
}
