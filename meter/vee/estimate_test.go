package vee_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"voltbus/meter/vee"
)

// letters are the methods, one a rune; capitals are scaled.
var letters = map[vee.Method]rune{
	vee.Measured: 'm', vee.Linear: 'l', vee.LikeDay: 'd', vee.Profile: 'p', vee.Unfilled: '-',
	vee.Linear | vee.Scaled: 'L', vee.LikeDay | vee.Scaled: 'D', vee.Profile | vee.Scaled: 'P',
}

func spell(methods []vee.Method) string {
	var out []rune
	for _, m := range methods {
		out = append(out, letters[m])
	}
	return string(out)
}

func TestGapsAreEstimated(t *testing.T) {
	nan := math.NaN()
	whole := func(values []float64, quantity float64) []vee.Advance {
		return []vee.Advance{{Last: len(values) - 1, Quantity: quantity}}
	}
	tests := map[string]struct {
		values        []float64
		before, after []float64
		register      float64
		likeDays      [][]float64
		class         []float64
		total         float64
		want          []float64
		methods       string
	}{
		"two hours by a line":                     {values: []float64{1, nan, nan, 4}, want: []float64{1, 2, 3, 4}, methods: "mllm"},
		"three hours by like days":                {values: []float64{1, nan, nan, nan, 4}, likeDays: [][]float64{{9, 5, 6, 7, 9}, {0, 7, 8, 9, 0}}, want: []float64{1, 6, 7, 8, 4}, methods: "mdddm"},
		"a like day with a hole does not count":   {values: []float64{1, nan, nan, nan, 4}, likeDays: [][]float64{{9, 5, 6, 7, 9}, {0, 7, nan, 9, 0}}, want: []float64{1, 5, 6, 7, 4}, methods: "mdddm"},
		"a hole elsewhere does not matter":        {values: []float64{1, nan, nan, nan, 4}, likeDays: [][]float64{{nan, 5, 6, 7, 9}}, want: []float64{1, 5, 6, 7, 4}, methods: "mdddm"},
		"a like day of another length":            {values: []float64{1, nan, nan, nan, 4}, likeDays: [][]float64{{5, 6, 7}}, class: []float64{9, 1, 1, 1, 9}, want: []float64{1, 1, 1, 1, 4}, methods: "mpppm"},
		"three hours by the class":                {values: []float64{1, nan, nan, nan, 4}, class: []float64{9, 5, 6, 7, 9}, want: []float64{1, 5, 6, 7, 4}, methods: "mpppm"},
		"the class, as large as the customer":     {values: []float64{1, nan, nan, nan, 4}, class: []float64{1, 1, 1, 1, 1}, total: 10, want: []float64{1, 2, 2, 2, 4}, methods: "mpppm"},
		"nothing is known of a long gap":          {values: []float64{1, nan, nan, nan, 4, nan, 6}, want: []float64{1, nan, nan, nan, 4, 5, 6}, methods: "m---mlm"},
		"the first hour, from the day before":     {values: []float64{nan, 2}, before: []float64{9, 1}, want: []float64{1.5, 2}, methods: "lm"},
		"a gap over midnight":                     {values: []float64{nan, 4}, before: []float64{1, nan}, want: []float64{3, 4}, methods: "lm"},
		"three hours over midnight":               {values: []float64{nan, 4}, before: []float64{1, nan, nan}, class: []float64{7, 8}, want: []float64{7, 4}, methods: "pm"},
		"the last hour, from the day behind":      {values: []float64{2, nan}, after: []float64{4, 9}, want: []float64{2, 3}, methods: "ml"},
		"the last hours, and the next day begins": {values: []float64{2, nan}, after: []float64{nan, 5}, want: []float64{2, 3}, methods: "ml"},
		"the first hour has no neighbour":         {values: []float64{nan, 2}, class: []float64{3, 9}, want: []float64{3, 2}, methods: "pm"},
		"a line, scaled to the register":          {values: []float64{1, nan, nan, 4}, register: 15, want: []float64{1, 4, 6, 4}, methods: "mLLm"},
		"like days, scaled to the register":       {values: []float64{nan, nan, nan, 2}, register: 14, likeDays: [][]float64{{1, 2, 3, 9}}, want: []float64{2, 4, 6, 2}, methods: "DDDm"},
		"a class, scaled to the register":         {values: []float64{nan, 2}, register: 8, class: []float64{3, 9}, want: []float64{6, 2}, methods: "Pm"},
		"an empty class shares evenly":            {values: []float64{nan, nan, 2}, register: 8, class: []float64{0, 0, 0}, want: []float64{3, 3, 2}, methods: "PPm"},
		"the register says less than is there":    {values: []float64{5, nan, 5}, register: 8, want: []float64{5, 5, 5}, methods: "mlm"},
		"the register lacks nothing":              {values: []float64{0.1, 0.2, nan}, register: 0.3, class: []float64{1, 1, 1}, want: []float64{0.1, 0.2, 0}, methods: "mmP"}, // 0.1 + 0.2 > 0.3 in binary
		"nothing is missing, nothing is scaled":   {values: []float64{5, 5}, register: 80, want: []float64{5, 5}, methods: "mm"},
		"two gaps share what the register lacks":  {values: []float64{1, nan, 1, nan, 1}, register: 7, want: []float64{1, 2, 1, 2, 1}, methods: "mLmLm"},
		"nothing is scaled beside what is open":   {values: []float64{1, nan, 1, nan, nan, nan, 1}, register: 70, want: []float64{1, 1, 1, nan, nan, nan, 1}, methods: "mlm---m"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := block(tt.values...)
			b.Advances, b.Before, b.After = nil, tt.before, tt.after
			if tt.register > 0 {
				b.Advances = whole(tt.values, tt.register)
			}
			total := nan
			if tt.total > 0 {
				total = tt.total
			}
			asked := 0
			got, err := vee.Estimate(b, vee.Gap, func() vee.Past {
				asked++
				return vee.Past{LikeDays: tt.likeDays, Class: tt.class, ClassTotal: total}
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Values, cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateNaNs()); diff != "" {
				t.Error("values (-want +got):\n" + diff)
			}
			if is := spell(got.Methods); is != tt.methods {
				t.Errorf("methods %s, want %s", is, tt.methods)
			}
			if needs := strings.ContainsAny(tt.methods, "dDpP-"); asked > 1 || (asked == 1) != needs || got.AskedPast != needs {
				t.Errorf("the past was asked for %d times", asked)
			}
			if n := len(tt.values) - 1; got.EdgeBefore != math.IsNaN(tt.values[0]) || got.EdgeAfter != math.IsNaN(tt.values[n]) {
				t.Errorf("edges %v, %v", got.EdgeBefore, got.EdgeAfter)
			}
		})
	}
}

