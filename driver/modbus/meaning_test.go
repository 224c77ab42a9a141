package modbus

import (
	"strings"
	"testing"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

func TestMeaningsAreWhatTheDriverReads(t *testing.T) {
	words := []uint16{0x41AC, 0x0000, 0x1234, 0x5678}
	meanings, err := Meanings(words)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, m := range meanings {
		seen[m.Type+m.Order] = true
		e := Entry{Name: "p", Type: m.Type, ByteOrder: m.Order}
		if got, _ := compileOne(t, e).decode(words, 0); got != m.Value {
			t.Errorf("%s %s means %v, the driver reads %v", m.Type, m.Order, m.Value, got)
		}
	}
	if len(meanings) != 2+6*4 || !seen["float32DCBA"] || !seen["uint16"] {
		t.Errorf("%d meanings: %v", len(meanings), seen)
	}
	if few, err := Meanings(words[:1]); err != nil || len(few) != 2 {
		t.Errorf("one word has the meanings %v, %v", few, err)
	}
	if _, err := Meanings(words, "int24"); err == nil || !strings.Contains(err.Error(), "is not known") {
		t.Errorf("an unknown type: %v", err)
	}
}

func TestWhatIsEncodedMeansTheSame(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"uint16", "65535"},
		{"int16", "-5"},
		{"uint32", "4000000000"},
		{"int32", "-123456"},
		{"float32", "21.5"},
		{"uint64", "9"},
		{"int64", "-9007199254740993"},
		{"float64", "-0.1"},
	} {
		for _, order := range Orders() {
			words, err := Encode(c.name, order, c.text)
			if err != nil {
				t.Fatalf("%s %s: %v", c.name, order, err)
			}
			e := Entry{Name: "p", Type: c.name, ByteOrder: order}
			if got, _ := compileOne(t, e).decode(words, 0); got.String() != c.text {
				t.Errorf("%s %s as %s reads %v", c.name, c.text, order, got)
			}
		}
	}
	for _, c := range [][3]string{{"uint16", "ABCD", "70000"}, {"int24", "ABCD", "1"}, {"int16", "AXCD", "1"}, {"int16", "ABCD", "x"}} {
		if _, err := Encode(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v is encoded", c)
		}
	}
}

func TestAreasAndWordsAreReadOrRefused(t *testing.T) {
	for text, want := range map[string]Area{
		"holding:0-9": {"holding", 0, 10}, "coil:3": {"coil", 3, 1}, "input:0x10-0x11": {"input", 16, 2}, "discrete_inputs:65535": {"discrete", 65535, 1},
	} {
		if got, err := ParseArea(text); err != nil || got != want {
			t.Errorf("%s is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "holding", ":0", "register:0", "holding:9-0", "holding:65536", "holding:a", "coil:0-65535"} {
		if got, err := ParseArea(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	words, err := ParseWords([]string{"0x41ac", "0", "16812", "0x41ac0000", "41ac0000"})
	if err != nil || len(words) != 7 || words[2] != 0x41AC || words[5] != 0x41AC {
		t.Errorf("the words are %x, %v", words, err)
	}
	for _, text := range []string{"", "65536", "-1", "0xzz", "1.5", "0x", "1101791232"} {
		if got, err := ParseWords([]string{text}); err == nil {
			t.Errorf("%q is read as %x", text, got)
		}
	}
}

func TestATextThatIsNotUTF8IsNamedWithTheTypeToWrite(t *testing.T) {
	s, names := newTestSession(0)
	l, _, err := layout.Parse("string[8]")
	if err != nil {
		t.Fatal(err)
	}
	s.registers[0].layout = l
	s.results[0] = result{words: []uint16{0x4DFC, 0x6E63, 0x6865, 0x6E00}}
	var sample point.Sample
	s.sample(0, &sample)
	if sample.Quality != point.BadValue || s.Diagnose() == nil || !strings.Contains(s.Diagnose().Error(), names[0]+" is not UTF-8") ||
		!strings.Contains(s.Diagnose().Error(), "string[8,latin1]") {
		t.Errorf("the sample is %v, the diagnosis %v", sample, s.Diagnose())
	}
}
