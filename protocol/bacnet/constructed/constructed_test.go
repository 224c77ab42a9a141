package constructed_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type appender interface{ Append(b []byte) []byte }

type codec func(p []byte) (appender, error)

func of[T appender](read func(*encoding.Decoder) T) codec {
	return func(p []byte) (appender, error) {
		d := encoding.NewDecoder(p)
		v := read(d)
		return v, d.End()
	}
}

var (
	day      = encoding.Date{Year: 98, Month: 3, Day: 23, Weekday: 1}
	moment   = encoding.DateTime{Date: day, Time: encoding.Time{Hour: 19, Minute: 52}}
	morning  = encoding.Time{Hour: 8}
	schedule = constructed.DailySchedule{
		{Time: morning, Value: encoding.Real(21)},
		{Time: encoding.Time{Hour: 17}, Value: encoding.Null()},
	}
)

// types has the encodings of clause 21, each written by hand.
var types = []struct {
	name string
	wire string
	read codec
	want appender
}{
	{"BACnetTimeStamp, a time", "0C 08 00 00 00", of(constructed.ReadTimeStamp), constructed.TimeStamp{Time: morning}},
	{"BACnetTimeStamp, a number", "19 10", of(constructed.ReadTimeStamp), constructed.TimeStamp{Choice: constructed.BySequence, Sequence: 16}},
	{"BACnetTimeStamp, date and time", "2E A4 62 03 17 01 B4 13 34 00 00 2F", of(constructed.ReadTimeStamp), constructed.TimeStamp{Choice: constructed.ByDateTime, DateTime: moment}},
	{"BACnetDateRange", "A4 62 03 17 01 A4 FF FF FF FF", of(constructed.ReadDateRange), constructed.DateRange{From: day, To: encoding.Date{Year: 255, Month: 255, Day: 255, Weekday: 255}}},
	{"BACnetDailySchedule", "0E B4 08 00 00 00 44 41 A8 00 00 B4 11 00 00 00 00 0F", of(constructed.ReadDailySchedule), schedule},
	{"BACnetDailySchedule, an empty day", "0E 0F", of(constructed.ReadDailySchedule), constructed.DailySchedule{}},
	{"BACnetCalendarEntry, a date", "0C 62 03 17 01", of(constructed.ReadCalendarEntry), constructed.CalendarEntry{Date: day}},
	{"BACnetCalendarEntry, a range", "1E A4 62 03 17 01 A4 62 03 17 01 1F", of(constructed.ReadCalendarEntry), constructed.CalendarEntry{Choice: constructed.InRange, Range: constructed.DateRange{From: day, To: day}}},
	{"BACnetCalendarEntry, a week and a day", "2B FF 06 05", of(constructed.ReadCalendarEntry), constructed.CalendarEntry{Choice: constructed.OnWeekNDay, WeekNDay: constructed.WeekNDay{Month: 255, Week: 6, Weekday: 5}}},
	{
		"BACnetSpecialEvent of a calendar", "1C 01 80 00 02 2E B4 08 00 00 00 44 41 A8 00 00 B4 11 00 00 00 00 2F 39 0A", of(constructed.ReadSpecialEvent),
		constructed.SpecialEvent{ByCalendar: true, Calendar: encoding.ObjectID{Type: enum.Calendar, Instance: 2}, Day: schedule, Priority: 10},
	},
	{"BACnetSpecialEvent on a day", "0E 0C 62 03 17 01 0F 2E 2F 39 10", of(constructed.ReadSpecialEvent), constructed.SpecialEvent{Entry: constructed.CalendarEntry{Date: day}, Day: constructed.DailySchedule{}, Priority: 16}},
	{"BACnetPropertyReference", "09 57 19 08", of(constructed.ReadPropertyReference), constructed.PropertyReference{Property: enum.PropertyPriorityArray, Index: constructed.At(8)}},
	{
		"BACnetDeviceObjectPropertyReference", "0C 00 00 00 05 19 55 3C 02 00 00 07", of(constructed.ReadObjectPropertyReference),
		constructed.ObjectPropertyReference{Object: encoding.ObjectID{Instance: 5}, Property: enum.PropertyPresentValue, Remote: true, Device: encoding.ObjectID{Type: enum.Device, Instance: 7}},
	},
	{"BACnetAddressBinding", "C4 02 00 00 07 21 05 61 0A", of(constructed.ReadAddressBinding), constructed.AddressBinding{Device: encoding.ObjectID{Type: enum.Device, Instance: 7}, Address: constructed.Address{Net: 5, MAC: "\x0A"}}},
	{
		"BACnetDestination", "82 01 FE B4 00 00 00 00 B4 17 3B 3B 63 1E 21 00 65 06 0A 42 00 02 BA C0 1F 21 07 11 82 05 E0", of(constructed.ReadDestination),
		constructed.Destination{
			Days: encoding.Bits(true, true, true, true, true, true, true), To: encoding.Time{Hour: 23, Minute: 59, Second: 59, Hundredths: 99},
			Recipient: constructed.Recipient{ByAddress: true, Address: constructed.Address{MAC: "\x0A\x42\x00\x02\xBA\xC0"}},
			Process:   7, Confirmed: true, Transitions: encoding.Bits(true, true, true),
		},
	},
	{
		"BACnetCOVSubscription", "0E 0E 0C 02 00 00 07 0F 19 12 0F 1E 0C 00 00 00 05 19 55 1F 29 01 39 3C 4C 3F 80 00 00", of(constructed.ReadCOVSubscription),
		constructed.COVSubscription{
			Recipient: constructed.Recipient{Device: encoding.ObjectID{Type: enum.Device, Instance: 7}}, Process: 18,
			Property:  constructed.ObjectPropertyReference{Object: encoding.ObjectID{Instance: 5}, Property: enum.PropertyPresentValue},
			Confirmed: true, Left: 60, Increment: encoding.Real(1),
		},
	},
	{
		"BACnetLogRecord with a value", "0E A4 62 03 17 01 B4 13 34 00 00 0F 1E 2C 41 90 00 00 1F 2A 04 40", of(constructed.ReadLogRecord),
		constructed.LogRecord{Time: moment, Choice: constructed.LogReal, Value: encoding.Real(18), HasStatus: true, Status: constructed.StatusFlags{Fault: true}},
	},
	{"BACnetLogRecord of an interruption", "0E A4 62 03 17 01 B4 13 34 00 00 0F 1E 0A 05 20 1F", of(constructed.ReadLogRecord), constructed.LogRecord{Time: moment, Value: encoding.BitStringValue(encoding.Bits(false, false, true))}},
	{
		"BACnetLogRecord of a failure", "0E A4 62 03 17 01 B4 13 34 00 00 0F 1E 8E 91 02 91 20 8F 1F", of(constructed.ReadLogRecord),
		constructed.LogRecord{Time: moment, Choice: constructed.LogFailure, Class: enum.ClassProperty, Code: enum.CodeUnknownProperty},
	},
	{
		"BACnetLogRecord of any type", "0E A4 62 03 17 01 B4 13 34 00 00 0F 1E AE 74 00 61 62 63 AF 1F", of(constructed.ReadLogRecord),
		constructed.LogRecord{Time: moment, Choice: constructed.LogAny, Any: encoding.Encode(encoding.Text("abc"))},
	},
	{
		"BACnetPriorityArray", "00 00 00 00 00 00 00 44 41 A8 00 00 00 00 00 00 00 00 00 91 01", of(constructed.ReadPriorityArray),
		constructed.PriorityArray{7: encoding.Real(21), 15: encoding.Enumerated(uint8(1))},
	},
}

