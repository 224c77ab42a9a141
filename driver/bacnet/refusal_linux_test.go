package bacnet_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/bacnet/pointlist"
	"voltbus/driver/bacnet/survey"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/bacnet/apdu"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// refusing returns a session with a device that answers writes as say tells.
func refusing(t *testing.T, say func() transaction.Response) driver.Prioritizer {
	t.Helper()
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		if i.Service == service.WriteProperty {
			return say(), true
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), []pointlist.Entry{{Name: "sp", Object: "analog-value:1", Writable: "true", Priority: "16"}}, nil))
	return s.(driver.Prioritizer)
}

func TestEveryAbortAndRejectOfAWriteIsToldInWords(t *testing.T) {
	t.Parallel()
	var now transaction.Response
	s := refusing(t, func() transaction.Response { return now })
	check := func(name string, known bool) {
		t.Helper()
		_, err := s.Command(t.Context(), "sp", driver.Command{Value: point.FloatOf(21), Level: 8})
		if kind := fault.KindOf(err); kind != fault.Rejected && kind != fault.Unavailable {
			t.Fatalf("%s gives %v of kind %v", name, err, kind)
		}
		if _, words, _ := strings.Cut(err.Error(), ": "+name); known && !strings.HasPrefix(words, ": ") || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is told as %q, without words", name, err)
		}
	}
	for reason := range enum.RejectReason(64) {
		known := reason.String()[0] > '9'
		now = transaction.Response{Type: apdu.Reject, Reason: uint8(reason)}
		check(reason.String(), known)
	}
	for reason := range enum.AbortReason(64) {
		known := reason.String()[0] > '9'
		now = transaction.Response{Type: apdu.Abort, Reason: uint8(reason)}
		check(reason.String(), known)
	}
	now = transaction.Response{Type: apdu.Abort, Reason: 200} // of a vendor
	check("200", false)
}

func TestEachErrorCodeOfARefusedWriteHasWordsOrNamesTheManual(t *testing.T) {
	t.Parallel()
	var code enum.ErrorCode
	s := refusing(t, func() transaction.Response {
		r, _ := refuse(enum.ClassProperty, code)
		return r
	})
	for code = range enum.ErrorCode(300) {
		_, err := s.Command(t.Context(), "sp", driver.Command{Value: point.FloatOf(21), Level: 8})
		if kind := fault.KindOf(err); kind != fault.Rejected && kind != fault.Unavailable {
			t.Fatalf("%v gives %v of kind %v", code, err, kind)
		}
		_, words, found := strings.Cut(err.Error(), code.String()+" (property)")
		if !found || len(words) < 10 {
			t.Errorf("%v is told as %q, without words", code, err)
		}
	}
	// those with which the standard has a write refused (clause 15.9.1.3.1)
	for _, code = range []enum.ErrorCode{
		enum.CodeUnknownObject, enum.CodeUnknownProperty, enum.CodePropertyIsNotAnArray, enum.CodeInvalidArrayIndex, enum.CodeWriteAccessDenied, enum.CodeInvalidDataType,
		enum.CodeDatatypeNotSupported, enum.CodeValueOutOfRange, enum.CodeDuplicateName, enum.CodeDuplicateObjectID, enum.CodeNoSpaceToWriteProperty,
		enum.CodeCharacterSetNotSupported, enum.CodeOptionalFunctionalityNotSupported, enum.CodeOther, enum.CodeValueTooLong, enum.CodeInvalidDataEncoding,
		enum.CodeInvalidValueInThisState, enum.CodeParameterOutOfRange, enum.CodeDeviceBusy, enum.CodeBusy, enum.CodeAccessDenied,
	} {
		if err := survey.Explain(service.Error{Class: enum.ClassProperty, Code: code}); strings.Contains(err.Error(), "the manual of the device") {
			t.Errorf("%v has no words of its own", code)
		}
	}
}

func TestAnObjectListThatChangesIsFollowed(t *testing.T) {
	t.Parallel()
	present := []uint32{1, 2, 9} // 9 is gone when it is asked for
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		if i.Service != service.ReadProperty {
			return transaction.Response{Type: apdu.Reject, Reason: uint8(enum.RejectUnrecognizedService)}, true
		}
		q, err := service.DecodeReadPropertyRequest(i.Payload)
		if err != nil {
			return refuse(enum.ClassServices, enum.CodeOther)
		}
		return listed(i, q, present)
	})
	s := open(t, loopback(t, m.address(), inputs[:1], nil))
	found := func() (names []string) {
		t.Helper()
		points, err := s.(driver.Discoverer).Discover(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range points {
			names = append(names, p.Entry["object"])
		}
		return names
	}
	if got := strings.Join(found(), " "); got != "analog-input:1 analog-input:2" {
		t.Errorf("at first %s", got)
	}
	m.mu.Lock()
	present = []uint32{2, 3}
	m.mu.Unlock()
	if got := strings.Join(found(), " "); got != "analog-input:2 analog-input:3" {
		t.Errorf("then %s", got)
	}
}

// listed answers ReadProperty of a device that lists some analog inputs, of which 9 does not exist.
func listed(i transaction.Indication[ip.Address], q service.ReadPropertyRequest, present []uint32) (transaction.Response, bool) {
	answer := func(v ...encoding.Value) (transaction.Response, bool) {
		return transaction.Response{Type: apdu.ComplexAck, Payload: service.ReadPropertyAck{ReadPropertyRequest: q, Value: encoding.Encode(v...)}.Append(nil)}, true
	}
	switch {
	case q.Object.Type == enum.AnalogInput && q.Object.Instance == 9:
		return refuse(enum.ClassObject, enum.CodeUnknownObject)
	case q.Property == enum.PropertyObjectName:
		return answer(encoding.Text(q.Object.String()))
	case q.Property != enum.PropertyObjectList:
		return readOne(i)
	case q.Index == constructed.At(0):
		return answer(encoding.Unsigned(uint64(len(present))))
	}
	var list []encoding.Value
	for _, instance := range present {
		list = append(list, encoding.ObjectIDValue(encoding.ObjectID{Type: enum.AnalogInput, Instance: instance}))
	}
	return answer(list...)
}

func TestAScanThatTheClockCutsKeepsWhatWasAnswered(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	late := errors.New("late")
	m := newMisfit(t, func(i transaction.Indication[ip.Address]) (transaction.Response, bool) {
		q, err := service.DecodeReadPropertyRequest(i.Payload)
		if err == nil && q.Object.Type == enum.AnalogInput && q.Object.Instance == 2 {
			cancel(late)
			return transaction.Response{}, false
		}
		return readOne(i)
	})
	s := open(t, loopback(t, m.address(), inputs, func(c *bacnet.Config) { c.MaxPerRequest, c.StatusFlags = 1, false }))
	samples, err := s.Read(deadlined{ctx}, []string{"a", "b", "c"})
	if err != nil || samples[0].Quality != point.Good || samples[1].Quality != point.BadTimeout || samples[2].Quality != point.BadTimeout {
		t.Errorf("got %v, %v", samples, err)
	}
	if why := s.(driver.Diagnoser).Diagnose(); !errors.Is(why, driver.ErrScanCut) {
		t.Errorf("the diagnosis is %v, want ErrScanCut", why)
	}
}

// deadlined is a context whose time is up when it is cancelled.
type deadlined struct{ context.Context } //nolint:containedctx // it is one

func (d deadlined) Err() error {
	if d.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}
