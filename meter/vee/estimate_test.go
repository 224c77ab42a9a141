package vee_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"voltbus/meter/vee"
)

func TestGapsAreEstimated(t *testing.T) {
	nan := math.NaN()
	tests := map[string]struct {
		values  []float64
		advance float64
		profile []float64
		want    []float64
		methods string
	}{
		"two hours by a line":                    {[]float64{1, nan, nan, 4}, nan, nil, []float64{1, 2, 3, 4}, "mllm"},
		"three hours by the profile":             {[]float64{1, nan, nan, nan, 4}, nan, []float64{9, 5, 6, 7, 9}, []float64{1, 5, 6, 7, 4}, "mpppm"},
		"the first hour has no neighbour":        {[]float64{nan, 2}, nan, []float64{3, 9}, []float64{3, 2}, "pm"},
		"a line, scaled to the register":         {[]float64{1, nan, nan, 4}, 15, nil, []float64{1, 4, 6, 4}, "mLLm"},
		"a profile, scaled to the register":      {[]float64{nan, 2}, 8, []float64{3, 9}, []float64{6, 2}, "Pm"},
		"an empty profile shares evenly":         {[]float64{nan, nan, 2}, 8, []float64{0, 0, 0}, []float64{3, 3, 2}, "PPm"},
		"the register says less than is there":   {[]float64{5, nan, 5}, 8, nil, []float64{5, 5, 5}, "mlm"},
		"the register lacks nothing":             {[]float64{0.1, 0.2, nan}, 0.3, []float64{1, 1, 1}, []float64{0.1, 0.2, 0}, "mmP"}, // 0.1 + 0.2 > 0.3 in binary
		"nothing is missing, nothing is scaled":  {[]float64{5, 5}, 80, nil, []float64{5, 5}, "mm"},
		"two gaps share what the register lacks": {[]float64{1, nan, 1, nan, 1}, 7, nil, []float64{1, 2, 1, 2, 1}, "mLmLm"},
	}
	letters := map[vee.Method]rune{vee.Measured: 'm', vee.Linear: 'l', vee.Profile: 'p', vee.Linear | vee.Scaled: 'L', vee.Profile | vee.Scaled: 'P'}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := block(tt.values...)
			b.RegisterAdvance = tt.advance
			values, methods, err := vee.Estimate(b, vee.Gap, tt.profile)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, values, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Error("values (-want +got):\n" + diff)
			}
			var got []rune
			for _, m := range methods {
				got = append(got, letters[m])
			}
			if string(got) != tt.methods {
				t.Errorf("methods %s, want %s", string(got), tt.methods)
			}
		})
	}
}

func TestReadingsThatFailedAreEstimatedWhereTheirBitCounts(t *testing.T) {
	b := block(1, 90, 3)
	b.RegisterAdvance = math.NaN()
	b.Status[1] = vee.Spike
	if values, _, err := vee.Estimate(b, vee.Gap|vee.Spike, nil); err != nil || values[1] != 2 || b.Values[1] != 90 {
		t.Errorf("%v %v, the block has %v", values, err, b.Values)
	}
	if values, _, err := vee.Estimate(b, vee.Gap, nil); err != nil || values[1] != 90 {
		t.Errorf("%v %v: a spike was estimated", values, err)
	}
}

func TestALongGapWithoutAProfileIsAnError(t *testing.T) {
	nan := math.NaN()
	b := block(1, nan, nan, nan, 4)
	for _, profile := range [][]float64{nil, {1, 2}, {1, nan, 1, 1, 1}} {
		if values, _, err := vee.Estimate(b, vee.Gap, profile); err == nil || values != nil {
			t.Errorf("profile %v: %v, %v", profile, values, err)
		}
	}
	if vee.Linear.String() != "linear" || (vee.Profile|vee.Scaled).String() != "profile,scaled" {
		t.Error("names of methods")
	}
}

func TestPropertyEstimatesAddUpToTheRegisterAndLeaveTheRestAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(t, "intervals")
		truth := rapid.SliceOfN(rapid.Float64Range(0, 100), n, n).Draw(t, "values")
		profile := rapid.SliceOfN(rapid.Float64Range(0.01, 100), n, n).Draw(t, "profile")
		values, advance, lost := slices.Clone(truth), 0.0, 0
		for i, v := range truth {
			advance += v
			if rapid.Bool().Draw(t, "missing") {
				values[i] = math.NaN()
				lost++
			}
		}
		b := block(values...)
		b.RegisterAdvance, b.WantLength = advance, 15*time.Minute
		got, methods, err := vee.Estimate(b, vee.Gap, profile)
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i, v := range got {
			total += v
			if (methods[i] == vee.Measured) != !math.IsNaN(values[i]) || (methods[i] == vee.Measured && v != truth[i]) {
				t.Fatalf("interval %d: %v by %s, was %v", i, v, methods[i], values[i])
			}
		}
		if lost > 0 && math.Abs(total-advance) > 1e-6 {
			t.Fatalf("the block adds up to %v, the register advanced by %v", total, advance)
		}
	})
}
