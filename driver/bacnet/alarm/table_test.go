package alarm

import (
	"testing"
	"time"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

var (
	input = encoding.ObjectID{Type: enum.AnalogInput, Instance: 2}
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func stampOf(n uint32) constructed.TimeStamp {
	return constructed.TimeStamp{Choice: constructed.BySequence, Sequence: n}
}

// outOf is a notification of a limit that was left.
func outOf(n uint32, to enum.EventState, ack bool) service.EventNotification {
	b := encoding.AppendReal(encoding.AppendOpening(nil, 5), 0, 35)
	b = encoding.AppendReal(encoding.AppendBits(b, 1, encoding.Bits(true, false, false, false)), 2, 1)
	b = encoding.AppendClosing(encoding.AppendReal(b, 3, 30), 5)
	return service.EventNotification{Object: input, Time: stampOf(n), Priority: 40, Type: 5, To: to, AckRequired: ack, Values: b}
}

func TestAnAlarmLastsUntilItIsNormalAndAcknowledged(t *testing.T) {
	var table Table
	e := table.Notify(outOf(1, enum.EventHighLimit, true), noon)
	if !e.Active() || !e.Unacknowledged() || e.Sentence("temp") != "temp is high-limit (35 is beyond 30); not acknowledged" {
		t.Errorf("raised: %q", e.Sentence("temp"))
	}
	e = table.Notify(outOf(2, enum.EventNormal, false), noon)
	if e.Active() || !e.Unacknowledged() || e.Sentence("temp") != "temp is normal (35 is within 30); not acknowledged" {
		t.Errorf("normal again: %q", e.Sentence("temp"))
	}
	list := e.Acknowledgements(Process, "eve", noon)
	if len(list) != 1 || list[0].State != enum.EventHighLimit || list[0].Time != stampOf(1) || list[0].Source != "eve" {
		t.Fatalf("to be acknowledged: %+v", list)
	}
	e.Acknowledged(list[0])
	if e.Unacknowledged() {
		t.Error("it waits still")
	}
	if again := table.Notify(service.EventNotification{Object: input, Notify: service.NotifyAck, To: enum.EventOffnormal}, noon); again != nil {
		t.Errorf("the acknowledgement that everybody is told of changes %+v", again)
	}
}

func TestTheListOfADeviceDecides(t *testing.T) {
	var table Table
	other := encoding.ObjectID{Type: enum.BinaryInput, Instance: 1}
	table.Notify(outOf(1, enum.EventHighLimit, true), noon)
	table.Notify(service.EventNotification{Object: other, To: enum.EventOffnormal}, noon)
	list := table.Replace([]service.EventSummary{{
		Object: input, State: enum.EventHighLimit, Acknowledged: encoding.Bits(false, true, true), Priorities: [3]uint8{200, 1, 2},
		Times: [3]constructed.TimeStamp{stampOf(1)},
	}}, noon.Add(time.Hour))
	if len(list) != 1 || table.Event(other) != nil {
		t.Fatalf("there are %d events", len(list))
	}
	e := list[0]
	if e.Priority != 200 || !e.Since.Equal(noon) || e.Detail == "" {
		t.Errorf("what the notification said is lost: %+v", e)
	}
	if r := e.Acknowledgements(Process, "eve", noon); len(r) != 1 || r[0].State != enum.EventHighLimit {
		t.Errorf("to be acknowledged: %+v", r)
	}
}

func TestAForeignAcknowledgementIsTakenOver(t *testing.T) {
	var table Table
	table.Notify(outOf(1, enum.EventHighLimit, true), noon)
	if e := table.Notify(service.EventNotification{Object: input, Notify: service.NotifyAck, To: enum.EventHighLimit}, noon); e == nil || e.Unacknowledged() {
		t.Errorf("the event is %+v", e)
	}
}

func TestNotificationsOfManyObjectsAreBounded(t *testing.T) {
	var table Table
	for i := range uint32(maxEvents + 10) {
		n := outOf(1, enum.EventHighLimit, false)
		n.Object.Instance = i
		table.Notify(n, noon)
	}
	if len(table.events) != maxEvents {
		t.Errorf("%d events are kept", len(table.events))
	}
}