func TestConstructedTypes(t *testing.T) {
	for _, tt := range types {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, err := tt.read(wire)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("read\n%+v (%v), want\n%+v", got, err, tt.want)
			}
			if got := tt.want.Append(nil); !bytes.Equal(got, wire) {
				t.Errorf("wrote\n% X, want\n% X", got, wire)
			}
			for n := range wire {
				if got, err := tt.read(wire[:n]); err == nil && reflect.DeepEqual(got, tt.want) {
					t.Errorf("%d of %d octets are read as the whole", n, len(wire))
				}
			}
		})
	}
}

func TestListsAreRead(t *testing.T) {
	week := constructed.Encode(schedule, constructed.DailySchedule{}, schedule)
	got, err := constructed.List(week, constructed.ReadDailySchedule)
	if want := []constructed.DailySchedule{schedule, {}, schedule}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v (%v), want %v", got, err, want)
	}
	if got, err := constructed.List(week[:len(week)-1], constructed.ReadDailySchedule); err == nil {
		t.Errorf("a list that is cut is read as %v", got)
	}
}

func TestTheHighestPriorityCounts(t *testing.T) { // clause 19.2
	a := constructed.PriorityArray{7: encoding.Real(21), 15: encoding.Real(18)}
	if v, priority := a.Active(); v != encoding.Real(21) || priority != 8 {
		t.Errorf("%v at priority %d counts, want 21 at 8", v, priority)
	}
	if _, priority := (constructed.PriorityArray{}).Active(); priority != 0 {
		t.Errorf("priority %d of an empty array counts", priority)
	}
}

