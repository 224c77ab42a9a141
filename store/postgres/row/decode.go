package row

import (
	"encoding/binary"
	"math"
	"time"

	"voltbus/point"
)

// SampleColumns are the columns that SampleOf decodes, of the table or subquery s.
const SampleColumns = "s.time, s.value, s.tag, s.exact, s.text, s.octets"

// SampleOf decodes the columns; except path.
func SampleOf(v [][]byte) point.Sample {
	tag := binary.BigEndian.Uint16(v[2])
	return point.Sample{Time: timeOf(v[0]), Value: valueOf(point.Kind(tag>>8), v), Quality: point.Quality(tag)}
}

func valueOf(kind point.Kind, v [][]byte) point.Value {
	switch kind {
	case point.Float:
		return point.FloatOf(floatOf(v[1]))
	case point.Int:
		if v[3] != nil {
			return point.IntOf(int64(binary.BigEndian.Uint64(v[3])))
		}
		return point.IntOf(int64(floatOf(v[1])))
	case point.Bool:
		return point.BoolOf(floatOf(v[1]) != 0)
	case point.Text:
		if v[5] != nil {
			return point.TextOf(string(v[5]))
		}
		return point.TextOf(string(v[4]))
	case point.None:
	}
	return point.Value{}
}

// MicrosOf decodes a time, in microseconds since 1970.
func MicrosOf(b []byte) int64 { return int64(binary.BigEndian.Uint64(b)) + epoch }

func timeOf(b []byte) time.Time { return time.UnixMicro(MicrosOf(b)).UTC() }

func floatOf(b []byte) float64 { return math.Float64frombits(binary.BigEndian.Uint64(b)) }
