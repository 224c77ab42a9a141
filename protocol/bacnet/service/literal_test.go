package service_test

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// appender is what every message of the package is.
type appender interface{ Append(b []byte) []byte }

// codec reads a message and gives it as something that writes itself.
type codec func(p []byte) (appender, error)

func of[T appender](decode func([]byte) (T, error)) codec {
	return func(p []byte) (appender, error) { return decode(p) }
}

// clock and getEvents write themselves as messages of one field do.
type clock encoding.DateTime

func (c clock) Append(b []byte) []byte { return service.AppendTime(b, encoding.DateTime(c)) }

func decodeClock(p []byte) (clock, error) {
	t, err := service.DecodeTime(p)
	return clock(t), err
}

type getEvents struct{ last *encoding.ObjectID }

func (g getEvents) Append(b []byte) []byte { return service.AppendGetEvents(b, g.last) }

func decodeGetEvents(p []byte) (getEvents, error) {
	last, err := service.DecodeGetEvents(p)
	return getEvents{last}, err
}

func id(t enum.ObjectType, n uint32) encoding.ObjectID {
	return encoding.ObjectID{Type: t, Instance: n}
}

var (
	presentValue = constructed.PropertyReference{Property: enum.PropertyPresentValue}
	sixPM        = encoding.DateTime{
		Date: encoding.Date{Year: 98, Month: 3, Day: 23, Weekday: 1},
		Time: encoding.Time{Hour: 19, Minute: 52},
	}
	errUnknownProperty = service.Error{Class: enum.ClassProperty, Code: enum.CodeUnknownProperty}
)

