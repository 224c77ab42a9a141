package uplink_test

import (
	"reflect"
	"testing"

	"voltbus/fault"
	"voltbus/uplink"
)

func TestAPartReadsAsItWasWritten(t *testing.T) {
	block := []byte("a block that is sent in parts")
	for name, want := range map[string]uplink.Part{
		"one that asks": {Epoch: 3, Previous: 7, Origin: "a~1", Sequence: 8, Sum: uplink.SumOf(block), Size: uint64(len(block)), Data: []byte{}},
		"the last one":  {Epoch: 3, Previous: 7, Origin: "a~1!", Sequence: 8, Sum: uplink.SumOf(block), Size: uint64(len(block)), From: 10, Data: block[10:]},
	} {
		data := want.Append(nil)
		got, err := uplink.ParsePart(data)
		if err != nil || !reflect.DeepEqual(got, want) || !uplink.IsPart(data) {
			t.Errorf("%s reads %+v, %v", name, got, err)
		}
		if _, err := uplink.ParseFrame(data); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s is taken for a frame: %v", name, err)
		}
		for cut := range len(data) - len(want.Data) {
			if _, err := uplink.ParsePart(data[:cut]); !fault.Is(err, fault.Corrupt) {
				t.Errorf("%s, cut after %d bytes: %v", name, cut, err)
			}
		}
	}
}

func TestPartsThatDoNotFitTheirBlockAreRefused(t *testing.T) {
	for name, p := range map[string]uplink.Part{
		"of a block that is too large": {Size: uplink.MaxWhole + 1},
		"behind the end":               {Size: 3, From: 4},
		"over the end":                 {Size: 3, From: 2, Data: []byte("ab")},
		"far over the end":             {Size: 3, From: 1<<64 - 1, Data: []byte("ab")},
	} {
		if _, err := uplink.ParsePart(p.Append(nil)); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParsePart(f *testing.F) {
	f.Add((&uplink.Part{Origin: "a~1", Sequence: 2, Size: 4, Data: []byte("abcd")}).Append(nil))
	f.Add([]byte{2, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := uplink.ParsePart(data)
		if err != nil {
			return
		}
		again, err := uplink.ParsePart(p.Append(nil))
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v reads %+v, %v", p, again, err)
		}
	})
}
