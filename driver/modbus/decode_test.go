package modbus

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// compileOne checks one entry in a configuration with defaults.
func compileOne(t testing.TB, e Entry) *register {
	t.Helper()
	c := NewConfig()
	if e.Name == "" {
		e.Name = "p"
	}
	if e.Address == "" {
		e.Address = "0"
	}
	c.Registry.Entries = []Entry{e}
	if c.compile(); len(c.problems) > 0 {
		t.Fatalf("entry %+v has problems: %v", e, errors.Join(c.problems...))
	}
	return &c.registers[0]
}

func TestDecode(t *testing.T) {
	f, i, b, none := point.FloatOf, point.IntOf, point.BoolOf, point.Value{}
	for name, c := range map[string]struct {
		entry Entry
		words []uint16
		want  point.Value
	}{
		"int16 is signed":                         {Entry{Type: "int16"}, []uint16{0xFFFE}, i(-2)},
		"uint16 is not":                           {Entry{Type: "uint16"}, []uint16{0xFFFE}, i(65534)},
		"uint16 with swapped bytes":               {Entry{Type: "uint16", ByteOrder: "badc"}, []uint16{0x1234}, i(0x3412)},
		"uint32 ABCD":                             {Entry{Type: "uint32"}, []uint16{0x0102, 0x0304}, i(0x01020304)},
		"uint32 BADC":                             {Entry{Type: "uint32", ByteOrder: "BADC"}, []uint16{0x0201, 0x0403}, i(0x01020304)},
		"uint32 CDAB":                             {Entry{Type: "uint32", ByteOrder: "CDAB"}, []uint16{0x0304, 0x0102}, i(0x01020304)},
		"uint32 DCBA":                             {Entry{Type: "uint32", ByteOrder: "DCBA"}, []uint16{0x0403, 0x0201}, i(0x01020304)},
		"mixed endian swaps the words":            {Entry{Type: "uint32", MixedEndian: "TRUE"}, []uint16{0x0304, 0x0102}, i(0x01020304)},
		"a struct format states the order":        {Entry{Type: "<I"}, []uint16{0x0403, 0x0201}, i(0x01020304)},
		"a struct format of a float":              {Entry{Type: ">f"}, []uint16{0x41AC, 0}, f(21.5)},
		"int64 lowest":                            {Entry{Type: "int64"}, []uint16{0x8000, 0, 0, 0}, i(math.MinInt64)},
		"uint64 that fits":                        {Entry{Type: "uint64"}, []uint16{0x7FFF, 0xFFFF, 0xFFFF, 0xFFFF}, i(math.MaxInt64)},
		"uint64 beyond int64 has no value":        {Entry{Type: "uint64"}, []uint16{0x8000, 0, 0, 0}, none},
		"uint64 beyond int64 with a scale has":    {Entry{Type: "uint64", Scale: "1"}, []uint16{0x8000, 0, 0, 0}, f(1 << 63)},
		"float32 that is not a number":            {Entry{Type: "float"}, []uint16{0x7FC0, 0}, none},
		"a raw value that stands for none":        {Entry{Type: "int16", Missing: "0x8000"}, []uint16{0x8000}, none},
		"another one is a value":                  {Entry{Type: "int16", Missing: "0x8000"}, []uint16{0x7FFF}, i(0x7FFF)},
		"a state that counts from 0":              {Entry{Type: "uint16", States: "off|low|high"}, []uint16{2}, point.TextOf("high")},
		"a state with its number":                 {Entry{Type: "uint16", States: "1=off|7=fault"}, []uint16{7}, point.TextOf("fault")},
		"a value that is no state":                {Entry{Type: "uint16", States: "1=off|7=fault"}, []uint16{3}, point.TextOf("3")},
		"float32 infinity stays":                  {Entry{Type: "float"}, []uint16{0x7F80, 0}, f(math.Inf(1))},
		"bool of a register":                      {Entry{Type: "bool", Table: "holding"}, []uint16{2}, b(true)},
		"the text ends at NUL":                    {Entry{Type: "string[6]"}, []uint16{0x4142, 0x0043, 0x4400}, point.TextOf("AB")},
		"the text with swapped bytes":             {Entry{Type: "string[4]", ByteOrder: "BADC"}, []uint16{0x4241, 0x4443}, point.TextOf("ABCD")},
		"the text of an odd length":               {Entry{Type: "string[3]"}, []uint16{0x4142, 0x4344}, point.TextOf("ABC")},
		"a text that is not UTF-8 has no value":   {Entry{Type: "string[4]"}, []uint16{0x41FF, 0xFE42}, none},
		"a text in latin1":                        {Entry{Type: "string[8,latin1]"}, []uint16{0x4DFC, 0x6E63, 0x6865, 0x6E00}, point.TextOf("München")},
		"one bit":                                 {Entry{Type: "uint16", Bit: "15"}, []uint16{0x8000}, b(true)},
		"a bit range":                             {Entry{Type: "uint16", Bit: "4-7"}, []uint16{0x0A50}, i(5)},
		"a bit range with dots over two words":    {Entry{Type: "uint32", Bit: "12..19"}, []uint16{0x000A, 0xB000}, i(0xAB)},
		"a range of one bit is a number":          {Entry{Type: "uint16", Bit: "0-0"}, []uint16{1}, i(1)},
		"scale is exact in decimal":               {Entry{Type: "int16", Scale: "0.1"}, []uint16{3}, f(0.3)},
		"scale and offset":                        {Entry{Type: "int16", Scale: "0.5", Offset: "-40"}, []uint16{100}, f(10)},
		"scale()":                                 {Entry{Type: "uint16", Transform: "scale(0.001)"}, []uint16{1001}, f(1.001)},
		"scale_int() cuts":                        {Entry{Type: "int16", Transform: "scale_int(0.1)"}, []uint16{0xFFF1}, i(-1)},
		"scale_decimal_int_signed() positive":     {Entry{Type: "int16", Transform: "scale_decimal_int_signed(0.001)"}, []uint16{950}, f(0.95)},
		"scale_decimal_int_signed() negative":     {Entry{Type: "int16", Transform: "scale_decimal_int_signed(0.001)"}, []uint16{0x8000 + 950}, f(-0.95)},
		"mod10k(false)":                           {Entry{Type: "uint32", Transform: "mod10k(False)"}, []uint16{12, 3456}, i(123456)},
		"mod10k(true)":                            {Entry{Type: "uint32", Transform: "mod10k(True)"}, []uint16{3456, 12}, i(123456)},
		"mod10k() of words above 32767":           {Entry{Type: "int32", Transform: "mod10k()"}, []uint16{40000, 1}, i(400000001)},
		"mod10k(reverse)":                         {Entry{Type: "int32", Transform: "mod10k(reverse)"}, []uint16{3456, 12}, i(123456)},
		"mod10k64() counts from the lowest word":  {Entry{Type: "int64", Transform: "mod10k64()"}, []uint16{4, 3, 2, 1}, i(1000200030004)},
		"mod10k64(true)":                          {Entry{Type: "int64", Transform: "mod10k64(true)"}, []uint16{1, 2, 3, 4}, i(1000200030004)},
		"mod10k48() leaves the lowest word out":   {Entry{Type: "int64", Transform: "mod10k48()"}, []uint16{3, 2, 1, 9}, i(100020003)},
		"mod10k48(true) leaves the highest out":   {Entry{Type: "int64", Transform: "mod10k48(true)"}, []uint16{9, 3, 2, 1}, i(100020003)},
		"a default of the device does not matter": {Entry{Type: "int16", Default: "7"}, []uint16{1}, i(1)},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := compileOne(t, c.entry).decode(c.words, 0)
			if got != c.want || ok != (c.want != none) {
				t.Errorf("got %v, %v, want %v", got, ok, c.want)
			}
		})
	}
}

