package vee_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter/interval"
	"voltbus/meter/vee"
)

func rules() vee.Rules {
	return vee.Rules{
		Negative: true, SpikeRatio: 1.8, SpikeFloor: 0.5, HighRatio: 3, LowRatio: 0.3, StuckCount: 4,
		SumTolerance: 0.1, DemandTolerance: 20, MaxRatio: 1.5,
	}
}

func block(values ...float64) *vee.Block {
	total := 0.0
	for _, v := range values {
		if !math.IsNaN(v) {
			total += v
		}
	}
	return &vee.Block{
		Values: values, Status: make([]vee.Status, len(values)),
		Length: time.Hour, WantLength: time.Hour, Unit: 72, WantUnit: 72, Multiplier: 1, WantMultiplier: 1,
		Advances: []vee.Advance{{Last: len(values) - 1, Quantity: total}}, UsualSum: total, HighestValue: 100,
	}
}

func pipeline(t testing.TB, more ...vee.Rule) *vee.Pipeline {
	t.Helper()
	p, err := vee.New(rules(), more...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEachRuleFindsWhatItLooksFor(t *testing.T) {
	nan := math.NaN()
	tests := map[string]struct {
		values []float64
		change func(b *vee.Block)
		want   string
	}{
		"nothing":                             {[]float64{1, 2, 3, 2}, nil, "good good good good"}, // third highest: 2
		"a gap":                               {[]float64{1, nan, 3, math.Inf(1)}, nil, "good gap good gap"},
		"hours sent as quarters":              {[]float64{2, 3, 4, nan}, func(b *vee.Block) { b.Length = 15 * time.Minute }, "interval-size interval-size interval-size gap"},
		"varh sent as Wh":                     {[]float64{2, 3, 4}, func(b *vee.Block) { b.Unit = 73 }, "unit unit unit"},
		"another transformer":                 {[]float64{2, 3, 4}, func(b *vee.Block) { b.Multiplier = 40 }, "multiplier multiplier multiplier"},
		"below zero":                          {[]float64{2, -2, 3, 2, 2}, nil, "good negative good good good"},
		"180 % above the third highest":       {[]float64{5, 5.5, 14, 4}, nil, "good good good good"}, // (14−5)/5 = 1.8
		"more than 180 % above it":            {[]float64{5, 5.5, 14.1, 4}, nil, "good good spike good"},
		"a peak below the floor":              {[]float64{0.1, 0.1, 0.5, 0}, nil, "good good good good"},
		"two intervals have no third highest": {[]float64{1, 19}, nil, "good good"},
		"three times the usual sum, and more": {[]float64{2, 3, 4.1}, func(b *vee.Block) { b.UsualSum = 3 }, "high high high"},
		"less than 0.3 of the usual sum":      {[]float64{2, 3, 4}, func(b *vee.Block) { b.UsualSum = 30.1 }, "low low low"},
		"no sum is judged with a gap":         {[]float64{1, 2, nan}, func(b *vee.Block) { b.UsualSum, b.Advances[0].Quantity = 2000, 9 }, "good good gap"},
		"three equal values":                  {[]float64{2, 2, 2, 1}, nil, "good good good good"},
		"four equal values":                   {[]float64{1, 2, 2, 2, 2}, nil, "good stuck stuck stuck stuck"},
		"zeroes are an empty house":           {[]float64{0, 0, 0, 0, 0}, nil, "good good good good good"},
		"the register says 0.05 more":         {[]float64{2, 3, 4}, func(b *vee.Block) { b.Advances[0].Quantity = 9.05 }, "good good good"},
		"the register says 0.2 more":          {[]float64{2, 3, 4}, func(b *vee.Block) { b.Advances[0].Quantity = 9.2 }, "sum sum sum"},
		"the register is unknown":             {[]float64{2, 3, 4}, func(b *vee.Block) { b.Advances[0].Quantity = nan }, "good good good"},
		"the register says 0.1 more":          {[]float64{2, 3, 4}, func(b *vee.Block) { b.Advances[0].Quantity = 9.1 }, "good good good"},
		"a register between is off":           {[]float64{2, 3, 4, 5}, func(b *vee.Block) { b.Advances = []vee.Advance{{0, 1, 5}, {2, 3, 9.5}} }, "good good sum sum"},
		"one half of the register is unknown": {[]float64{2, 3, 4, nan}, func(b *vee.Block) { b.Advances = []vee.Advance{{0, 1, 6}, {2, 3, 9}} }, "sum sum good gap"},
		"exactly three times the usual sum":   {[]float64{2, 3, 4}, func(b *vee.Block) { b.UsualSum = 3 }, "good good good"},
		"exactly 0.3 of the usual sum":        {[]float64{2, 3, 4}, func(b *vee.Block) { b.UsualSum = 30 }, "good good good"},
		"the usual sum is unknown":            {[]float64{2, 3, 4}, func(b *vee.Block) { b.UsualSum = nan }, "good good good"},
		"zero is not below zero":              {[]float64{2, 0, 3, 2, 2}, nil, "good good good good good"},
		"a step of 20":                        {[]float64{30, 50, 40}, nil, "good good good"},
		"a step down of 21":                   {[]float64{50, 29, 40}, nil, "good demand-tolerance good"},
		"a step of 21 over midnight":          {[]float64{30, 31, 40}, func(b *vee.Block) { b.Before = []float64{nan, 9} }, "demand-tolerance good good"},
		"no step over what is missing":        {[]float64{30, nan, 60}, func(b *vee.Block) { b.Before = []float64{9, nan} }, "good gap good"},
		"a peak just above the floor":         {[]float64{0.1, 0.1, 0.51, 0}, nil, "good good spike good"},
		"the same length, given otherwise":    {[]float64{2, 3, 4}, func(b *vee.Block) { b.Length = 60 * time.Minute }, "good good good"},
		"a length that is not known":          {[]float64{2, 3, 4}, func(b *vee.Block) { b.Length = 0 }, "interval-size interval-size interval-size"},
		"a step of 21":                        {[]float64{30, 51, 40}, nil, "good demand-tolerance good"},
		"150 of at most 150":                  {[]float64{140, 150, 145}, nil, "good good good"},
		"151 of at most 150":                  {[]float64{140, 151, 145}, nil, "good historical-max good"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := block(tt.values...)
			if tt.change != nil {
				tt.change(b)
			}
			if err := pipeline(t).Validate(b); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range b.Status {
				got = append(got, s.String())
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error("status (-want +got):\n" + diff)
			}
		})
	}
}

func TestTheSumCheckHoldsOverDaysOf23And25Hours(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	g, err := interval.New(15*time.Minute, berlin)
	if err != nil {
		t.Fatal(err)
	}
	for _, day := range []interval.Day{g.Day(2024, 3, 31), g.Day(2024, 10, 27)} {
		values := make([]float64, day.Count())
		for i := range values {
			values[i] = 0.25 + float64(i%3)*0.05
		}
		b := block(values...) // the register is read at both midnights
		if err := pipeline(t).Validate(b); err != nil || slices.Max(b.Status) != 0 {
			t.Errorf("%d intervals: %v %v", day.Count(), err, b.Status)
		}
		short := block(values[:len(values)-4]...) // an hour taken for lost, or twice
		short.Advances[0].Quantity = b.Advances[0].Quantity
		if err := pipeline(t).Validate(short); err != nil || short.Status[0] != vee.Sum {
			t.Errorf("%d intervals, an hour less: %v %v", day.Count(), err, short.Status)
		}
	}
}

func TestARuleThatPanicsStopsNothingElse(t *testing.T) {
	ran := false
	p := pipeline(t, vee.Rule{Name: "wrong", Apply: func(_ vee.Rules, b *vee.Block) { _ = b.Values[len(b.Values)] }},
		vee.Rule{Name: "after", Apply: func(vee.Rules, *vee.Block) { ran = true }})
	b := block(1, -2, 3)
	err := p.Validate(b)
	if err == nil || !strings.HasPrefix(err.Error(), "rule wrong: ") || !ran {
		t.Errorf("error %v, the rule after it ran: %v", err, ran)
	}
	if got := b.Status[1].String(); got != "negative,rule-failed" {
		t.Errorf("status %s", got)
	}
}

func TestParametersThatMakeNoSenseAreAllNamed(t *testing.T) {
	_, err := vee.New(vee.Rules{SpikeRatio: -1, HighRatio: 0.5, LowRatio: 2, StuckCount: 1, MaxRatio: math.NaN()}, vee.Rule{})
	for _, want := range []string{"SpikeRatio: -1", "HighRatio: 0.5", "LowRatio: 2", "StuckCount: 1", "MaxRatio: NaN", "rule 1: give a name"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problems lack %q:\n%v", want, err)
		}
	}
	if err := pipeline(t).Validate(&vee.Block{Values: []float64{1}}); err == nil {
		t.Error("a block without status is accepted")
	}
}

func TestPropertyASecondRunFindsTheSameAndChangesNoValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Just(math.NaN()), rapid.Just(2.0)), 1, 100).Draw(t, "values")
		b := block(slices.Clone(values)...)
		p, err := vee.New(rules())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Validate(b); err != nil {
			t.Fatal(err)
		}
		first := slices.Clone(b.Status)
		if err := p.Validate(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(first, b.Status); diff != "" {
			t.Fatal("status of the second run (-first +second):\n" + diff)
		}
		for i, v := range values {
			if math.Float64bits(v) != math.Float64bits(b.Values[i]) {
				t.Fatalf("value %d changed from %v to %v", i, v, b.Values[i])
			}
			if (math.IsNaN(v) || math.IsInf(v, 0)) != (b.Status[i]&vee.Gap != 0) {
				t.Fatalf("value %d is %v, status %s", i, v, b.Status[i])
			}
		}
	})
}

func BenchmarkADayOfQuarterHours(b *testing.B) {
	values := make([]float64, 96)
	for i := range values {
		values[i] = 1 + math.Sin(float64(i)/96*2*math.Pi)
	}
	p, blk := pipeline(b), block(values...)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Validate(blk); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*96/b.Elapsed().Seconds(), "readings/s")
}
