package destination

import (
	"fmt"
	"path/filepath"
	"time"

	"voltbus/fault"
	"voltbus/internal/plural"
	"voltbus/judge/aside"
	"voltbus/point"
)

// Refused is a reading that a destination refused, or that a rule withheld from it. Its value is in the unit of the destination.
type Refused = aside.Reading

func refusedName(dir, name string) string { return filepath.Join(dir, folder, name+".refused") }

// refuse keeps rows that the destination refused. They are on disk when it returns. When there is no room it fails: what is refused is
// not forgotten.
func (t *target) refuse(rows []Row, list []Refusal) error {
	kept := make([]Refused, len(list))
	for i, one := range list {
		kept[i] = refusedOf(&rows[one.Row], t.cfg.Now(), one.Reason)
	}
	fits, err := t.refused.Keep(kept)
	if err == nil && !fits {
		return fault.E("sinks.Append", fault.Unavailable, t.entry.Name, fmt.Errorf(
			"%s that the destination refused are kept, and there is no room for more: look at them by voltbus sinks refused, then send them again or discard them", plural.Of(t.refused.Len(), "reading")))
	}
	return err
}

func refusedOf(r *Row, now time.Time, reason string) Refused {
	return aside.Of(&point.Sample{Point: r.Point, Time: time.UnixMicro(r.Time), Value: r.Value, Quality: r.Quality}, now, reason)
}
