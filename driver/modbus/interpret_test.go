package modbus

import (
	"slices"
	"testing"

	"voltbus/driver"
	"voltbus/point"
	"voltbus/testing/peers"
)

func TestWhatADeviceSendsIsShownInEachOrderOfItsBytes(t *testing.T) {
	peer := peers.Modbus(t)
	_, s := connect(t, configOf(t, transportTCP, peer.Addr, 1, values))
	if raw := s.Interpret("whole"); raw.Words != nil {
		t.Errorf("before it was read there is %+v", raw)
	}
	readAll(t, s)
	// The device holds the same number four times, each in another order: each order must find it in its own place
	for place, name := range map[string]string{"ABCD": "int_abcd", "BADC": "int_badc", "CDAB": "int_cdab", "DCBA": "int_dcba"} {
		raw := s.Interpret(name)
		if len(raw.Words) != 2 || len(raw.Orders) != 4 {
			t.Fatalf("%s gives %+v", name, raw)
		}
		for _, o := range raw.Orders {
			if is := o.Value == point.IntOf(-123456); is != (o.Order == place) || o.Used != (o.Order == place) {
				t.Errorf("%s in the order %s is %v, used: %v", name, o.Order, o.Value, o.Used)
			}
		}
	}
	raw := s.Interpret("dbl_cdab")
	if i := slices.IndexFunc(raw.Orders, func(o driver.Ordered) bool { return o.Value == point.FloatOf(2.5) }); i < 0 || raw.Orders[i].Order != "CDAB" {
		t.Errorf("a number of four words is %+v", raw)
	}
	for name, want := range map[string]driver.Raw{
		"short": {At: "input 88", Words: []uint16{0xFFFB}},
		"title": {At: "holding 20–24", Words: []uint16{0x566F, 0x6C74, 0x6275, 0x7300, 0}},
		"coil1": {At: "coil 1", Words: []uint16{1}},
	} {
		got := s.Interpret(name)
		if got.At != want.At || len(got.Words) != len(want.Words) || got.Words[0] != want.Words[0] || got.Orders != nil {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	for _, name := range []string{"missing", "nothing of this name"} {
		if raw := s.Interpret(name); raw.Words != nil || raw.Orders != nil || raw.At != "" {
			t.Errorf("%s is %+v", name, raw)
		}
	}
}
