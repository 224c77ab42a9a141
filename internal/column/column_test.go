package column_test

import (
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"voltbus/internal/column"
)

func TestAColumnIsAsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var c column.Column[int64]
		var want []int64
		value := rapid.Int64Range(0, 1)
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				rows := len(want) + rapid.IntRange(-3, 2*column.PageRows).Draw(t, "rows")
				c.Grow(rows)
				if rows > len(want) {
					want = append(want, make([]int64, rows-len(want))...)
				}
			case 1:
				v := value.Draw(t, "appended")
				for range rapid.IntRange(1, column.PageRows+1).Draw(t, "times") {
					c.Append(v)
					want = append(want, v)
				}
			case 2:
				if len(want) == 0 {
					continue
				}
				v, from := value.Draw(t, "set"), rapid.IntRange(0, len(want)-1).Draw(t, "from")
				for row := from; row < min(len(want), from+rapid.SampledFrom([]int{1, column.PageRows}).Draw(t, "many")); row++ {
					c.Set(uint32(row), v)
					want[row] = v
				}
			}
		}
		if c.Len() != len(want) {
			t.Fatalf("%d rows, want %d", c.Len(), len(want))
		}
		for row, v := range want {
			if got := c.At(uint32(row)); got != v {
				t.Fatalf("row %d is %d, want %d", row, got, v)
			}
		}
	})
}

func TestRowsThatAreAlikeTakeNoMemory(t *testing.T) {
	const rows, most = 1 << 20, 0.5 // bytes a row
	for name, fill := range map[string]func(*column.Column[int64]){
		"appended": func(c *column.Column[int64]) {
			for row := range rows {
				c.Append(int64(row / 10_000))
			}
		},
		"set in their order": func(c *column.Column[int64]) {
			c.Grow(rows)
			for row := range rows {
				c.Set(uint32(row), int64(row%3))
			}
			for row := range rows {
				c.Set(uint32(row), 7)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := alive()
			var c column.Column[int64]
			fill(&c)
			if each := float64(alive()-before) / rows; each > most {
				t.Errorf("a row takes %.2f bytes, want at most %.1f", each, most)
			}
			runtime.KeepAlive(&c)
		})
	}
}

// alive is the memory in use, in bytes.
func alive() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
