package docs

import (
	"fmt"
	"path/filepath"
	"time"

	"voltbus/point"
	"voltbus/store/duckdb"
)

// The past of the demonstration: so many days, in readings five minutes apart.
const (
	pastDays  = 28
	pastEvery = 5 * time.Minute
)

// remember gives the demonstration that will be started a past, in closed days. A node lets nobody
// else record the points of its devices, so the store gets them before there is a node.
func (s *shell) remember() {
	s.t.Helper()
	ctx := s.t.Context()
	st, err := duckdb.Open(ctx, duckdb.Options{Dir: filepath.Join(s.dir, "voltbus-demo", "data", "store")})
	if err != nil {
		s.t.Fatal(err)
	}
	end := time.Now().UTC().Truncate(24 * time.Hour)
	b := point.Block{Origin: "past", Sequence: 1, Created: end}
	for zone := range 2 {
		b.Points = append(b.Points, point.Path(fmt.Sprintf("demo/office/zone%d/temp", zone+1)))
	}
	for at := end.AddDate(0, 0, -pastDays); at.Before(end); at = at.Add(pastEvery) {
		for i := range b.Points {
			sample := point.Sample{Time: at, Value: point.FloatOf(18 + float64(i) + float64(at.Hour()%12)/2)}
			b.Append(uint32(i), &sample)
		}
	}
	if _, err := st.Append(ctx, []*point.Block{&b}); err != nil {
		s.t.Fatal(err)
	}
	if err := st.Maintain(ctx, end.Add(time.Hour)); err != nil {
		s.t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		s.t.Fatal(err)
	}
}
