package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
	"voltbus/internal/plural"
)

// span holds the flags that select a part of the history.
type span struct {
	from, to, node string
	local          bool
}

const selectHelp = `Points are named by their whole paths, or by one pattern in quotes: * stands for anything
within one segment, ** for any number of segments.`

const timeHelp = `Times are RFC 3339 (2026-03-01T06:00:00Z), a date (2026-03-01, midnight UTC), or relative:
now, -15m, -7d.`

func (s *span) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.from, "from", "-1h", "first time; see --help for the forms")
	cmd.Flags().StringVar(&s.to, "to", "now", "first time after the end")
}

// of returns the selection given by the arguments: points by name, or one pattern.
func (s *span) of(args []string) (client.Span, error) {
	sel := client.Span{From: s.from, To: s.to, Node: s.node, Local: s.local}
	if len(args) == 1 {
		sel.Pattern = args[0]
		return sel, nil
	}
	for _, arg := range args {
		if strings.Contains(arg, "*") {
			return sel, shell.Usage(fmt.Errorf("%q is a pattern; give one pattern, or the names of points", arg))
		}
	}
	sel.Points = args
	return sel, nil
}

// NewQuery returns the command "query".
func NewQuery(f *shell.Flags) *cobra.Command {
	var out shell.Format
	var when span
	var steps client.Steps
	limit, newest := 0, false
	cmd := &cobra.Command{
		Use: "query point… | pattern", Short: "Print samples, or summaries by time step",
		Long: "Print the samples of points; with --step a summary of each step.\n\n" + timeHelp + "\n\n" + selectHelp,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			sel, err := when.of(args)
			if newest && limit == 0 {
				err = errors.Join(err, shell.Usage(errors.New("--newest needs --limit: say how many samples of each point")))
			}
			if err != nil {
				return err
			}
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				if steps != (client.Steps{}) {
					return printSummaries(s, ctx, sel, steps, &out)
				}
				return printSamples(s, ctx, sel, newestOf{limit, newest}, &out)
			})
		},
	}
	when.register(cmd)
	shell.NodeFlag(cmd, &when.node)
	out.Register(cmd)
	localFlag(cmd, &when.local)
	cmd.Flags().StringVar(&steps.Step, "step", "", "summarise steps of this length, such as 15m, 1d, 1w, 1mo or 1y")
	cmd.Flags().StringVar(&steps.Zone, "zone", "", "with --step: at round local times of this time zone, such as Europe/Berlin")
	cmd.Flags().StringVar(&steps.Functions, "function", "", "with --step: only these figures: mean, min, max, sum, count, first, last, timeweighted, stddev, median, p95 …")
	cmd.Flags().IntVarP(&limit, "limit", "n", 0, "most samples of each point")
	cmd.Flags().BoolVar(&newest, "newest", false, "with --limit: the newest samples instead of the oldest")
	return cmd
}

func localFlag(cmd *cobra.Command, local *bool) {
	cmd.Flags().BoolVar(local, "local", false, "do not ask descendants for what they have not sent yet")
}

// newestOf bounds an answer: at most limit samples of each point, the oldest or the newest.
type newestOf struct {
	limit  int
	newest bool
}

