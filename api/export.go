package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/api/answer"
	"voltbus/api/arrowstream"
	"voltbus/api/shape"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

var (
	errFormat = errors.New("must be csv, parquet or arrow")
	errCells  = errors.New("must be text, or left out")
)

// export sends the samples of a range, however many there are.
func (s *server) export(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	req := in.span()
	format, _ := in.text("format")
	cells, _ := in.text("cells")
	if cells != "" && cells != "text" && in.err == nil {
		in.err = fault.E("api.query", fault.Invalid, "cells", errCells)
	}
	local := in.truth("local")
	if in.err != nil {
		return in.err
	}
	name := fmt.Sprintf("voltbus-%s-%s", req.From.Format("20060102T150405Z"), req.To.Format("20060102T150405Z"))
	release, err := s.exports.take(r.user.Name, 1)
	if err != nil {
		return err
	}
	defer release()
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	from := s.exporter(w, local)
	switch format {
	case "", "csv":
		disposition(w, name+".csv", "text/csv; charset=utf-8")
		return exportCSV(p, r, from.stream(req), cells == "text")
	case "arrow":
		disposition(w, name+".arrows", arrowstream.Media)
		return exportArrow(p, r, from.stream(req))
	case "parquet":
		disposition(w, name+".parquet", "application/vnd.apache.parquet")
		return s.exportParquet(p, r, req, from)
	}
	return fault.E("api.query", fault.Invalid, "format", errFormat)
}

func disposition(w http.ResponseWriter, name, media string) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Type", media)
}

// stream calls emit with runs of samples.
type stream func(ctx context.Context, emit func([]point.Sample) error) error

// exporter is what samples are exported from: this node's store, or, unless wide is nil, also the nodes
// below.
type exporter struct {
	engine Engine
	wide   Wide
	header http.Header
}

func (s *server) exporter(w http.ResponseWriter, local bool) exporter {
	from := exporter{engine: s.cfg.Engine, header: w.Header()}
	if !local {
		from.wide = s.cfg.Wide
	}
	return from
}

func (e exporter) stream(req query.Request) stream {
	return func(ctx context.Context, emit func([]point.Sample) error) error {
		if e.wide == nil {
			return e.engine.Export(ctx, req, emit)
		}
		return e.wide.Export(ctx, req, e.tell, emit)
	}
}

func (e exporter) parquet(ctx context.Context, req query.Request, file string) error {
	if e.wide == nil {
		_, err := e.engine.ExportParquet(ctx, req, file)
		return err
	}
	sources, err := e.wide.ExportParquet(ctx, req, file)
	e.tell(sources)
	return err
}

// tell writes the sources into the header, before the samples.
func (e exporter) tell(sources []query.Source) {
	if text := shape.SourcesLine(sources); text != "" {
		e.header.Set(answer.SourcesHeader, text)
	}
}

// exportCSV writes CSV; with inert no spreadsheet takes a text for a formula.
func exportCSV(w *patient, r *request, from stream, inert bool) error {
	out := &output{w: w}
	out.buf = append(make([]byte, 0, 2*chunk), "point,time,value,kind,quality\n"...)
	err := from(r.Context(), func(run []point.Sample) error {
		for i := range run {
			out.buf = appendCSV(out.buf, &run[i], inert)
			if err := out.spill(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return out.flush()
}

// exportArrow sends a stream of Arrow, batch by batch.
func exportArrow(w *patient, r *request, from stream) error {
	var out *arrowstream.Writer
	err := from(r.Context(), func(run []point.Sample) error {
		if out == nil {
			out = arrowstream.New(w) // an error before the first sample is still a problem
		}
		return out.Write(run)
	})
	switch {
	case err != nil && out != nil:
		out.Abandon()
		return err
	case err != nil:
		return err
	case out == nil:
		out = arrowstream.New(w)
	}
	return out.Close()
}

// inertText puts an apostrophe before a text that a spreadsheet would take for a formula.
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

// appendField appends a field of CSV as RFC 4180 quotes it. An empty text is quoted, to tell it
// from no value.
func appendField(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",;\t\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// exportParquet lets the store write a file, which is sent and removed.
func (s *server) exportParquet(w *patient, r *request, req query.Request, from exporter) (err error) {
	dir, err := os.MkdirTemp(s.cfg.TempDir, "voltbus-export-")
	if err != nil {
		return fault.E("api.export", fault.Unavailable, "parquet", fmt.Errorf("no room to prepare the file: %w", err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "export.parquet")
	if err := from.parquet(r.Context(), req, name); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return fault.E("api.export", fault.Internal, "parquet", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil {
		w.Header().Set("Content-Length", strconv.FormatInt(info.Size(), 10))
	}
	if _, err := io.CopyBuffer(w, onlyReader{f}, make([]byte, 8*chunk)); err != nil {
		return fault.E("api.export", fault.Canceled, "parquet", err)
	}
	return nil
}

// onlyReader hides the file's way to send itself at once, so that each chunk has its deadline.
type onlyReader struct{ io.Reader }