func TestScalingByAnotherRegister(t *testing.T) {
	for name, c := range map[string]struct {
		transform string
		other     float64
		want      point.Value
	}{
		"scale_reg() divides":                       {"scale_reg(k)", 4, point.FloatOf(25)},
		"scale_reg() by zero has no value":          {"scale_reg(k)", 0, point.Value{}},
		"scale_reg_pow_10() multiplies":             {"scale_reg_pow_10(k)", 2, point.FloatOf(10000)},
		"scale_reg_pow_10() of a negative exponent": {"scale_reg_pow_10(k)", -3, point.FloatOf(0.1)},
	} {
		t.Run(name, func(t *testing.T) {
			r := register{layout: layout.Layout{Form: layout.Int, Words: 1}}
			var err error
			if r.change, err = parseTransform(&Entry{Transform: c.transform}, r.layout); err != nil {
				t.Fatal(err)
			}
			if got, _ := r.decode([]uint16{100}, c.other); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// entries draws registers of every writable type.
func drawEntry(t *rapid.T) Entry {
	e := Entry{
		Type:      rapid.SampledFrom([]string{"int16", "uint16", "int32", "uint32", "int64", "float32", "float64", "string[8]", "bool"}).Draw(t, "type"),
		ByteOrder: rapid.SampledFrom([]string{"ABCD", "BADC", "CDAB", "DCBA"}).Draw(t, "order"),
		Table:     "holding", Writable: "true",
	}
	return e
}

// TestWhatWasEncodedDecodesToTheSameWords draws words: what they mean must encode to them again.
func TestWhatWasEncodedDecodesToTheSameWords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := compileOne(t, drawEntry(rt))
		words := make([]uint16, r.layout.Words)
		for i := range words {
			words[i] = rapid.Uint16().Draw(rt, "word")
		}
		v, ok := r.decode(words, 0)
		if !ok {
			return
		}
		again, err := r.encode(v, nil, 0)
		if err != nil && v.Kind() == point.Text {
			return // replacing bytes made it longer
		}
		if err != nil {
			rt.Fatalf("encode %v: %v", v, err)
		}
		if back, _ := r.decode(again, 0); back != v {
			rt.Fatalf("%v became %v", v, back)
		}
		if v.Kind() == point.Int && r.layout.Join(again) != r.layout.Join(words) {
			rt.Fatalf("words %x became %x", words, again)
		}
	})
}

func TestAScaledSetPointRoundsToWhatTheRegisterHolds(t *testing.T) {
	r := compileOne(t, Entry{Type: "int16", Scale: "0.1", Offset: "5", Writable: "true"})
	for in, want := range map[float64]float64{21.5: 21.5, 21.56: 21.6, -0.3: -0.3} {
		words, err := r.encode(point.FloatOf(in), nil, 0)
		if err != nil {
			t.Fatalf("encode %v: %v", in, err)
		}
		if got, _ := r.decode(words, 0); math.Abs(mustNumber(got)-want) > 1e-9 {
			t.Errorf("%v became %v, want %v", in, got, want)
		}
	}
}

func TestWordsOfFourDigitsAreWrittenAsTheyAreRead(t *testing.T) {
	for transform, limit := range map[string]int64{
		"mod10k(False)": 9999_9999, "mod10k(True)": 9999_9999, "mod10k64(False)": 9999_9999_9999_9999, "mod10k64(True)": 9999_9999_9999_9999,
	} {
		e := Entry{Type: "uint32", Transform: transform, Writable: "TRUE"}
		if strings.HasPrefix(transform, "mod10k64") {
			e.Type = "int64"
		}
		r := compileOne(t, e)
		for _, v := range []int64{0, 123456, limit} {
			words, err := r.encode(point.IntOf(v), nil, 0)
			if got, ok := r.decode(words, 0); err != nil || !ok || got != point.IntOf(v) {
				t.Errorf("%s: %d is %v in %v: %v", transform, v, got, words, err)
			}
		}
		if words, err := r.encode(point.FloatOf(77.6), nil, 0); err != nil {
			t.Errorf("%s: %v", transform, err)
		} else if got, _ := r.decode(words, 0); got != point.IntOf(78) {
			t.Errorf("%s: 77.6 is %v", transform, got)
		}
		for _, v := range []point.Value{point.IntOf(-1), point.IntOf(limit + 1), point.FloatOf(1e300), point.FloatOf(math.NaN())} {
			if words, err := r.encode(v, nil, 0); err == nil {
				t.Errorf("%s: %v is written as %v", transform, v, words)
			}
		}
	}
}

func mustNumber(v point.Value) float64 {
	f, ok := v.Number()
	if !ok {
		return math.NaN()
	}
	return f
}

func TestABitFieldLeavesTheOtherBitsAlone(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := compileOne(t, Entry{Type: "uint32", ByteOrder: rapid.SampledFrom([]string{"ABCD", "CDAB", "DCBA"}).Draw(rt, "order"), Bit: "12-19", Writable: "true"})
		current := []uint16{rapid.Uint16().Draw(rt, "a"), rapid.Uint16().Draw(rt, "b")}
		v := rapid.Int64Range(0, 255).Draw(rt, "v")
		words, err := r.encode(point.IntOf(v), current, 0)
		if err != nil {
			rt.Fatal(err)
		}
		whole := layout.Layout{Words: 2, Order: r.layout.Order}
		before, after := whole.Join(current), whole.Join(words)
		if after&^0xFF000 != before&^0xFF000 || after>>12&0xFF != uint64(v) {
			rt.Fatalf("%x became %x for the field %x", before, after, v)
		}
	})
}

