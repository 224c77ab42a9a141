package newest_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/store/duckdb/newest"
)

// drawTable draws a table with samples of all kinds.
func drawTable(t *rapid.T) *newest.Table {
	var table newest.Table
	numbers := rapid.IntRange(0, 600).Draw(t, "numbers")
	table.Grow(numbers)
	for range rapid.IntRange(0, min(40, numbers)).Draw(t, "samples") {
		n := rapid.Uint32Range(0, uint32(numbers-1)).Draw(t, "number")
		if rapid.Bool().Draw(t, "worded") {
			table.Word(n)
		}
		value := rapid.OneOf(
			rapid.Map(rapid.Float64(), point.FloatOf), rapid.Map(rapid.Int64(), point.IntOf), rapid.Map(rapid.Bool(), point.BoolOf),
			rapid.Map(rapid.String(), point.TextOf), rapid.Just(point.Value{}),
		).Draw(t, "value")
		table.Take(n, newest.Sample{Time: rapid.Int64().Draw(t, "time"), Value: value, Quality: point.Quality(rapid.Uint8().Draw(t, "quality"))})
	}
	return &table
}

func TestAFileHoldsWhatTheTableHeld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		var file bytes.Buffer
		sum, err := table.Write(&file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := newest.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), sum, table.Len())
		if err != nil || got.Len() != table.Len() {
			t.Fatalf("read %v, %v", got, err)
		}
		for n := range uint32(table.Len()) {
			want, known := table.Sample(n)
			if s, is := got.Sample(n); s != want || is != known || got.Worded(n) != table.Worded(n) {
				t.Fatalf("the newest sample of %d is %v, %v, want %v, %v", n, s, is, want, known)
			}
		}
		if table.Len() > 0 {
			if _, err := newest.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), sum, table.Len()-1); err == nil {
				t.Fatal("a table with more numbers than there are was read")
			}
		}
	})
}

func TestADamagedFileIsRefused(t *testing.T) {
	var table newest.Table
	table.Grow(3)
	table.Take(1, newest.Sample{Time: 7, Value: point.TextOf("open")})
	table.Take(2, newest.Sample{Time: 8, Value: point.IntOf(9)})
	var file bytes.Buffer
	sum, err := table.Write(&file)
	if err != nil {
		t.Fatal(err)
	}
	whole := file.String()
	length := int64(len(whole))
	read := func(content string) error {
		_, err := newest.Read(strings.NewReader(content), length, sum, 3)
		return err
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		if read(whole[:at]) == nil {
			t.Errorf("a file that ends at %d was read", at)
		}
		for _, octet := range []byte{whole[at] ^ 1, whole[at] ^ 0x80, 0xff - whole[at]} {
			if read(whole[:at]+string([]byte{octet})+whole[at+1:]) == nil {
				t.Errorf("a file with another byte at %d was read", at)
			}
		}
	}
	if _, err := newest.Read(strings.NewReader(whole), length-1, sum, 3); err == nil {
		t.Error("a file that is longer than it should be was read")
	}
}