func printSamples(s shell.Session, ctx context.Context, sel client.Span, bound newestOf, out *shell.Format) error {
	r, err := s.Range(ctx, sel, bound.limit, bound.newest)
	if err != nil {
		return pointsMeant(s, ctx, sel, err)
	}
	rows, err := out.Open(s.OutOrStdout(), "point", "time", "value", "unit", "quality")
	if err != nil {
		return err
	}
	for _, series := range r.Series {
		samples, err := client.Samples(series)
		if err != nil {
			return err
		}
		for _, sample := range samples {
			value := json.RawMessage(sample.Value.AppendJSON(nil))
			if err := rows.Row(series.Point, sample.Time.UTC().Format(time.RFC3339Nano), value, series.Unit, sample.Quality.String()); err != nil {
				return err
			}
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	reportCoverage(s, r.Completeness)
	reportSources(s, r.Sources)
	return nil
}

// reportSources reports on standard error which descendants contributed, and which of them cause data to be
// missing.
func reportSources(s shell.Session, list []answer.Source) {
	for _, from := range list {
		switch from.State {
		case "stored":
			continue
		case "asked":
			if from.Samples > 0 {
				s.PrintErrf("%s: gave %s\n", shell.Plain(from.Node), plural.Of(from.Samples, "sample"))
			}
			if from.Why != "" {
				s.PrintErrf("%s: %s\n", shell.Plain(from.Node), shell.Plain(from.Why))
			}
			continue
		}
		text := from.State
		if from.Since != nil {
			text += " since " + from.Since.Format(time.RFC3339)
		}
		if from.Missing != "" {
			text += ", missing: " + from.Missing
		}
		if from.Waiting > 0 {
			text += ", " + plural.Of(from.Waiting, "sample") + " waited there"
		}
		s.PrintErrf("%s: %s: %s\n", shell.Plain(from.Node), shell.Plain(text), shell.Plain(from.Why))
		if from.From != nil {
			s.PrintErrf("%s: from %s on samples may be missing\n", shell.Plain(from.Node), from.From.Format(time.RFC3339))
		}
	}
}

func printSummaries(s shell.Session, ctx context.Context, sel client.Span, steps client.Steps, out *shell.Format) error {
	a, err := s.Aggregate(ctx, sel, steps)
	if err != nil {
		return pointsMeant(s, ctx, sel, err)
	}
	functions := strings.Split(steps.Functions, ",")
	columns := append(append([]string{"point", "start"}, functions...), "unit")
	if steps.Functions == "" {
		columns = []string{"point", "start", "count", "bad", "mean", "min", "max", "sum", "first", "last", "unit"}
	}
	rows, err := out.Open(s.OutOrStdout(), columns...)
	if err != nil {
		return err
	}
	zone, err := time.LoadLocation(a.Zone)
	if err != nil {
		return fmt.Errorf("the node answers for a time zone that this machine does not know: %w", err)
	}
	for _, series := range a.Series {
		for _, b := range series.Buckets {
			cells := []any{series.Point, b.Start.In(zone).Format(time.RFC3339)}
			if steps.Functions == "" {
				cells = append(cells, b.Count, b.Bad, b.Mean, b.Min, b.Max, b.Sum, b.First, b.Last)
			} else {
				for _, f := range functions {
					cells = append(cells, b.Values[strings.TrimSpace(f)])
				}
			}
			if err := rows.Row(append(cells, series.Unit)...); err != nil {
				return err
			}
		}
	}
	if err := rows.End(); err != nil {
		return err
	}
	reportCoverage(s, a.Completeness)
	reportSources(s, a.Sources)
	return nil
}

// pointsMeant replaces "no point matches" for a name without a star by the node's error about a point of that
// name, which includes suggestions.
func pointsMeant(s shell.Session, ctx context.Context, sel client.Span, err error) error {
	if !fault.Is(err, fault.NotFound) || sel.Pattern == "" || strings.Contains(sel.Pattern, "*") {
		return err
	}
	if _, named := s.Latest(ctx, client.Span{Points: []string{sel.Pattern}, Node: sel.Node, Local: sel.Local}); named != nil {
		return named
	}
	return err
}

// reportCoverage reports on standard error how complete an answer is, to keep the data clean.
func reportCoverage(s shell.Session, completeness *float64) {
	if completeness != nil {
		s.PrintErrf("complete: %.1f %% of the expected samples\n", 100**completeness)
	}
}

// NewExport returns the command "export".
func NewExport(f *shell.Flags) *cobra.Command {
	var when span
	kind, file, cells := "", "-", ""
	cmd := &cobra.Command{
		Use: "export point… | pattern", Short: "Write samples to a CSV, Parquet or Arrow file",
		Long: "Write all samples of points to a file, however many.\n\n" + timeHelp + "\n\n" + selectHelp,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if kind == "" {
				kind = kindOf(file)
			}
			sel, err := when.of(args)
			if err != nil {
				return err
			}
			sel.Cells = cells
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return exportSamples(s, ctx, sel, kind, file)
			})
		},
	}
	when.register(cmd)
	localFlag(cmd, &when.local)
	cmd.Flags().StringVarP(&file, "output", "o", file, "file to write; - for standard output")
	cmd.Flags().StringVarP(&kind, "format", "f", "", "csv, parquet or arrow (default: by the file's name, else csv)")
	cmd.Flags().StringVar(&cells, "cells", "", "text: write CSV whose texts no spreadsheet takes for a formula")
	return cmd
}

