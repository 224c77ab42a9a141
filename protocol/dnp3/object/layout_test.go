package object_test

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"voltbus/protocol/dnp3/object"
)

// pointVariations are the variations whose objects are points of whole octets.
func pointVariations() (all []object.Variation) {
	for v := range object.Variations() {
		if v.Layout().Form() == object.FormPoint {
			all = append(all, v)
		}
	}
	return all
}

func TestWhatAPointSaysIsWrittenBackToTheOctet(t *testing.T) {
	variations := pointVariations()
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(variations).Draw(t, "variation")
		octets := rapid.SliceOfN(rapid.Byte(), v.Size(), v.Size()).Draw(t, "octets")
		base := object.Timestamp{Milliseconds: rapid.Uint64Max(1<<40).Draw(t, "base"), Quality: object.TimeAbsolute}
		var p object.Point
		v.Layout().Decode(&p, octets, base)
		if math.IsNaN(p.Value.Float()) {
			return // not every bit of such numbers survives
		}
		got, err := v.Layout().Append(nil, &p, base)
		if err != nil || !bytes.Equal(got, octets) {
			t.Fatalf("%v: % X became %+v and % X (%v)", v, octets, p, got, err)
		}
	})
}

func TestPointsAreNeverLongerThanSixteenOctets(t *testing.T) {
	n := 0
	for _, v := range pointVariations() {
		if n++; v.Size() < 1 || v.Size() > 16 {
			t.Errorf("%v has %d octets", v, v.Size())
		}
	}
	if n < 70 {
		t.Errorf("only %d variations of points", n)
	}
}

func TestLayoutsSayWhatFollowsTheHeader(t *testing.T) {
	cases := []struct {
		variation  object.Variation
		form       object.Form
		size, bits int
	}{
		{object.G1V0, object.FormNone, 0, 0},
		{object.G1V1, object.FormPacked, 0, 1},
		{object.G3V1, object.FormPacked, 0, 2},
		{object.G30V6, object.FormPoint, 9, 0},
		{object.G12V2, object.FormFixed, 11, 0},
		{object.G50V4, object.FormFixed, 11, 0},
		{object.Of(110, 7), object.FormFixed, 7, 0},
		{object.G0V254, object.FormTyped, 0, 0},
		{object.G60V1, object.FormNone, 0, 0},
		{object.G70V5, object.FormFree, 0, 0},
		{object.G80V1, object.FormPacked, 0, 1},
	}
	for _, tc := range cases {
		l := tc.variation.Layout()
		if l.Form() != tc.form || l.Size() != tc.size || l.Bits() != tc.bits || l.Kind() != tc.variation.Kind() {
			t.Errorf("%v: form %d, size %d, bits %d", tc.variation, l.Form(), l.Size(), l.Bits())
		}
	}
	if object.Of(20, 3).Layout() != nil || object.Of(5, 1).Layout() != nil {
		t.Error("an unassigned variation has a layout")
	}
}

func TestAttributesSurviveTheRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := object.Attribute{
			Type: object.AttributeType(rapid.ByteMax(254).Draw(t, "type")),
			Data: rapid.SliceOfN(rapid.Byte(), 0, 255).Draw(t, "data"),
		}
		if rapid.Bool().Draw(t, "long") {
			want.Type, want.Data = object.AttributeLongList, append(make([]byte, 256), want.Data...)
		}
		size, err := want.Size()
		octets := want.Append(nil)
		if err != nil || size != len(octets) || size != object.AttributeSize(octets) {
			t.Fatalf("size %d, %d octets, AttributeSize %d (%v)", size, len(octets), object.AttributeSize(octets), err)
		}
		got, ok := object.Raw{Variation: object.Of(0, 252), Data: octets}.Attribute()
		if !ok || got.Type != want.Type || !bytes.Equal(got.Data, want.Data) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestAttributesOfImpossibleLengthAreRefused(t *testing.T) {
	for _, a := range []object.Attribute{
		{Type: object.AttributeText, Data: make([]byte, 256)},
		{Type: object.AttributeLongList, Data: make([]byte, 255)},
		{Type: object.AttributeLongList, Data: make([]byte, 512)},
	} {
		if _, err := a.Size(); !errors.Is(err, object.ErrValue) {
			t.Errorf("%d octets of type %d: %v", len(a.Data), a.Type, err)
		}
	}
}

func TestDescriptionsAreUnique(t *testing.T) {
	// The set clock, the interval and the recorded time differ by use, not by layout,
	// as do the two blocks, the two common times and the classes.
	shared := map[object.Kind]bool{
		object.KindTime: true, object.KindCommonTime: true, object.KindDelay: true, object.KindClass: true,
		object.KindBinaryCommand: true, object.KindFile: true, object.KindAttribute: true,
		object.KindOctetString: true, object.KindTerminal: true,
	}
	seen := map[string]object.Variation{}
	for v := range object.Variations() {
		text := v.Describe()
		if other, twice := seen[text]; twice && !shared[v.Kind()] && v.Number() > 0 {
			t.Errorf("%v and %v are both %q", other, v, text)
		}
		seen[text] = v
	}
}
