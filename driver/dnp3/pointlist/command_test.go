package pointlist

import (
	"errors"
	"strings"
	"testing"

	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

func TestAttackASetPointIsNotRoundedWithoutAWord(t *testing.T) {
	for name, c := range map[string]struct {
		item  Item
		shown uint8
		value float64
		want  object.Variation
		sent  float64
		err   error
	}{
		"a whole number as the device shows it":           {Item{scale: 1}, 1, 78, object.G41V1, 78, nil},
		"a broken number as one, also if it shows whole":  {Item{scale: 1}, 1, 77.5, object.G41V3, 77.5, nil},
		"a broken number where the registry says whole":   {Item{scale: 1, variation: 2}, 0, 77.5, 0, 0, errNoWhole},
		"a scaled number to the step of the object":       {Item{scale: 0.1}, 2, 19.77, object.G41V2, 198, nil},
		"a number that scaling leaves beside a whole one": {Item{scale: 0.1, variation: 1}, 0, 0.3, object.G41V1, 3, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c.item.Kind = object.KindAnalogOutput
			got, err := c.item.Command(point.FloatOf(c.value), c.shown)
			if !errors.Is(err, c.err) {
				t.Fatalf("the error is %v, want %v", err, c.err)
			}
			if err == nil && (got.Variation != c.want || got.Value.Float() != c.sent) {
				t.Errorf("it sends %v %v, want %v %v", got.Variation, got.Value.Float(), c.want, c.sent)
			}
		})
	}
}

func TestAValueThatDoesNotFitIsToldWhatDoes(t *testing.T) {
	for size, want := range map[uint8]string{1: "from -2147483648 to 2147483647", 2: "from -32768 to 32767"} {
		i := Item{Kind: object.KindAnalogOutput, scale: 1, variation: size}
		if _, err := i.Command(point.FloatOf(1e12), 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("size %d: %v, want %s", size, err, want)
		}
	}
}
