package binary

import "math"

// NumberColumns is how many columns numbers are written in: a scale, and one of three arrays, of smallint, integer and double
// precision. With the first two a number is the element through ten to the power of the scale, and exactly so.
const NumberColumns = 4

// mostScale is the most decimals that are looked for.
const mostScale = 6

//nolint:gochecknoglobals // a table
var powers = [mostScale + 1]float64{1, 10, 100, 1e3, 1e4, 1e5, 1e6}

// whole returns a number in units of the scale; false if it is none, or none that an integer holds.
func whole(v float64, scale int) (int32, bool) {
	r := math.Round(v * powers[scale])
	if !(math.Abs(r) <= math.MaxInt32) || r/powers[scale] != v || (v == 0 && math.Signbit(v)) {
		return 0, false
	}
	return int32(r), true
}

// scaleOf returns the scale of which all numbers are whole; −1 if there is none. NaN are left out.
func scaleOf(list []float64) int {
	scale := 0
	for _, v := range list {
		if math.IsNaN(v) {
			continue
		}
		for ; ; scale++ {
			if scale > mostScale {
				return -1
			}
			if _, ok := whole(v, scale); ok {
				break
			}
		}
	}
	return scale
}

// Numbers writes numbers; NaN as NULL. All have NaN of the same bits when they are read.
func (r *Rows) Numbers(list []float64) {
	if scale := scaleOf(list); scale >= 0 && r.ints(list, scale) {
		return
	}
	r.Int2(-1)
	r.Null()
	r.Null()
	nulls := false
	for _, v := range list {
		nulls = nulls || math.IsNaN(v)
	}
	at := r.array(float8, len(list), nulls)
	for _, v := range list {
		if math.IsNaN(v) {
			r.Null()
		} else {
			r.Float8(v)
		}
	}
	r.end(at)
}

// ints writes whole numbers of a scale; false, and nothing, if one is not.
func (r *Rows) ints(list []float64, scale int) bool {
	small, nulls := true, false
	for _, v := range list {
		if math.IsNaN(v) {
			nulls = true
			continue
		}
		n, ok := whole(v, scale)
		if !ok {
			return false
		}
		small = small && n >= math.MinInt16 && n <= math.MaxInt16
	}
	r.Int2(int16(scale))
	kind := uint32(int2)
	if !small {
		r.Null()
		kind = int4
	}
	at := r.array(kind, len(list), nulls)
	for _, v := range list {
		if math.IsNaN(v) {
			r.Null()
			continue
		}
		n, _ := whole(v, scale)
		if small {
			r.Int2(int16(n))
		} else {
			r.Int4(n)
		}
	}
	r.end(at)
	if small {
		r.Null()
	}
	r.Null()
	return true
}

// ReadNumbers appends the numbers of four columns, NaN for NULL.
func ReadNumbers(dst []float64, columns [][]byte) ([]float64, error) {
	if columns[3] != nil {
		return Floats(dst, columns[3])
	}
	scale := Int(columns[0])
	if scale < 0 || scale > mostScale {
		return dst, errForm
	}
	of := columns[1]
	if of == nil {
		of = columns[2]
	}
	err := elements(of, func(e []byte) {
		v := math.NaN()
		if e != nil {
			v = float64(Int(e)) / powers[scale]
		}
		dst = append(dst, v)
	})
	return dst, err
}
