package ingest_test

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"voltbus/ingest"
)

// cb joins pieces of CBOR: strings stand for themselves in hexadecimal digits.
func cb(pieces ...string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(pieces, ""), " ", ""))
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestSenMLInCBORIsRead(t *testing.T) {
	check(t, ingest.SenMLCBOR, []body{
		// 87 records of RFC 8428's example are not copied; these are its shapes.
		{"one record with a half float", cb("81 a2 00 61 61 02 f9 3e00"), []string{"a float 1.5 @0"}, nil},
		{"base fields have negative numbers", cb("82 a5 21 64 6465762f 22 1a 69a42a40 00 61 76 01 61 56 02 fb 405e066666666666", "a3 00 61 63 06 24 02 18 64"), []string{
			"dev/v float 120.1 @0", "dev/c float 100 @-5",
		}, nil},
		{"names of fields as text", cb("81 a2 61 6e 61 61 61 76 01"), []string{"a float 1 @0"}, nil},
		{"arrays, maps and strings without a length", cb("9f bf 00 7f 61 61 61 62 ff 02 01 ff bf 00 61 63 03 7f ff ff ff"), []string{"ab float 1 @0", "c text  @0"}, nil},
		{"text, bool and data", cb("83 a2 00 61 61 03 62 6869 a2 00 61 61 04 f5 a2 00 61 61 08 42 6869"), []string{"a text hi @0", "a bool true @0", "a text aGk @0"}, nil},
		{"a decimal fraction", cb("81 a2 00 61 61 02 c4 82 21 19 6ab3"), []string{"a float 273.15 @0"}, nil},
		{"other tags are stepped over", cb("81 a2 00 61 61 02 c1 05"), []string{"a float 5 @0"}, nil},
		{"whole numbers keep their digits", cb("83 a2 00 61 61 02 1b 0020000000000001 a2 00 61 61 02 3b 0020000000000000 a2 00 61 61 02 1b ffffffffffffffff"), []string{
			"a int 9007199254740993 @0", "a int -9007199254740993 @0", "! 3 a: field 2: does not fit…",
		}, nil},
		{"NaN and the infinities", cb("83 a2 00 61 61 02 f9 7e00 a2 00 61 61 02 f9 fc00 a2 00 61 61 02 fa 7f800000"), []string{
			"! 1 a: field 2: NaN…", "! 2 a: field 2: NaN…", "! 3 a: field 2: NaN…",
		}, nil},
		{"fields of wrong types", cb("86 05 a2 00 05 02 01 a2 00 61 61 02 61 61 a2 00 61 61 02 80 a2 00 61 61 02 f6 a2 00 61 61 02 c4 81 01"), []string{
			"! 1 : a SenML record…", "! 2 : field 0: is of…", "! 3 a: field 2: is of…", "! 4 a: field 2: is of…", "! 5 a: field 2: is of…", "! 6 a: field 2: is of…",
		}, nil},
		{"fields that may be ignored", cb("81 a6 00 61 61 02 01 07 05 18 63 81 01 38 63 a0 80 01"), []string{"a float 1 @0"}, nil},
		{"a version that is not known", cb("81 a3 20 0b 00 61 61 02 01"), []string{"!! record 1: field -1: is SenML of a version…"}, nil},
		{"no array", cb("a0"), []string{"!! body: must be an array of SenML records"}, nil},
	})
}

func TestCBORThatIsDamagedIsRefusedAsAWhole(t *testing.T) {
	good := cb("9f bf 00 7f 61 61 61 62 ff 02 fb 405e066666666666 ff a2 00 61 63 02 c4 82 21 19 6ab3 ff")
	for i := range len(good) {
		if got := parse(ingest.SenMLCBOR, good[:i]); got.err == nil || len(got.samples) > 0 {
			t.Errorf("cut to %x it gives %q", good[:i], got.lines())
		}
	}
	for name, wrong := range map[string]string{
		"something behind":              cb("80 00"),
		"a break for nothing":           cb("ff"),
		"a reserved length":             cb("1c"),
		"an endless number":             cb("1f"),
		"an endless tag":                cb("df 01"),
		"a string of other strings":     cb("7f 41 61 ff"),
		"a string of endless strings":   cb("7f 7f ff ff"),
		"an array longer than the body": cb("9b ffffffffffffffff"),
		"a text longer than the body":   cb("7b 7fffffffffffffff 61"),
		"a map that ends in a key":      cb("bf 00 ff"),
		"deep arrays":                   strings.Repeat("\x81", 100) + "\x00",
		"deep tags":                     strings.Repeat("\xc1", 100) + "\x00",
	} {
		if got := parse(ingest.SenMLCBOR, wrong); got.err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// appendHead appends the beginning of a data item.
func appendHead(dst []byte, major byte, arg uint64) []byte {
	if arg < 24 {
		return append(dst, major<<5|byte(arg))
	}
	return binary.BigEndian.AppendUint64(append(dst, major<<5|27), arg)
}

func appendText(dst []byte, s string) []byte {
	return append(appendHead(dst, 3, uint64(len(s))), s...)
}

func appendDouble(dst []byte, f float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, 7<<5|27), math.Float64bits(f))
}