// FuzzDecode looks for a panic, for a value of another kind than declared, and for text that is
// not UTF-8.
func FuzzDecode(f *testing.F) {
	for _, kind := range []string{"int16", "uint64", "float32", "float64", "string[7]", "bool", ">f", "<Q"} {
		f.Add(kind, "CDAB", "", "", uint64(0x4142434445464748))
	}
	f.Add("uint16", "", "3-9", "", uint64(7))
	f.Add("int32", "", "", "mod10k(true)", uint64(7))
	f.Add("int16", "", "", "scale_decimal_int_signed(0.1)", uint64(0x8001))
	f.Fuzz(func(t *testing.T, kind, order, bit, change string, raw uint64) {
		c := NewConfig()
		c.Registry.Entries = []Entry{{Name: "p", Address: "0", Type: kind, ByteOrder: order, Bit: bit, Transform: change, Table: "holding"}}
		if c.compile(); len(c.problems) > 0 {
			return
		}
		r := &c.registers[0]
		words := make([]uint16, r.layout.Words)
		for i := range words {
			words[i] = uint16(raw >> (16 * (i % 4)))
		}
		v, ok := r.decode(words, 1)
		if ok && v.Kind() != r.kind() {
			t.Errorf("got a %v, declared is %v", v.Kind(), r.kind())
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, e := range []Entry{
		{Type: "float32"}, {Type: "int16", Scale: "0.1"}, {Type: "uint32", ByteOrder: "CDAB"}, {Type: "uint16", Bit: "3"}, {Type: "string[16]"},
	} {
		b.Run(e.Type+e.Scale+e.Bit, func(b *testing.B) {
			r := compileOne(b, e)
			words := make([]uint16, r.layout.Words)
			words[0] = 0x4142
			b.ReportAllocs()
			for b.Loop() {
				r.decode(words, 0)
			}
		})
	}
}

func TestAValueThatDoesNotFitIsRefusedWithTheLimitInThePointsUnit(t *testing.T) {
	for want, c := range map[string]struct {
		entry Entry
		value point.Value
	}{
		"does not fit: 40000; write a whole number from -32768 to 32767":             {Entry{Type: "int16"}, point.IntOf(40000)},
		"does not fit: 3276.8; write a number from -3276.8 to 3276.7":                {Entry{Type: "int16", Scale: "0.1"}, point.FloatOf(3276.8)},
		"does not fit: -41; write a number from -40 to 6513.5":                       {Entry{Type: "uint16", Scale: "0.1", Offset: "-40"}, point.FloatOf(-41)},
		"does not fit: 1; write a number from -65535 to 0":                           {Entry{Type: "uint16", Scale: "-1"}, point.FloatOf(1)},
		"has more digits than a float32 holds: 16777217; write 1.6777216e+07, which": {Entry{Type: "float32"}, point.IntOf(16777217)},
	} {
		c.entry.Writable, c.entry.Table = "true", "holding"
		_, err := compileOne(t, c.entry).encode(c.value, nil, 0)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
