package template

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// The major types of CBOR (RFC 8949, §3.1).
const (
	cborUnsigned = iota
	cborNegative
	cborBytes
	cborText
	cborList
	cborMap
	cborTag
	cborOther
)

// maxItems bounds the items of one payload.
const maxItems = 10_000

var (
	errCBOR      = errors.New("the payload is not CBOR")
	errCBORAfter = errors.New("something follows the item of CBOR")
	errCBORShort = fmt.Errorf("%w: its end is missing", errCBOR)
)

// cborReader reads one item of CBOR as encoding/json reads JSON, with numbers as json.Number. Keys that are numbers become
// texts, byte strings hexadecimal texts, tags are left out.
type cborReader struct {
	rest  []byte
	items int
}

// readCBOR reads a payload that is one item.
func readCBOR(payload []byte) (any, error) {
	r := cborReader{rest: payload}
	v, err := r.item(0)
	if err == nil && len(r.rest) > 0 {
		err = errCBORAfter
	}
	return v, err
}

// errBreak ends a list or map of unknown length.
var errBreak = errors.New("break")

func (r *cborReader) item(depth int) (any, error) {
	if r.items++; r.items > maxItems || depth > maxDepth {
		return nil, fmt.Errorf("the payload has more than %d items, or is nested more than %d deep", maxItems, maxDepth)
	}
	h, err := r.head()
	if err != nil {
		return nil, err
	}
	short, n := h.short, h.n
	switch h.major {
	case cborUnsigned:
		return json.Number(strconv.FormatUint(n, 10)), nil
	case cborNegative:
		if n > math.MaxInt64 {
			return json.Number(strconv.FormatFloat(-1-float64(n), 'g', -1, 64)), nil
		}
		return json.Number(strconv.FormatInt(-1-int64(n), 10)), nil
	case cborBytes, cborText:
		return r.text(h, depth)
	case cborList:
		return r.list(short, n, depth)
	case cborMap:
		return r.object(short, n, depth)
	case cborTag:
		return r.item(depth + 1)
	}
	return other(short, n)
}

// endless is the length of what ends with a break.
const endless = 31

// cborHead is the first byte of an item and the number that follows it.
type cborHead struct {
	major int
	short byte
	n     uint64
}

func (r *cborReader) head() (h cborHead, err error) {
	if len(r.rest) == 0 {
		return h, errCBORShort
	}
	h.major, h.short = int(r.rest[0]>>5), r.rest[0]&31
	r.rest = r.rest[1:]
	switch {
	case h.short < 24:
		h.n = uint64(h.short)
		return h, nil
	case h.short == endless && h.major >= cborBytes && h.major != cborTag:
		return h, nil
	case h.short > 27:
		return h, errCBOR
	}
	size := 1 << (h.short - 24)
	if len(r.rest) < size {
		return h, errCBORShort
	}
	var wide [8]byte
	copy(wide[8-size:], r.rest[:size])
	r.rest = r.rest[size:]
	h.n = binary.BigEndian.Uint64(wide[:])
	return h, nil
}

func (r *cborReader) text(h cborHead, depth int) (any, error) {
	if h.short == endless {
		whole := ""
		for {
			part, err := r.item(depth + 1)
			if errors.Is(err, errBreak) {
				return whole, nil
			}
			text, is := part.(string)
			if err != nil || !is {
				return nil, errors.Join(errCBOR, err)
			}
			whole += text
		}
	}
	if h.n > uint64(len(r.rest)) {
		return nil, errCBORShort
	}
	text := r.rest[:h.n]
	r.rest = r.rest[h.n:]
	if h.major == cborBytes {
		return hex.EncodeToString(text), nil
	}
	return string(text), nil
}

func (r *cborReader) list(short byte, n uint64, depth int) (any, error) {
	var list []any
	for i := uint64(0); short == endless || i < n; i++ {
		v, err := r.item(depth + 1)
		if short == endless && errors.Is(err, errBreak) {
			break
		}
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *cborReader) object(short byte, n uint64, depth int) (any, error) {
	object := map[string]any{}
	for i := uint64(0); short == endless || i < n; i++ {
		key, err := r.item(depth + 1)
		if short == endless && errors.Is(err, errBreak) {
			break
		}
		if err != nil {
			return nil, err
		}
		v, err := r.item(depth + 1)
		if err != nil {
			return nil, err
		}
		object[shown(key)] = v
	}
	return object, nil
}

// other reads simple values and floats.
func other(short byte, n uint64) (any, error) {
	var f float64
	switch short {
	case 20, 21:
		return short == 21, nil
	case 22, 23:
		return nil, nil //nolint:nilnil // null is a value
	case 25:
		f = half(uint16(n)) //nolint:gosec // it has two bytes
	case 26:
		f = float64(math.Float32frombits(uint32(n))) //nolint:gosec // it has four bytes
	case 27:
		f = math.Float64frombits(n)
	case endless:
		return nil, errBreak
	default:
		return nil, errCBOR
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, nil //nolint:nilnil // no value
	}
	bits := 64
	if short == 26 {
		bits = 32
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, bits)), nil
}

// half reads a float of 16 bits (RFC 8949, appendix D).
func half(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	f := math.Ldexp(fraction+1024, exponent-25)
	switch exponent {
	case 0:
		f = math.Ldexp(fraction, -24)
	case 31:
		f = math.NaN()
	}
	if h>>15 != 0 {
		return -f
	}
	return f
}

// senMLLabels are the labels of SenML in CBOR (RFC 8428, §6).
var senMLLabels = map[string]string{ //nolint:gochecknoglobals // a table
	"-1": "bver", "-2": "bn", "-3": "bt", "-4": "bu", "-5": "bv", "-6": "bs",
	"0": "n", "1": "u", "2": "v", "3": "vs", "4": "vb", "5": "s", "6": "t", "7": "ut", "8": "vd",
}

// senMLOf writes SenML in CBOR as SenML in JSON.
func senMLOf(payload []byte) ([]byte, error) {
	v, err := readCBOR(payload)
	if err != nil {
		return nil, err
	}
	records, is := v.([]any)
	if !is {
		return nil, errors.New("the payload is not a list of records")
	}
	for i, record := range records {
		object, is := record.(map[string]any)
		if !is {
			return nil, fmt.Errorf("record %d is not a map", i+1)
		}
		named := make(map[string]any, len(object))
		for key, v := range object {
			if name, known := senMLLabels[key]; known {
				key = name
			}
			named[key] = v
		}
		records[i] = named
	}
	return json.Marshal(records)
}
