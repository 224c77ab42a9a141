package query_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store/memory"
)

// region is a catalogue of a million meters.
type region struct {
	query.Catalog // nothing else is asked
	interval      time.Duration
}

const meters = 1_000_000

func (r region) Search(_ context.Context, f catalog.Filter) (catalog.Page, error) {
	var page catalog.Page
	for i := range min(meters, f.Limit) {
		path := point.Path(fmt.Sprintf("region/meter%07d/energy", i))
		page.Entries = append(page.Entries, catalog.Entry{Info: point.Info{Path: path, Interval: r.interval}})
	}
	if f.Limit < meters {
		page.Next = page.Entries[len(page.Entries)-1].Path
	}
	return page, nil
}

func (r region) Entries(_ context.Context, paths []point.Path) ([]catalog.Entry, error) {
	list := make([]catalog.Entry, len(paths))
	for i, path := range paths {
		list[i] = catalog.Entry{Info: point.Info{Path: path, Interval: r.interval}}
	}
	return list, nil
}

func TestTenYearsOfAMillionPointsAreRefusedAtOnceAndCheaply(t *testing.T) {
	const mostMemory = 256 << 20
	decade := query.Request{Selection: query.Selection{Pattern: "region"}, From: now().AddDate(-10, 0, 0), To: now()}
	paged := decade
	paged.Page = query.DefaultLimits().Points
	for name, interval := range map[string]time.Duration{"with an interval": time.Minute, "without one": 0} {
		e := query.New(memory.New(memory.Options{}), region{interval: interval}, query.DefaultLimits(), now)
		asks := map[string]func() error{
			"range": func() error { _, err := e.Range(t.Context(), decade); return err },
			"plot":  func() error { _, err := e.Plot(t.Context(), decade, 800); return err },
			"summaries": func() error {
				_, err := e.Aggregate(t.Context(), decade, steps(t, "1h", "", ""))
				return err
			},
			"a page of summaries": func() error { _, err := e.Aggregate(t.Context(), paged, steps(t, "1y", "", "")); return err },
		}
		for question, ask := range asks {
			t.Run(question+" of points "+name, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				err := ask()
				runtime.ReadMemStats(&after)
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "ask") {
					t.Errorf("not refused with what to do: %v", err)
				}
				if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
					t.Errorf("it took %d MB", used>>20)
				}
			})
		}
	}
}