func TestReadsOfTheRegisterWithinTheDayScaleWhatLiesBetweenThem(t *testing.T) {
	nan := math.NaN()
	b := block(1, nan, 1, 1, nan, 1)
	b.Advances = []vee.Advance{{0, 2, 5}, {3, 5, 9}}
	got, err := vee.Estimate(b, vee.Gap, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{1, 3, 1, 1, 7, 1}, got.Values, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error("values (-want +got):\n" + diff)
	}
}

func TestReadingsThatFailedAreEstimatedWhereTheirBitCounts(t *testing.T) {
	b := block(1, 90, 3)
	b.Advances = nil
	b.Status[1] = vee.Spike
	if got, err := vee.Estimate(b, vee.Gap|vee.Spike, nil); err != nil || got.Values[1] != 2 || b.Values[1] != 90 {
		t.Errorf("%v %v, the block has %v", got.Values, err, b.Values)
	}
	if got, err := vee.Estimate(b, vee.Gap, nil); err != nil || got.Values[1] != 90 {
		t.Errorf("%v %v: a spike was estimated", got.Values, err)
	}
	if _, err := vee.Estimate(&vee.Block{Values: []float64{1}}, vee.Gap, nil); err == nil {
		t.Error("a block without status is accepted")
	}
}

func TestMethodsHaveNames(t *testing.T) {
	for m, want := range map[vee.Method]string{vee.Measured: "measured", vee.Linear: "linear", vee.LikeDay | vee.Scaled: "like-day,scaled", vee.Profile: "profile", vee.Unfilled: "unfilled"} {
		if m.String() != want {
			t.Errorf("%v, want %s", m, want)
		}
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
		b.Advances[0].Quantity, b.WantLength = advance, 15*time.Minute
		got, err := vee.Estimate(b, vee.Gap, func() vee.Past { return vee.Past{Class: profile, ClassTotal: math.NaN()} })
		if err != nil {
			t.Fatal(err)
		}
		total := 0.0
		for i, v := range got.Values {
			total += v
			if (got.Methods[i] == vee.Measured) != !math.IsNaN(values[i]) || (got.Methods[i] == vee.Measured && v != truth[i]) {
				t.Fatalf("interval %d: %v by %s, was %v", i, v, got.Methods[i], values[i])
			}
		}
		if lost > 0 && math.Abs(total-advance) > 1e-6 {
			t.Fatalf("the block adds up to %v, the register advanced by %v", total, advance)
		}
	})
}
