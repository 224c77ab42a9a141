package parquet_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/internal/parquet"
	"voltbus/testing/peers"
)

// rows are more than two groups have.
const rows = 300_000

// write writes a file with what is hard for a reader: columns without a value, or with one only now and then, in runs and alternating.
func write(t *testing.T) string {
	t.Helper()
	f, err := parquet.New()
	if err != nil {
		t.Fatal(err)
	}
	name, at, value, exact, note, empty := f.Text("name", false), f.Time("time"), f.Float("value"), f.Int("exact"), f.Text("note", true), f.Text("empty", true)
	for i := range rows {
		name.Text(fmt.Sprintf("point-%d", i/1000))
		at.Int(int64(i)*1_000_000 - 1)
		if i%3 == 0 {
			value.None()
		} else {
			value.Float(float64(i) / 8)
		}
		if i < rows/2 {
			exact.None()
		} else {
			exact.Int(math.MinInt64 + int64(i))
		}
		switch i % 1000 {
		case 0:
			note.Text(strings.Repeat("ä", i%7*100))
		case 1, 2:
			note.Text(fmt.Sprint(i))
		default:
			note.None()
		}
		empty.None()
		f.Row()
	}
	file := filepath.Join(t.TempDir(), "rows.parquet")
	if err := os.WriteFile(file, f.Close(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The program reads a file with two libraries, which must agree, and prints what is in it.
const program = `
import json, sys, duckdb, pyarrow.parquet as pq, pyarrow.compute as pc
file = sys.argv[1]
table = pq.read_table(file)
got = {c: str(table.schema.field(c).type) for c in table.column_names}
meta = pq.read_metadata(file)
got["groups"] = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
got["bounds"] = [str(meta.row_group(1).column(0).statistics.min), str(meta.row_group(1).column(0).statistics.max)]
other = duckdb.sql(f"FROM read_parquet('{file}')").to_arrow_table()
got["equal"] = all(table[c].cast(other[c].type).combine_chunks().equals(other[c].combine_chunks()) for c in table.column_names)
got["sums"] = duckdb.sql(f"""SELECT count(*), count(DISTINCT name), sum(value), count(value), sum(exact::HUGEINT)::VARCHAR, count(exact), count(note), sum(length(note)), count(empty),
  min(time)::VARCHAR, max(time)::VARCHAR FROM read_parquet('{file}')""").fetchall()[0]
got["one"] = [str(v) for v in duckdb.sql(f"SELECT name, value, exact, note FROM read_parquet('{file}') WHERE name = 'point-200' AND note IS NOT NULL ORDER BY time OFFSET 1 LIMIT 1").fetchall()[0]]
print(json.dumps(got, default=str))
`

func TestOthersReadWhatIsWritten(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), peers.Python(t), "-c", program, write(t)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got map[string]any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum, texts := 0.0, 0
	for i := range rows {
		if i%3 != 0 {
			sum += float64(i) / 8
		}
		if i%1000 == 0 {
			texts += i % 7 * 100
		}
		if i%1000 == 1 || i%1000 == 2 {
			texts += len(fmt.Sprint(i))
		}
	}
	for key, want := range map[string]any{
		"name": "string", "time": "timestamp[us, tz=UTC]", "value": "double", "exact": "int64", "note": "string",
		"groups": []any{131072.0, 131072.0, 37856.0}, "bounds": []any{"point-131", "point-262"}, "equal": true,
		"one": []any{"point-200", "None", "-9223372036854575807", "200001"},
	} {
		if fmt.Sprint(got[key]) != fmt.Sprint(want) {
			t.Errorf("%s is %v, not %v", key, got[key], want)
		}
	}
	sums, _ := got["sums"].([]any)
	want := []any{float64(rows), 300.0, sum, 200_000.0, "", 150_000.0, 900.0, float64(texts), 0.0, "", ""}
	for i := range want {
		if want[i] != "" && (len(sums) != len(want) || sums[i] != want[i]) {
			t.Errorf("sum %d is %v, not %v", i, sums, want[i])
		}
	}
	if text, _ := sums[9].(string); !strings.HasPrefix(text, "1969-12-31 23:59:59.999999") {
		t.Errorf("the first time is %s", text)
	}
}
