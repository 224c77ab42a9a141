package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/api/arrowstream"
	"voltbus/api/shape"
	"voltbus/fault"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/query"
)

// export sends the samples of a range, however many there are.
func (p *Part) export(ctx context.Context, c *operation.Call, in *File, to operation.Stream) error {
	req, err := p.request(c, &in.Span)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("voltbus-%s-%s", req.From.Format("20060102T150405Z"), req.To.Format("20060102T150405Z"))
	from := exporter{engine: p.Engine, to: to}
	if !in.Local {
		from.wide = p.Wide
	}
	switch in.Format {
	case "arrow":
		from.begin(name+".arrows", arrowstream.Media)
		return exportArrow(ctx, to, from.stream(req))
	case "parquet":
		from.begin(name+".parquet", "application/vnd.apache.parquet")
		return p.exportParquet(ctx, req, &from)
	}
	from.begin(name+".csv", "text/csv; charset=utf-8")
	return exportCSV(ctx, to, from.stream(req), in.Cells == "text")
}

// stream calls emit with runs of samples.
type stream func(ctx context.Context, emit func([]point.Sample) error) error

// exporter is the source of an export: this node's store and, unless wide is nil, the descendants.
type exporter struct {
	engine Engine
	wide   Wide
	to     operation.Stream
	head   operation.Head
}

func (e *exporter) begin(file, media string) {
	e.head = operation.Head{File: file, Media: media}
	e.to.Begin(e.head)
}

func (e *exporter) stream(req query.Request) stream {
	return func(ctx context.Context, emit func([]point.Sample) error) error {
		if e.wide == nil {
			return e.engine.Export(ctx, req, emit)
		}
		return e.wide.Export(ctx, req, e.tell, emit)
	}
}

func (e *exporter) parquet(ctx context.Context, req query.Request, file string) error {
	if e.wide == nil {
		_, err := e.engine.ExportParquet(ctx, req, file)
		return err
	}
	sources, err := e.wide.ExportParquet(ctx, req, file)
	e.tell(sources)
	return err
}

// tell sends the sources before the samples.
func (e *exporter) tell(sources []query.Source) {
	e.head.Value = shape.SourcesLine(sources)
	e.to.Begin(e.head)
}

// chunk is the least number of bytes of a file sent at once.
const chunk = 32 << 10

// exportCSV writes CSV; with inert, no spreadsheet takes a string for a formula.
func exportCSV(ctx context.Context, to io.Writer, from stream, inert bool) error {
	out := operation.NewOutput(to)
	out.Buf = append(make([]byte, 0, 2*chunk), "point,time,value,kind,quality\n"...)
	err := from(ctx, func(run []point.Sample) error {
		for i := range run {
			out.Buf = appendCSV(out.Buf, &run[i], inert)
			if err := out.Spill(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// exportArrow sends an Arrow stream, batch by batch.
func exportArrow(ctx context.Context, to io.Writer, from stream) error {
	var out *arrowstream.Writer
	err := from(ctx, func(run []point.Sample) error {
		if out == nil {
			out = arrowstream.New(to) // an error before the first sample is still answered as a problem
		}
		return out.Write(run)
	})
	if err != nil {
		return err // readers recognise a stream without an end as incomplete
	}
	if out == nil {
		out = arrowstream.New(to)
	}
	return out.Close()
}

// inertText prefixes a string that a spreadsheet would take for a formula with an apostrophe.
func inertText(s string) string {
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) {
		return "'" + s
	}
	return s
}

func appendCSV(dst []byte, s *point.Sample, inert bool) []byte {
	text := func(s string) string { return s }
	if inert {
		text = inertText
	}
	dst = appendField(dst, text(string(s.Point)))
	dst = append(dst, ',')
	dst = s.Time.UTC().AppendFormat(dst, timeFormat)
	dst = append(dst, ',')
	switch s.Value.Kind() {
	case point.Text:
		dst = appendField(dst, text(s.Value.Text()))
	case point.Int:
		n, _ := s.Value.Int()
		dst = strconv.AppendInt(dst, n, 10)
	case point.Float:
		f, _ := s.Value.Number()
		dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
	case point.Bool:
		dst = strconv.AppendBool(dst, s.Value.Bool())
	case point.None:
	}
	dst = append(dst, ',')
	dst = append(dst, s.Value.Kind().String()...)
	dst = append(dst, ',')
	dst = append(dst, s.Quality.String()...)
	return append(dst, '\n')
}

// appendField appends a field of CSV as RFC 4180 quotes it. An empty string is quoted, to distinguish it from no value.
func appendField(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",;\t\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// exportParquet has the store write a temporary file, and sends it.
func (p *Part) exportParquet(ctx context.Context, req query.Request, from *exporter) (err error) {
	dir, err := os.MkdirTemp(p.TempDir, "voltbus-export-")
	if err != nil {
		return fault.E("history.export", fault.Unavailable, "parquet", fmt.Errorf("no room to prepare the file: %w", err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "export.parquet")
	if err := from.parquet(ctx, req, name); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return fault.E("history.export", fault.Internal, "parquet", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		from.head.Length = info.Size()
		from.to.Begin(from.head)
	}
	if _, err := io.CopyBuffer(from.to, onlyReader{f}, make([]byte, 8*chunk)); err != nil {
		return fault.E("history.export", fault.Canceled, "parquet", err)
	}
	return nil
}

// onlyReader hides the file's method for sending itself at once, so that each chunk has its deadline.
type onlyReader struct{ io.Reader }