// messages has examples of annex F, without the fixed part of the APDU, and more.
var messages = []struct {
	name   string
	wire   string
	decode codec
	want   appender
}{
	{
		"F.3.5 ReadProperty", "0C 00 00 00 05 19 55", of(service.DecodeReadPropertyRequest),
		service.ReadPropertyRequest{Object: id(enum.AnalogInput, 5), Property: enum.PropertyPresentValue},
	},
	{
		"ReadProperty of an element", "0C 02 00 00 05 19 4C 29 02", of(service.DecodeReadPropertyRequest),
		service.ReadPropertyRequest{Object: id(enum.Device, 5), Property: enum.PropertyObjectList, Index: constructed.At(2)},
	},
	{
		"F.3.5 the answer to ReadProperty", "0C 00 00 00 05 19 55 3E 44 42 90 99 9A 3F", of(service.DecodeReadPropertyAck),
		service.ReadPropertyAck{
			ReadPropertyRequest: service.ReadPropertyRequest{Object: id(enum.AnalogInput, 5), Property: enum.PropertyPresentValue},
			Value:               encoding.Encode(encoding.Real(72.3)),
		},
	},
	{
		"F.3.7 ReadPropertyMultiple", "0C 00 00 00 10 1E 09 55 09 67 1F", of(service.DecodeReadMultipleRequest),
		service.ReadMultipleRequest{{Object: id(enum.AnalogInput, 16), Properties: []constructed.PropertyReference{
			presentValue, {Property: enum.PropertyReliability},
		}}},
	},
	{
		"F.3.7 the answer to ReadPropertyMultiple", "0C 00 00 00 10 1E 29 55 4E 44 42 90 99 9A 4F 29 67 4E 91 00 4F 1F", of(service.DecodeReadMultipleAck),
		service.ReadMultipleAck{{Object: id(enum.AnalogInput, 16), Properties: []service.PropertyResult{
			{Property: enum.PropertyPresentValue, Value: encoding.Encode(encoding.Real(72.3))},
			{Property: enum.PropertyReliability, Value: encoding.Encode(encoding.Enumerated(uint8(0)))},
		}}},
	},
	{
		"F.3.7 an answer with an error", "0C 00 00 00 21 1E 29 55 5E 91 02 91 20 5F 1F", of(service.DecodeReadMultipleAck),
		service.ReadMultipleAck{{Object: id(enum.AnalogInput, 33), Properties: []service.PropertyResult{
			{Property: enum.PropertyPresentValue, Error: &errUnknownProperty},
		}}},
	},
	{
		"F.3.9 WriteProperty", "0C 00 80 00 01 19 55 3E 44 43 34 00 00 3F", of(service.DecodeWritePropertyRequest),
		service.WritePropertyRequest{
			ReadPropertyRequest: service.ReadPropertyRequest{Object: id(enum.AnalogValue, 1), Property: enum.PropertyPresentValue},
			Value:               encoding.Encode(encoding.Real(180)),
		},
	},
	{
		"WriteProperty that relinquishes priority 8", "0C 00 80 00 01 19 55 3E 00 3F 49 08", of(service.DecodeWritePropertyRequest),
		service.WritePropertyRequest{
			ReadPropertyRequest: service.ReadPropertyRequest{Object: id(enum.AnalogValue, 1), Property: enum.PropertyPresentValue},
			Value:               encoding.Encode(encoding.Null()), Priority: 8,
		},
	},
	{
		"F.3.10 WritePropertyMultiple", "0C 00 80 00 05 1E 09 55 2E 44 42 86 00 00 2F 1F 0C 00 80 00 06 1E 09 55 2E 44 42 86 00 00 2F 39 08 1F",
		of(service.DecodeWriteMultipleRequest),
		service.WriteMultipleRequest{
			{Object: id(enum.AnalogValue, 5), Properties: []service.PropertyWrite{{Property: enum.PropertyPresentValue, Value: encoding.Encode(encoding.Real(67))}}},
			{Object: id(enum.AnalogValue, 6), Properties: []service.PropertyWrite{{Property: enum.PropertyPresentValue, Value: encoding.Encode(encoding.Real(67)), Priority: 8}}},
		},
	},
	{"an error", "91 02 91 20", of(service.DecodeError), errUnknownProperty},
	{
		"15.10 the error of WritePropertyMultiple", "0E 91 02 91 28 0F 1E 0C 00 80 00 05 19 55 1F", of(service.DecodeWriteMultipleError),
		service.WriteMultipleError{
			Cause: service.Error{Class: enum.ClassProperty, Code: enum.CodeWriteAccessDenied},
			First: constructed.ObjectPropertyReference{Object: id(enum.AnalogValue, 5), Property: enum.PropertyPresentValue},
		},
	},
	{"F.4.9 Who-Is for one device", "09 03 19 03", of(service.DecodeWhoIs), service.Devices(3, 3)},
	{"F.4.9 Who-Is for all", "", of(service.DecodeWhoIs), service.Range{}},
	{
		"F.4.9 I-Am", "C4 02 00 00 03 22 04 00 91 03 21 63", of(service.DecodeAnnouncement),
		service.Announcement{Device: id(enum.Device, 3), MaxAPDU: 1024, Segmentation: service.NoSegmentation, Vendor: 99},
	},
	{"F.4.8 Who-Has by name", "3D 07 00 4F 41 54 65 6D 70", of(service.DecodeObjectQuery), service.ObjectQuery{Name: "OATemp"}},
	{
		"F.4.8 Who-Has by identifier", "09 01 19 09 2C 00 00 00 03", of(service.DecodeObjectQuery),
		service.ObjectQuery{Devices: service.Devices(1, 9), Object: id(enum.AnalogInput, 3)},
	},
	{
		"F.4.8 I-Have", "C4 02 00 00 08 C4 00 00 00 03 75 07 00 4F 41 54 65 6D 70", of(service.DecodeObjectAnnouncement),
		service.ObjectAnnouncement{Device: id(enum.Device, 8), Object: id(enum.AnalogInput, 3), Name: "OATemp"},
	},
	{
		"F.1.10 SubscribeCOV", "09 12 1C 00 00 00 0A 29 01 39 3C", of(service.DecodeSubscribeRequest),
		service.SubscribeRequest{Process: 18, Object: id(enum.AnalogInput, 10), Confirmed: true, Lifetime: 60},
	},
	{
		"13.14 a cancellation", "09 12 1C 00 00 00 0A", of(service.DecodeSubscribeRequest),
		service.SubscribeRequest{Process: 18, Object: id(enum.AnalogInput, 10), Cancel: true},
	},
	{
		"F.1.11 SubscribeCOVProperty", "09 12 1C 00 00 00 0A 29 01 39 3C 4E 09 55 4F 5C 3F 80 00 00", of(service.DecodeSubscribeRequest),
		service.SubscribeRequest{
			Process: 18, Object: id(enum.AnalogInput, 10), Confirmed: true, Lifetime: 60,
			Property: &presentValue, Increment: encoding.Real(1),
		},
	},
	{
		"F.1.2 COVNotification", "09 12 1C 02 00 00 04 2C 00 00 00 0A 39 00 4E 09 55 2E 44 42 82 00 00 2F 09 6F 2E 82 04 00 2F 4F", of(service.DecodeNotification),
		service.Notification{Process: 18, Device: id(enum.Device, 4), Object: id(enum.AnalogInput, 10), Values: []service.PropertyWrite{
			{Property: enum.PropertyPresentValue, Value: encoding.Encode(encoding.Real(65))},
			{Property: enum.PropertyStatusFlags, Value: encoding.Encode(encoding.BitStringValue(encoding.Bits(false, false, false, false)))},
		}},
	},
	{
		"F.1.1 AcknowledgeAlarm", "09 01 1C 00 00 00 02 29 03 3E 19 10 3F 4C 00 4D 44 4C 5E 2E A4 62 03 17 01 B4 13 34 00 00 2F 5F", of(service.DecodeAcknowledgeRequest),
		service.AcknowledgeRequest{
			Process: 1, Object: id(enum.AnalogInput, 2), State: enum.EventHighLimit,
			Time: constructed.TimeStamp{Choice: constructed.BySequence, Sequence: 16}, Source: "MDL",
			AckTime: constructed.TimeStamp{Choice: constructed.ByDateTime, DateTime: sixPM},
		},
	},
	{
		"F.1.4 EventNotification", "09 01 1C 02 00 00 04 2C 00 00 00 02 3E 19 10 3F 49 04 59 64 69 05 89 00 99 01 A9 00 B9 03 CE 5E 0C 42 A0 33 33 1A 04 80 2C 3F 80 00 00 3C 42 A0 00 00 5F CF",
		of(service.DecodeEventNotification),
		service.EventNotification{
			Process: 1, Device: id(enum.Device, 4), Object: id(enum.AnalogInput, 2),
			Time: constructed.TimeStamp{Choice: constructed.BySequence, Sequence: 16}, Class: 4, Priority: 100, Type: 5,
			AckRequired: true, From: enum.EventNormal, To: enum.EventHighLimit,
			Values: encoding.Any{0x5E, 0x0C, 0x42, 0xA0, 0x33, 0x33, 0x1A, 0x04, 0x80, 0x2C, 0x3F, 0x80, 0, 0, 0x3C, 0x42, 0xA0, 0, 0, 0x5F},
		},
	},
	{"13.12 GetEventInformation for all", "", of(decodeGetEvents), getEvents{}},
	{
		"F.1.9 events", "0E 0C 00 00 00 02 19 03 2A 05 60 3E 0C 0F 23 00 14 0C FF FF FF FF 0C FF FF FF FF 3F 49 00 5A 05 E0 6E 21 0F 21 0F 21 14 6F 0F 19 00", of(service.DecodeEventInformation),
		service.EventInformation{Events: []service.EventSummary{{
			Object: id(enum.AnalogInput, 2), State: enum.EventHighLimit, Acknowledged: encoding.Bits(false, true, true),
			Times: [3]constructed.TimeStamp{
				{Time: encoding.Time{Hour: 15, Minute: 35, Hundredths: 20}},
				{Time: encoding.Time{Hour: 255, Minute: 255, Second: 255, Hundredths: 255}},
				{Time: encoding.Time{Hour: 255, Minute: 255, Second: 255, Hundredths: 255}},
			},
			Enabled: encoding.Bits(true, true, true), Priorities: [3]uint8{15, 15, 20},
		}}},
	},
	{
		"F.3.8 ReadRange by time", "0C 05 00 00 01 19 83 7E A4 62 03 17 01 B4 13 34 00 00 31 04 7F", of(service.DecodeReadRangeRequest),
		service.ReadRangeRequest{Object: id(enum.TrendLog, 1), Property: enum.PropertyLogBuffer, By: service.ByTime, Time: sixPM, Count: 4},
	},
	{
		"15.8 ReadRange by sequence", "0C 05 00 00 01 19 83 6E 22 01 00 31 F6 6F", of(service.DecodeReadRangeRequest),
		service.ReadRangeRequest{Object: id(enum.TrendLog, 1), Property: enum.PropertyLogBuffer, By: service.BySequence, Start: 256, Count: -10},
	},
	{
		"F.3.8 the answer to ReadRange", "0C 05 00 00 01 19 83 3A 05 C0 49 01 5E 0E A4 62 03 17 01 B4 13 34 00 00 0F 1E 2C 41 90 00 00 1F 2A 04 00 5F 6B 01 35 81", of(service.DecodeReadRangeAck),
		service.ReadRangeAck{
			Object: id(enum.TrendLog, 1), Property: enum.PropertyLogBuffer, First: true, Last: true, Count: 1,
			Items: constructed.Encode(constructed.LogRecord{
				Time: sixPM, Choice: constructed.LogReal, Value: encoding.Real(18), HasStatus: true,
			}),
			Sequence: 79233, HasSequence: true,
		},
	},
	{
		"F.4.1 DeviceCommunicationControl", "09 05 19 01 2D 08 00 23 65 67 62 64 66 21", of(service.DecodeCommunicationRequest),
		service.CommunicationRequest{State: service.DisableCommunication, Minutes: 5, Password: "#egbdf!"},
	},
	{
		"F.4.4 ReinitializeDevice", "09 01 1D 09 00 41 62 43 64 45 66 47 68", of(service.DecodeReinitializeRequest),
		service.ReinitializeRequest{State: service.Warmstart, Password: "AbCdEfGh"},
	},
	{"F.4.7 TimeSynchronization", "A4 62 03 17 01 B4 13 34 00 00", of(decodeClock), clock(sixPM)},
	{
		"F.2.1 AtomicReadFile", "C4 02 80 00 01 0E 31 00 21 1B 0F", of(service.DecodeReadFileRequest),
		service.ReadFileRequest{File: id(enum.File, 1), Count: 27},
	},
	{
		"F.2.1 the answer to AtomicReadFile", "10 0E 31 00 63 43 68 69 0F", of(service.DecodeReadFileAck),
		service.ReadFileAck{Data: [][]byte{[]byte("Chi")}},
	},
	{
		"F.2.1 records of a file", "11 1E 31 0E 21 02 62 31 32 62 34 30 1F", of(service.DecodeReadFileAck),
		service.ReadFileAck{End: true, Records: true, Start: 14, Data: [][]byte{[]byte("12"), []byte("40")}},
	},
}