// kindOf returns the format implied by a file name.
func kindOf(file string) string {
	switch filepath.Ext(file) {
	case ".parquet":
		return "parquet"
	case ".arrow", ".arrows":
		return "arrow"
	}
	return "csv"
}

// exportSamples writes to a temporary file next to the target, so that a failure leaves no partial file.
func exportSamples(s shell.Session, ctx context.Context, sel client.Span, kind, file string) error {
	if file == "-" {
		done, err := s.Export(ctx, sel, kind, s.OutOrStdout())
		reportSources(s, done.Sources)
		return pointsMeant(s, ctx, sel, err)
	}
	out, err := os.CreateTemp(filepath.Dir(file), ".voltbus-export-*")
	if err != nil {
		return fault.E("voltbus", fault.Invalid, file, fmt.Errorf("cannot be written: %w", errors.Unwrap(err)))
	}
	progress := &progress{cmd: s.Command, w: out, begin: time.Now()}
	done, err := s.Export(ctx, sel, kind, progress)
	progress.done()
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(pointsMeant(s, ctx, sel, err), os.Remove(out.Name()))
	}
	if err := os.Rename(out.Name(), file); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	s.PrintErrf("wrote %s, %.1f MB\n", file, float64(done.Bytes)/1e6)
	reportSources(s, done.Sources)
	return nil
}

// progress counts the bytes written, and shows them on a terminal twice a second.
type progress struct {
	cmd   *cobra.Command
	w     io.Writer
	begin time.Time
	shown time.Time
	n     int64
}

// Write implements io.Writer.
func (p *progress) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.n += int64(n)
	if now := time.Now(); now.Sub(p.shown) > 500*time.Millisecond && shell.Terminal(os.Stderr) {
		p.shown = now
		p.cmd.PrintErrf("\r%.1f MB, %.1f MB/s ", float64(p.n)/1e6, float64(p.n)/1e6/now.Sub(p.begin).Seconds())
	}
	return n, err
}

func (p *progress) done() {
	if !p.shown.IsZero() {
		p.cmd.PrintErr("\r\033[K")
	}
}

// NewSQL returns the command "sql".
func NewSQL(f *shell.Flags) *cobra.Command {
	var out shell.Format
	limit := 10_000
	cmd := &cobra.Command{
		Use: "sql statement", Short: "Query the history with read-only SQL",
		Long: `Query the history with read-only SQL. There are the tables
  samples(point, time, value, exact, text, kind, quality)
  points(id, path)
and where readings of meters are stored (docs/guides/meters.md#query-with-sql)
  meters, channels, readings, reading_versions, meter_events

  voltbus sql "SELECT point, avg(value) FROM samples WHERE time > now() - INTERVAL 1 HOUR GROUP BY point"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Where.With(cmd, func(ctx context.Context, s shell.Session) error {
				return askStatement(s, ctx, args[0], limit, &out)
			})
		},
	}
	out.Register(cmd)
	cmd.Flags().IntVarP(&limit, "limit", "n", limit, "most rows")
	return cmd
}

func askStatement(s shell.Session, ctx context.Context, statement string, limit int, out *shell.Format) error {
	var rows shell.Rows
	truncated, err := s.SQL(ctx, statement, limit, func(columns []string) (err error) {
		rows, err = out.Open(s.OutOrStdout(), columns...)
		return err
	}, func(values []json.RawMessage) error {
		cells := make([]any, len(values))
		for i, v := range values {
			cells[i] = v
		}
		return rows.Row(cells...)
	})
	if rows != nil {
		err = errors.Join(err, rows.End())
	}
	if truncated {
		s.PrintErrf("only the first %s shown; --limit shows more\n", plural.Word(limit, "row is", strconv.Itoa(limit)+" rows are"))
	}
	return err
}