func TestCalendarEntriesMatchDays(t *testing.T) {
	on := time.Date(2024, time.February, 23, 0, 0, 0, 0, time.UTC) // the last Friday but none: 29 days
	date := encoding.DateOf
	for name, tt := range map[string]struct {
		entry constructed.CalendarEntry
		want  bool
	}{
		"the date":            {constructed.CalendarEntry{Date: date(on)}, true},
		"another date":        {constructed.CalendarEntry{Date: date(on.AddDate(0, 0, 1))}, false},
		"a range around it":   {constructed.CalendarEntry{Choice: constructed.InRange, Range: constructed.DateRange{From: date(on.AddDate(0, 0, -1)), To: date(on)}}, true},
		"a range before it":   {constructed.CalendarEntry{Choice: constructed.InRange, Range: constructed.DateRange{From: date(on.AddDate(-1, 0, 0)), To: date(on.AddDate(0, 0, -1))}}, false},
		"the fourth week":     {constructed.CalendarEntry{Choice: constructed.OnWeekNDay, WeekNDay: constructed.WeekNDay{Month: 2, Week: 4, Weekday: 5}}, true},
		"the last seven days": {constructed.CalendarEntry{Choice: constructed.OnWeekNDay, WeekNDay: constructed.WeekNDay{Month: 255, Week: 6, Weekday: 255}}, true},
		"the week before":     {constructed.CalendarEntry{Choice: constructed.OnWeekNDay, WeekNDay: constructed.WeekNDay{Month: 255, Week: 7, Weekday: 255}}, false},
	} {
		if got := tt.entry.Matches(on); got != tt.want {
			t.Errorf("%s: matches %v, want %v", name, got, tt.want)
		}
	}
}

// FuzzRead reads any data as any type: what is accepted must, once written, be read as it is.
func FuzzRead(f *testing.F) {
	for i, tt := range types {
		f.Add(uint8(i), octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		for p := range enum.Property(512) {
			_, _ = constructed.Text(p, data)
		}
		read := types[int(kind)%len(types)].read
		first, err := read(data)
		if err != nil {
			return
		}
		wire := first.Append(nil)
		second, err := read(wire)
		if err != nil {
			t.Fatalf("%+v was written as % X: %v", first, wire, err)
		}
		if again := second.Append(nil); !bytes.Equal(again, wire) {
			t.Errorf("%+v was written as % X, then as % X", first, wire, again)
		}
	})
}
