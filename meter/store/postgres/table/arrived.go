package table

import (
	"voltbus/meter/store/postgres/binary"
)

// Version is one version of a reading as it is kept.
type Version struct {
	Channel  uint32
	Place    int32
	Source   uint32
	Value    float64
	Recorded int64 // Unix seconds
}

// ArrivedColumns are those that Arrived.Write writes and ReadArrived reads.
const ArrivedColumns = "day, bucket, number, recorded, channels, place, places, source, sources, scale, small, medium, large"

// Most is how many versions one row of what arrives has at most: so many take less than a quarter of a page.
const Most = 400

// Arrived writes rows of what arrives. It is used by one goroutine.
type Arrived struct {
	Rows     binary.Rows
	channels []int16
	places   []int32
	sources  []int32
	values   []float64
}

// Write writes a row of versions of one day and bucket that were recorded at one moment. Number orders rows.
func (a *Arrived) Write(day int32, number int64, list []Version) {
	a.channels, a.places, a.sources, a.values = a.channels[:0], a.places[:0], a.sources[:0], a.values[:0]
	onePlace, oneSource := true, true
	for i := range list {
		v := &list[i]
		a.channels = append(a.channels, int16(v.Channel&(1<<BucketBits-1)))
		a.places, a.sources, a.values = append(a.places, v.Place), append(a.sources, int32(v.Source)), append(a.values, v.Value)
		onePlace, oneSource = onePlace && v.Place == list[0].Place, oneSource && v.Source == list[0].Source
	}
	r := &a.Rows
	r.Begin(9 + binary.NumberColumns)
	r.Int4(day)
	r.Int4(int32(BucketOf(list[0].Channel)))
	r.Int8(number)
	r.Int8(list[0].Recorded)
	r.Int2s(a.channels)
	oneOf(r, onePlace, a.places)
	oneOf(r, oneSource, a.sources)
	r.Numbers(a.values)
}

// oneOf writes two columns: a number if all are equal, else the numbers.
func oneOf(r *binary.Rows, equal bool, list []int32) {
	if equal && len(list) > 0 {
		r.Int4(list[0])
		r.Null()
		return
	}
	r.Null()
	r.Int4s(list)
}

// ReadArrived appends the versions of a row.
func ReadArrived(dst []Version, columns [][]byte) ([]Version, error) {
	n := len(dst)
	first, recorded := uint32(binary.Int(columns[1]))<<BucketBits, binary.Int(columns[3])
	channels, err := binary.Ints(nil, columns[4])
	if err != nil {
		return dst, err
	}
	places, err := binary.Ints(nil, columns[6])
	if err != nil {
		return dst, err
	}
	sources, err := binary.Ints(nil, columns[8])
	if err != nil {
		return dst, err
	}
	values, err := binary.ReadNumbers(nil, columns[9:])
	if err != nil {
		return dst, err
	}
	if len(values) != len(channels) || (places != nil && len(places) != len(channels)) || (sources != nil && len(sources) != len(channels)) {
		return dst, errLength
	}
	place, source := int32(binary.Int(columns[5])), uint32(binary.Int(columns[7]))
	for i, c := range channels {
		dst = append(dst, Version{Channel: first + uint32(c), Place: place, Source: source, Value: values[i], Recorded: recorded})
		if v := &dst[n+i]; places != nil {
			v.Place = places[i]
		}
		if sources != nil {
			dst[n+i].Source = uint32(sources[i])
		}
	}
	return dst, nil
}
