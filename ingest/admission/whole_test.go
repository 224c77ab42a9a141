package admission_test

import (
	"slices"
	"testing"

	"voltbus/catalog"
	"voltbus/ingest"
	"voltbus/ingest/admission"
)

func TestABatchThatIsRefusedAsAWholeListsNoPoints(t *testing.T) {
	tests := []struct {
		name, body string
		refused    []string
		recorded   int
	}{
		{"a point of a device among new ones", `[{"n":"a","v":1},{"n":"site/ahu/temp","v":1},{"n":"b","v":1}]`, []string{"2 site/ahu/temp refused"}, 0},
		{"more new points than there is room for", `[{"n":"a","v":1},{"n":"b","v":1},{"n":"site/calc","v":1},{"n":"c","v":1}]`, []string{"1 a unavailable", "2 b unavailable", "4 c unavailable"}, 0},
		{"as many as there is room for", `[{"n":"a","v":1},{"n":"b","v":1},{"n":"a","v":2}]`, nil, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, out := open(t), &tape{}
			g := admission.New(c, out, 3) // one is listed already
			report, err := ingest.NewParser().Parse(ingest.SenML, []byte(tt.body), ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
				return g.RecordWhole(t.Context(), b)
			})
			if err != nil || !slices.Equal(kinds(report), tt.refused) || len(out.points) != tt.recorded {
				t.Errorf("refused are %v, recorded %v, %v", kinds(report), out.points, err)
			}
			page, err := c.Search(t.Context(), catalog.Filter{})
			if err != nil {
				t.Fatal(err)
			}
			if listed := len(page.Entries) - 3; (tt.recorded > 0) != (listed > 0) {
				t.Errorf("%d points were listed", listed)
			}
		})
	}
}
