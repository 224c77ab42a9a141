package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"voltbus/api/client"
)

const looks = 5 // of which the median is printed

// search looks for points in several ways.
func search(ctx context.Context, p *process, n int) error {
	last := (n - 1) / ofMeter
	district := fmt.Sprintf("city/district%d", last/ofDistrict)
	for _, way := range []struct {
		name   string
		filter client.Filter
	}{
		{"a page of 1,000 in the middle", client.Filter{After: path(n / 2)}},
		{"search of one meter", client.Filter{Search: fmt.Sprintf("METER%07d", last)}},
		{"search over a slash", client.Filter{Search: fmt.Sprintf("%07d/power", last)}},
		{"search without a hit", client.Filter{Search: "no such text"}},
		{"search with a hit in four", client.Filter{Search: "power"}},
		{"pattern below a prefix", client.Filter{Pattern: district}},
		{"pattern with wildcards, few hits", client.Filter{Pattern: fmt.Sprintf("**/*%07d/power", last)}},
		{"pattern with wildcards, no hit", client.Filter{Pattern: "city/*/meter*/gas"}},
		{"a tag with its value, below a prefix", client.Filter{Pattern: district, Tags: map[string]string{"source": "ingest"}}},
		{"a tag that none has", client.Filter{Tags: map[string]string{"equip": "ahu"}}},
		{"a unit that none has", client.Filter{Unit: "degC"}},
	} {
		var took []time.Duration
		found := 0
		for range looks {
			begin := time.Now()
			page, err := p.client.Points(ctx, way.filter)
			if err != nil {
				return err
			}
			took = append(took, time.Since(begin))
			found = len(page.Points)
		}
		slices.Sort(took)
		fmt.Printf("  %-40s %8.1f ms, %d found\n", way.name, took[looks/2].Seconds()*1e3, found)
	}
	return walk(ctx, p, n)
}

// walk reads all points, page by page.
func walk(ctx context.Context, p *process, n int) error {
	begin, found := time.Now(), 0
	for _, err := range p.client.AllPoints(ctx, client.Filter{Limit: 10_000}) {
		if err != nil {
			return err
		}
		found++
	}
	fmt.Printf("  %-40s %8.1f ms, %d found\n", "all pages of 10,000", time.Since(begin).Seconds()*1e3, found)
	if found < n {
		return fmt.Errorf("%d points are listed of %d", found, n)
	}
	return nil
}
