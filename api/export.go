package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"voltbus/api/arrowstream"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

var errFormat = errors.New("must be csv, parquet or arrow")

// export sends the samples of a range, however many there are.
func (s *server) export(w http.ResponseWriter, r *request) error {
	if s.cfg.Engine == nil {
		return absent("history")
	}
	in := s.read(r)
	req := in.span()
	format, _ := in.text("format")
	if in.err != nil {
		return in.err
	}
	name := fmt.Sprintf("voltbus-%s-%s", req.From.Format("20060102T150405Z"), req.To.Format("20060102T150405Z"))
	p := s.patient(w)
	defer p.limit() // for what the server writes at the end
	switch format {
	case "", "csv":
		disposition(w, name+".csv", "text/csv; charset=utf-8")
		return s.exportCSV(p, r, req)
	case "arrow":
		disposition(w, name+".arrows", arrowstream.Media)
		return s.exportArrow(p, r, req)
	case "parquet":
		disposition(w, name+".parquet", "application/vnd.apache.parquet")
		return s.exportParquet(p, r, req)
	}
	return fault.E("api.query", fault.Invalid, "format", errFormat)
}

func disposition(w http.ResponseWriter, name, media string) {
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("Content-Type", media)
}

func (s *server) exportCSV(w *patient, r *request, req query.Request) error {
	out := &output{w: w}
	out.buf = append(make([]byte, 0, 2*chunk), "point,time,value,kind,quality\n"...)
	err := s.cfg.Engine.Export(r.Context(), req, func(run []point.Sample) error {
		for i := range run {
			out.buf = appendCSV(out.buf, &run[i])
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
func (s *server) exportArrow(w *patient, r *request, req query.Request) error {
	var out *arrowstream.Writer
	err := s.cfg.Engine.Export(r.Context(), req, func(run []point.Sample) error {
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

func appendCSV(dst []byte, s *point.Sample) []byte {
	dst = appendField(dst, string(s.Point))
	dst = append(dst, ',')
	dst = s.Time.UTC().AppendFormat(dst, timeFormat)
	dst = append(dst, ',')
	switch s.Value.Kind() {
	case point.Text:
		dst = appendField(dst, s.Value.Text())
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
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}

// exportParquet lets the store write a file, which is sent and removed.
func (s *server) exportParquet(w *patient, r *request, req query.Request) (err error) {
	dir, err := os.MkdirTemp(s.cfg.TempDir, "voltbus-export-")
	if err != nil {
		return fault.E("api.export", fault.Unavailable, "parquet", fmt.Errorf("no room to prepare the file: %w", err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	name := filepath.Join(dir, "export.parquet")
	if _, err := s.cfg.Engine.ExportParquet(r.Context(), req, name); err != nil {
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
