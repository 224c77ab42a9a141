package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/point"
)

// Filter selects points; all its conditions must hold.
type Filter struct {
	Pattern string
	Search  string
	Tags    map[string]string // "" for any value
	Unit    string
	Limit   int    // points per page; 0 for the node's choice
	After   string // Next of the previous page
}

// Points returns a page of points.
func (c *Client) Points(ctx context.Context, f Filter) (p answer.Points, err error) {
	params := url.Values{"tag": tagList(f.Tags)}
	set(params, "pattern", f.Pattern)
	set(params, "search", f.Search)
	set(params, "unit", f.Unit)
	set(params, "after", f.After)
	setNumber(params, "limit", f.Limit)
	return p, c.get(ctx, "points", params, &p)
}

// AllPoints iterates over all pages. It ends after an error.
func (c *Client) AllPoints(ctx context.Context, f Filter) iter.Seq2[answer.Point, error] {
	return func(yield func(answer.Point, error) bool) {
		for {
			page, err := c.Points(ctx, f)
			if err != nil {
				yield(answer.Point{}, err)
				return
			}
			for _, p := range page.Points {
				if !yield(p, nil) {
					return
				}
			}
			if f.After = page.Next; f.After == "" {
				return
			}
		}
	}
}

// Span selects samples of the points or, if none is named, of the pattern. Times have the forms
// that people write: RFC 3339, "now", "-1h"; "" for the node's choice, which is the last hour.
type Span struct {
	Points  []string
	Pattern string
	From    string
	To      string
	Node    string // another node of the tree to ask instead; "" for none
	Local   bool   // do not ask descendants for what they have not sent yet
	Cells   string // "text" for CSV exports whose strings no spreadsheet takes for a formula; "" for unchanged strings
}

func (s *Span) params() url.Values {
	params := s.selection()
	set(params, "from", s.From)
	set(params, "to", s.To)
	return params
}

func (s *Span) selection() url.Values {
	params := url.Values{}
	set(params, "node", s.Node)
	if s.Local {
		params.Set("local", "true")
	}
	if len(s.Points) > 0 {
		params["point"] = s.Points
	} else {
		set(params, "pattern", s.Pattern)
	}
	return params
}

// Latest returns the newest sample of each selected point that has any; times do not apply. An
// empty Span selects everything.
func (c *Client) Latest(ctx context.Context, s Span) (l answer.Latest, err error) {
	params := s.selection()
	return l, c.get(ctx, "latest", params, &l)
}

// Range returns samples, at most limit per point, the oldest or the newest; 0 for all.
func (c *Client) Range(ctx context.Context, s Span, limit int, newest bool) (r answer.Range, err error) {
	params := s.params()
	setNumber(params, "limit", limit)
	if newest {
		params.Set("newest", "true")
	}
	return r, c.get(ctx, "range", params, &r)
}

// Plot returns what a plot of the width in pixels can show; 0 for the node's choice.
func (c *Client) Plot(ctx context.Context, s Span, pixels int) (r answer.Range, err error) {
	params := s.params()
	setNumber(params, "pixels", pixels)
	return r, c.get(ctx, "plot", params, &r)
}

// Steps tells how samples are summarised.
type Steps struct {
	Step      string // such as "15m" or "1d"; "" for an hour
	Zone      string // a time zone whose round local times the steps follow; "" for steps that begin at From
	Functions string // separated by commas
}

// Aggregate returns summaries of steps.
func (c *Client) Aggregate(ctx context.Context, s Span, how Steps) (a answer.Aggregate, err error) {
	params := s.params()
	set(params, "step", how.Step)
	set(params, "zone", how.Zone)
	set(params, "functions", how.Functions)
	return a, c.get(ctx, "aggregate", params, &a)
}

// Exported describes a file of exported samples.
type Exported struct {
	Bytes   int64
	Sources []answer.Source // descendants whose points were requested; first those whose data is missing
}

// Export writes all samples of the span to w, as "csv", "parquet" or "arrow". With an error, what was
// written is not complete.
func (c *Client) Export(ctx context.Context, s Span, format string, w io.Writer) (Exported, error) {
	params := s.params()
	set(params, "format", format)
	set(params, "cells", s.Cells)
	resp, err := c.call(ctx, http.MethodGet, "export", params, nil)
	if err != nil {
		return Exported{}, err
	}
	defer resp.Body.Close()
	var out Exported
	if text := resp.Header.Get(answer.SourcesHeader); text != "" {
		if err := json.Unmarshal([]byte(text), &out.Sources); err != nil {
			return out, fault.E("client.Export", fault.Corrupt, answer.SourcesHeader, err)
		}
	}
	out.Bytes, err = io.Copy(w, resp.Body)
	if err != nil {
		return out, fault.E("client.Export", fault.Unreachable, "export", fmt.Errorf(
			"the file is not complete after %d bytes: %w", out.Bytes, err))
	}
	return out, nil
}

// Samples decodes a series of a Range.
func Samples(s answer.Series) ([]point.Sample, error) {
	out := make([]point.Sample, len(s.Samples))
	for i, t := range s.Samples {
		v, err := answer.ParseValue(s.Kind, t.Value)
		if err != nil {
			return nil, fault.E("client.Samples", fault.Corrupt, s.Point, err)
		}
		out[i] = point.Sample{Point: point.Path(s.Point), Time: t.Time(), Value: v, Quality: quality(t.Quality)}
	}
	return out, nil
}

// Sample decodes a newest value.
func Sample(s answer.Sample) (point.Sample, error) {
	v, err := answer.ParseValue(s.Kind, s.Value)
	if err != nil {
		return point.Sample{}, fault.E("client.Sample", fault.Corrupt, s.Point, err)
	}
	return point.Sample{
		Point: point.Path(s.Point), Time: s.Time.UTC().Truncate(time.Microsecond), Value: v, Quality: quality(s.Quality),
	}, nil
}

// quality parses a quality; one that this program does not know is uncertain.
func quality(name string) point.Quality {
	if name == "" {
		return point.Good
	}
	if q, ok := point.ParseQuality(name); ok {
		return q
	}
	return point.Uncertain
}
