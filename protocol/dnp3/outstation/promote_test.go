package outstation

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/object"
)

// IEEE 1815-2012, clause 11: a variation without flags says that the point is online and its value fits.
func TestAttackNoVariationHidesThatAPointIsNotJustOnline(t *testing.T) {
	analog := func(index uint32, static object.Variation) PointConfig {
		return PointConfig{Kind: object.KindAnalogInput, Index: index, Static: static}
	}
	d := newDevice(t, func(c *Config, sc *SessionConfig) {
		c.Points = []PointConfig{
			analog(0, object.G30V4), analog(1, object.G30V4), analog(2, object.G30V4), analog(3, object.G30V3),
			{Kind: object.KindCounter, Static: object.G20V5},
			{Kind: object.KindCounter, Index: 1, Static: object.G20V6},
		}
		sc.Unsolicited = false
	})
	d.o.Update(func(tx *Tx) {
		set := func(kind object.Kind, index uint32, v object.Value, flags object.Flags) {
			tx.Set(kind, object.Point{Index: index, Value: v, Flags: flags}, Suppress)
		}
		set(object.KindAnalogInput, 0, object.Signed(7), object.FlagOnline)
		set(object.KindAnalogInput, 1, object.Signed(70_000), object.FlagOnline)
		set(object.KindAnalogInput, 2, object.Signed(8), object.FlagOnline|object.FlagLocalForced)
		set(object.KindAnalogInput, 3, object.Float(5e9), object.FlagOnline)
		set(object.KindCounter, 0, object.Unsigned(3), object.FlagCommLost)
		set(object.KindCounter, 1, object.Unsigned(4), object.FlagOnline)
	})
	d.mux.Open(d.now, d.out)
	d.take(t, step{hear: "C0 01 3C 01 06"})
	want := say("C0 81 80 00 14 01 00 00 00 04 03 00 00 00 14 06 00 01 01 04 00" +
		"1E 04 00 00 00 07 00 1E 02 00 01 02 21 FF 7F 11 08 00 1E 01 00 03 03 21 FF FF FF 7F")
	if diff := cmp.Diff(want, d.said(t)); diff != "" {
		t.Error(diff)
	}
}
