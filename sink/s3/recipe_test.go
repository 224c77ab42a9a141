package s3_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/sink/destination"
	"voltbus/sink/s3"
	"voltbus/sink/setting"
	"voltbus/testing/peers"
)

// envSpark is the Python that has PySpark, which "make spark" makes.
const envSpark = "VOLTBUS_SPARK_PYTHON"

// TestTheRecipesOfTheGuideDoWhatIsPrintedBelowThem runs the programs of the guide on files that two nodes have sent.
func TestTheRecipesOfTheGuideDoWhatIsPrintedBelowThem(t *testing.T) {
	programs := recipes(t)
	server := peers.StartObjectStore(t, bucket)
	send(t, server)
	for _, c := range []struct{ name, library, python string }{
		{"DuckDB", "import duckdb", peers.Python(t)}, {"Spark", "pyspark", os.Getenv(envSpark)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.python == "" {
				t.Skip("NOT TESTED: there is no PySpark: run `make spark`")
			}
			for _, p := range programs {
				if !strings.Contains(p.code, c.library) {
					continue
				}
				cmd := exec.CommandContext(t.Context(), c.python, "-c", p.code)
				cmd.Dir = server.Files()
				var said strings.Builder
				cmd.Stderr = &said
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%v\n%s", err, said.String())
				}
				if got := strings.TrimSpace(string(out)); got != p.prints {
					t.Errorf("it prints\n%s\nand not\n%s", got, p.prints)
				}
				return
			}
			t.Errorf("the guide has no program with %s", c.library)
		})
	}
}

// recipe is a program of the guide, and what it prints.
type recipe struct{ code, prints string }

func recipes(t *testing.T) (list []recipe) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(peers.Root(), "docs", "guides", "analyse-a-fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "```python\n")[1:] {
		code, rest, _ := strings.Cut(part, "```\n")
		_, rest, found := strings.Cut(rest, "```text\n")
		prints, _, _ := strings.Cut(rest, "```")
		if !found {
			t.Fatalf("there is no text behind\n%s", code)
		}
		list = append(list, recipe{code, strings.TrimSpace(prints)})
	}
	return list
}

// send sends three days of two nodes with two buildings each. One zone is too warm for some hours; one sensor has failed.
func send(t *testing.T, server *peers.Server) {
	t.Helper()
	const every = 15 * time.Minute
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for n, node := range []string{"north", "south"} {
		w, err := s3.Kind().Make(&setting.Sink{
			Name: "lake", URL: "http://" + server.Addr, User: peers.StoreUser, PasswordFile: secret(t, peers.StoreSecret), Into: bucket + "/readings",
			Tags: map[string]string{"building": "{2}", "zone": "{3}"},
		}, destination.Environment{Node: node})
		if err != nil {
			t.Fatal(err)
		}
		var rows []destination.Row
		for z := range 6 {
			building, zone := fmt.Sprint("b", 2*n+z/3), fmt.Sprintf("zone-%d", 10*(2*n+z/3)+z%3)
			name := node + "/" + building + "/" + zone + "/temp"
			shape := &destination.Shape{Point: point.Path(name), Name: name, Unit: "degC", Tags: []destination.Tag{{Name: "building", Text: building}, {Name: "zone", Text: zone}}}
			for at := begin; at.Before(begin.AddDate(0, 0, 3)); at = at.Add(every) {
				r := destination.Row{Shape: shape, Time: at.UnixMicro(), Value: point.FloatOf(20 + float64(z)/2 + float64(at.Hour()%12)/4 + float64(n)/8), Part: fmt.Sprintf("log-%s-1", node)}
				if zone == "zone-21" && at.Day() == 2 && at.Hour() >= 13 && at.Hour() < 16 {
					r.Value = point.FloatOf(27.5)
				}
				if zone == "zone-0" && at.Day() == 3 {
					r.Value, r.Quality = point.FloatOf(85), point.BadSensor
				}
				rows = append(rows, r)
			}
		}
		if refused, err := w.Write(t.Context(), rows); err != nil || len(refused) > 0 {
			t.Fatal(refused, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
