package binary_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"voltbus/meter/store/postgres/binary"
)

// columns cuts the first row of COPY BINARY into its values.
func columns(t interface{ Fatalf(string, ...any) }, r *binary.Rows) (list [][]byte) {
	var all []byte
	buf := make([]byte, 4096)
	for in := r.Reader(); ; {
		n, err := in.Read(buf)
		if all = append(all, buf[:n]...); err != nil {
			break
		}
	}
	all = all[19:]
	n := int(binary.Int(all[:2]))
	all = all[2:]
	for range n {
		size := int(binary.Int(all[:4]))
		if all = all[4:]; size < 0 {
			list = append(list, nil)
			continue
		}
		list = append(list, all[:size:size])
		all = all[size:]
	}
	if string(all) != "\xff\xff" {
		t.Fatalf("behind the row stands %x", all)
	}
	return list
}

func TestNumbersComeBackAsTheyWere(t *testing.T) {
	some := rapid.OneOf(
		rapid.Map(rapid.IntRange(-40_000, 40_000), func(n int) float64 { return float64(n) / 1000 }),
		rapid.Map(rapid.Int32(), func(n int32) float64 { return float64(n) / 10 }),
		rapid.Just(math.NaN()), rapid.Just(math.Copysign(0, -1)), rapid.Float64(),
	)
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOf(some).Draw(t, "numbers")
		r := &binary.Rows{}
		r.Begin(binary.NumberColumns)
		r.Numbers(want)
		got, err := binary.ReadNumbers(nil, columns(t, r))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%v, %v", got, err)
		}
		for i, v := range want {
			if math.Float64bits(got[i]) != math.Float64bits(v) && !(math.IsNaN(v) && math.IsNaN(got[i])) {
				t.Fatalf("number %d is %v, want %v", i, got[i], v)
			}
		}
	})
}

func TestKilowattHoursWithThreeDecimalsTakeTwoBytes(t *testing.T) {
	r := &binary.Rows{}
	r.Begin(binary.NumberColumns)
	r.Numbers([]float64{0.123, 1.5, math.NaN(), 32.767})
	if c := columns(t, r); binary.Int(c[0]) != 3 || c[1] == nil || c[2] != nil || c[3] != nil {
		t.Errorf("columns %x", c)
	}
}

func FuzzValuesOfTheServerAreRead(f *testing.F) {
	r := &binary.Rows{}
	r.Begin(1)
	r.Int4s([]int32{1, -2})
	f.Add(columns(f, r)[0])
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = binary.Ints(nil, data)
		_, _ = binary.ReadNumbers(nil, [][]byte{{0, 1}, data, nil, nil})
		_, _ = binary.Floats(nil, data)
	})
}