func TestMessagesOfAnnexF(t *testing.T) {
	for _, tt := range messages {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, err := tt.decode(wire)
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("read\n%+v (%v), want\n%+v", got, err, tt.want)
			}
			if got := tt.want.Append(nil); !bytes.Equal(got, wire) {
				t.Errorf("wrote\n% X, want\n% X", got, wire)
			}
			for n := range wire {
				if got, err := tt.decode(wire[:n]); err == nil && reflect.DeepEqual(got, tt.want) {
					t.Errorf("%d of %d octets are read as the whole", n, len(wire))
				}
			}
			if _, err := tt.decode(append(bytes.Clone(wire), 0xFF, 0x00)); err == nil {
				t.Error("octets behind the end are accepted")
			}
		})
	}
}

func TestPrioritiesAreBounded(t *testing.T) { // clause 15.9.1.1.5
	for _, wire := range []string{"0C 00 80 00 01 19 55 3E 00 3F 49 00", "0C 00 80 00 01 19 55 3E 00 3F 49 11"} {
		if r, err := service.DecodeWritePropertyRequest(octets(t, wire)); err == nil {
			t.Errorf("the priority %d is accepted", r.Priority)
		}
	}
}

// FuzzDecode reads any data as any message: what is accepted must, once written, be read as it is.
func FuzzDecode(f *testing.F) {
	for i, tt := range messages {
		f.Add(uint8(i), octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		decode := messages[int(kind)%len(messages)].decode
		first, err := decode(data)
		if err != nil {
			return
		}
		wire := first.Append(nil)
		second, err := decode(wire)
		if err != nil {
			t.Fatalf("%+v was written as % X: %v", first, wire, err)
		}
		if again := second.Append(nil); !bytes.Equal(again, wire) {
			t.Errorf("%+v was written as % X, then as % X", first, wire, again)
		}
	})
}
