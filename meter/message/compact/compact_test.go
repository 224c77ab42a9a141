package compact_test

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/message/compact"
	"voltbus/point"
	"voltbus/wire"
)

func TestWhatIsWrittenIsReadTheSame(t *testing.T) {
	at := time.UnixMicro(1772320500_000_001)
	want := []meter.Reading{
		{Meter: "E1", Channel: 1, End: at, Value: 0.25},
		{Meter: "E1", Channel: 1, End: at.Add(time.Minute), Value: -1},
		{Meter: "E1", Channel: 65535, End: at, Value: math.MaxFloat64},
		{Meter: "a/b c", Channel: 2, End: at, Value: 0},
		{Meter: "E1", Channel: 1, End: at, Value: 0.25},
	}
	data, err := compact.Append([]byte("before"), want)
	if err != nil {
		t.Fatal(err)
	}
	l, err := compact.Read(data[len("before"):])
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Readings, want) || len(l.Refused) > 0 {
		t.Errorf("read %+v, refused %v; want %+v", l.Readings, l.Refused, want)
	}
	if n := compact.Len(data[len("before"):]); n < len(want) {
		t.Errorf("%d readings are said to be %d at most", len(want), n)
	}
	for _, r := range []meter.Reading{{Meter: "E1"}, {Channel: 1}} {
		if _, err := compact.Append(nil, []meter.Reading{r}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%+v is written: %v", r, err)
		}
	}
}

func TestWhatIsNoReadingIsRefusedByItself(t *testing.T) {
	at := time.Unix(1772320500, 0)
	b := &point.Block{Points: []point.Path{"meters/E1/1", "ahu/temp", "meters/sender", "meters/E1/0", point.Path("meters/" + strings.Repeat("x", 65) + "/1")}}
	for i, v := range map[uint32]point.Value{0: point.FloatOf(1), 1: point.FloatOf(1), 2: point.TextOf("x"), 3: point.FloatOf(1), 4: point.FloatOf(1)} {
		b.Append(i, &point.Sample{Time: at, Value: v})
	}
	b.Append(0, &point.Sample{Time: at, Value: point.IntOf(1)})
	var e wire.Encoder
	data, err := e.AppendPacked(nil, b)
	if err != nil {
		t.Fatal(err)
	}
	l, err := compact.Read(data)
	if err != nil || len(l.Readings) != 1 || len(l.Refused) != 4 || l.Len() != 5 {
		t.Errorf("read %+v, %v", l, err)
	}
}

// Whatever arrives is read or refused, and a block has no more readings than its length says.
func FuzzRead(f *testing.F) {
	data, err := compact.Append(nil, []meter.Reading{{Meter: "E1", Channel: 1, End: time.Unix(1772320500, 0), Value: 1}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("VBK1"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := compact.Read(data)
		if err != nil {
			if !fault.Is(err, fault.Invalid) {
				t.Errorf("a wrong message is no fault of the sender: %v", err)
			}
			return
		}
		if l.Len() > compact.Len(data) {
			t.Errorf("%d readings where %d are the most", l.Len(), compact.Len(data))
		}
	})
}
