package measure_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"voltbus/protocol/opcua/measure"
)

// message is an encoded response.
func message(t testing.TB, resp ua.Response) []byte {
	t.Helper()
	id, err := ua.NewFourByteExpandedNodeID(0, ua.ServiceTypeID(resp)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	resp.SetHeader(&ua.ResponseHeader{Timestamp: time.Unix(1, 0), ServiceDiagnostics: &ua.DiagnosticInfo{}, AdditionalHeader: ua.NewExtensionObject(nil)})
	body, err := ua.Encode(resp)
	if err != nil {
		t.Fatal(err)
	}
	return append(id, body...)
}

// value is a value with its status and times.
func value(v any) *ua.DataValue {
	d := &ua.DataValue{Value: ua.MustVariant(v), Status: ua.StatusUncertain, SourceTimestamp: time.Unix(2, 0), ServerTimestamp: time.Unix(3, 0)}
	d.UpdateMask()
	return d
}

// responses are responses with every type that can be within.
func responses() []ua.Response {
	return []ua.Response{
		&ua.ReadResponse{Results: []*ua.DataValue{
			value(true), value(int8(1)), value(uint8(1)), value(int16(1)), value(uint16(1)), value(int32(1)), value(uint32(1)), value(int64(1)), value(uint64(1)),
			value(float32(1)), value(1.0), value("text"), value(time.Unix(1, 0)), value(ua.NewGUID("1111AAAA-22BB-33CC-44DD-55EE77FF9900")), value([]byte("bytes")),
			value(ua.XMLElement("<a/>")), value(ua.NewStringNodeID(1, "node")), value(ua.NewNumericNodeID(1, 1<<20)), value(ua.NewTwoByteNodeID(3)), value(ua.NewFourByteExpandedNodeID(1, 2)),
			value(ua.StatusBad), value(&ua.QualifiedName{NamespaceIndex: 1, Name: "name"}), value(ua.NewLocalizedTextWithLocale("text", "en")),
			value(ua.NewExtensionObject(&ua.EUInformation{NamespaceURI: "urn:x", DisplayName: ua.NewLocalizedText("°C"), Description: ua.NewLocalizedText("")})), value(value(1.0)), value(ua.MustVariant("in")),
			value(&ua.DiagnosticInfo{EncodingMask: 0x7F, AdditionalInfo: "more", InnerDiagnosticInfo: &ua.DiagnosticInfo{}}),
			value([]float64{1, 2, 3}), value([]string{"a", "b"}), value(ua.ByteArray{1, 2}), value([][]int32{{1, 2}, {3, 4}, {5, 6}}), value([]*ua.LocalizedText{ua.NewLocalizedText("Off")}),
			value([]*ua.Variant{ua.MustVariant(int32(1)), ua.MustVariant("x")}),
			{},
		}},
		&ua.PublishResponse{SubscriptionID: 1, AvailableSequenceNumbers: []uint32{1, 2}, NotificationMessage: &ua.NotificationMessage{SequenceNumber: 1, NotificationData: []*ua.ExtensionObject{
			ua.NewExtensionObject(&ua.DataChangeNotification{MonitoredItems: []*ua.MonitoredItemNotification{{ClientHandle: 1, Value: value(1.0)}}}),
			ua.NewExtensionObject(&ua.StatusChangeNotification{Status: ua.StatusBad, DiagnosticInfo: &ua.DiagnosticInfo{}}),
		}}, Results: []ua.StatusCode{0}},
		&ua.BrowseResponse{Results: []*ua.BrowseResult{{ContinuationPoint: []byte{1}, References: []*ua.ReferenceDescription{{
			ReferenceTypeID: ua.NewTwoByteNodeID(35), NodeID: ua.NewExpandedNodeID(ua.NewStringNodeID(2, "x"), "urn:x", 1), BrowseName: &ua.QualifiedName{}, DisplayName: ua.NewLocalizedText("x"),
			TypeDefinition: ua.NewTwoByteExpandedNodeID(1),
		}}}}},
		&ua.WriteResponse{Results: []ua.StatusCode{ua.StatusBadNotWritable}},
		&ua.CreateMonitoredItemsResponse{Results: []*ua.MonitoredItemCreateResult{{MonitoredItemID: 1, FilterResult: ua.NewExtensionObject(nil)}}},
		&ua.ServiceFault{},
	}
}

func TestAWholeResponseIsMeasuredToItsEnd(t *testing.T) {
	for _, resp := range responses() {
		m := message(t, resp)
		size, memory, err := measure.Response(append(bytes.Clone(m), 1, 2, 3))
		if err != nil || size != len(m) || memory == 0 {
			t.Errorf("%T of %d bytes is measured as %d bytes, %d of memory, %v", resp, len(m), size, memory, err)
		}
		for n := range m {
			if _, _, err := measure.Response(m[:n]); err == nil {
				t.Fatalf("%T is whole after %d of %d bytes", resp, n, len(m))
			}
		}
	}
}

// read is a response to a read up to its results, which follow.
func read(t testing.TB, results ...byte) []byte {
	t.Helper()
	empty := message(t, &ua.ReadResponse{})
	return append(empty[:len(empty)-8:len(empty)-8], results...)
}

// number is a length.
func number(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// nested is a read of one value that begins with so many of the same bytes.
func nested(t testing.TB, prefix []byte, times int) []byte {
	t.Helper()
	return append(read(t, append(number(1), ua.DataValueValue)...), bytes.Repeat(prefix, times)...)
}

// sized is a read of one array of bytes with dimensions.
func sized(t testing.TB, elements int, sizes ...uint32) []byte {
	t.Helper()
	m := append(read(t, append(number(1), ua.DataValueValue, 0xC0|byte(ua.TypeIDByte))...), number(uint32(elements))...)
	m = append(m, make([]byte, elements)...)
	m = append(m, number(uint32(len(sizes)))...)
	for _, n := range sizes {
		m = append(m, number(n)...)
	}
	return m
}

// hostile are messages that would make the decoder use very much memory, or overflow its stack.
func hostile(t testing.TB) map[string]struct {
	message []byte
	want    error
} {
	t.Helper()
	type c = struct {
		message []byte
		want    error
	}
	endless := sized(t, 1)
	copy(endless[len(endless)-4:], number(1<<31-1))
	return map[string]c{
		"two thousand million results":                 {read(t, number(1<<31-1)...), io.ErrUnexpectedEOF},
		"a negative number of results":                 {read(t, number(1<<31)...), io.ErrUnexpectedEOF},
		"a string that is longer than the message":     {nested(t, append([]byte{byte(ua.TypeIDString)}, number(1<<31-2)...), 1), io.ErrUnexpectedEOF},
		"variants in one another, a million deep":      {nested(t, []byte{byte(ua.TypeIDVariant)}, 1<<20), measure.ErrDepth},
		"values in one another, a million deep":        {nested(t, []byte{byte(ua.TypeIDDataValue), ua.DataValueValue}, 1<<20), measure.ErrDepth},
		"diagnostics below diagnostics":                {append(nested(t, []byte{byte(ua.TypeIDDiagnosticInfo)}, 1), bytes.Repeat([]byte{ua.DiagnosticInfoInnerDiagnosticInfo}, 1<<20)...), measure.ErrDepth},
		"arrays of arrays of variants":                 {nested(t, append([]byte{0x80 | byte(ua.TypeIDVariant)}, number(1)...), 1<<18), measure.ErrDepth},
		"an array of a negative length":                {nested(t, append([]byte{0x80 | byte(ua.TypeIDByte)}, number(1<<31)...), 1), measure.ErrLength},
		"an array of a hundred thousand":               {nested(t, append(append([]byte{0x80 | byte(ua.TypeIDByte)}, number(100_000)...), make([]byte, 100_000)...), 1), measure.ErrLength},
		"a million dimensions of one":                  {sized(t, 1, bytesToOnes(1<<20)...), measure.ErrDimensions},
		"dimensions whose product overflows to zero":   {sized(t, 0, 1<<16, 1<<16), measure.ErrDimensions},
		"dimensions whose product overflows to length": {sized(t, 4, 1<<16, 1<<16, 4), measure.ErrDimensions},
		"two thousand million dimensions":              {endless, measure.ErrDimensions},
		"a type that does not exist":                   {nested(t, []byte{0x3F}, 1), measure.ErrType},
		"sixteen million empty values":                 {append(read(t, number(12<<20)...), make([]byte, 12<<20)...), measure.ErrMemory},
		"a request":                                    {requestOf(t), measure.ErrNoResponse},
	}
}

func bytesToOnes(n int) []uint32 {
	ones := make([]uint32, n)
	for i := range ones {
		ones[i] = 1
	}
	return ones
}

func requestOf(t testing.TB) []byte {
	t.Helper()
	id, err := ua.NewFourByteExpandedNodeID(0, ua.ServiceTypeID(&ua.ReadRequest{})).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(id, make([]byte, 100)...)
}

func TestAHostileResponseIsRefusedBeforeItIsDecoded(t *testing.T) {
	for name, c := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := measure.Response(c.message)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
				t.Errorf("%d bytes were used to find it", used)
			}
		})
	}
}

func FuzzResponse(f *testing.F) {
	for _, resp := range responses() {
		f.Add(message(f, resp))
	}
	for _, c := range hostile(f) {
		if len(c.message) < 1<<10 {
			f.Add(c.message)
		}
	}
	f.Fuzz(func(t *testing.T, m []byte) {
		size, memory, err := measure.Response(m)
		if err != nil {
			return
		}
		if size > len(m) {
			t.Fatalf("%d bytes of %d", size, len(m))
		}
		if _, v, err := ua.DecodeService(m); err != nil {
			t.Fatalf("a message of %d bytes, %d of memory, passes, and %T is not decoded: %v", size, memory, v, err)
		}
		if _, _, err := ua.DecodeService(m[:size]); err != nil {
			t.Fatalf("the decoder needs more than the %d bytes that were measured: %v", size, err)
		}
	})
}
