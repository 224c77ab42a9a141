// Package report writes the results of a run: result.json for programs, and report.html for people, one self-contained file without
// scripts.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // for the style
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"voltbus/fault"
	"voltbus/lab/experiment"
)

// The files of a run.
const (
	ResultFile = "result.json"
	PageFile   = "report.html"
)

//go:embed style.css
var style string

// Policy is the content security policy under which the page works: its own style, and nothing else.
func Policy() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
}

// Write writes both files into a directory that is there.
func Write(dir string, r *experiment.Result) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fault.E("report.Write", fault.Internal, r.Experiment, err)
	}
	var html bytes.Buffer
	if err := HTML(&html, r); err != nil {
		return err
	}
	for name, content := range map[string][]byte{ResultFile: append(data, '\n'), PageFile: html.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return fault.E("report.Write", fault.Unavailable, dir, err)
		}
	}
	return nil
}

// largest bounds a result that is read.
const largest = 64 << 20

// Read reads the result of a run's directory. It fails with fault.NotFound if there is none, and
// with fault.Corrupt if it is none.
func Read(dir string) (*experiment.Result, error) {
	file := filepath.Join(dir, ResultFile)
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fault.E("report.Read", fault.NotFound, dir, errors.New("holds no result of a lab run"))
	}
	if err != nil {
		return nil, fault.E("report.Read", fault.Unavailable, file, err)
	}
	defer f.Close()
	var r experiment.Result
	if err := json.NewDecoder(io.LimitReader(f, largest)).Decode(&r); err != nil {
		return nil, fault.E("report.Read", fault.Corrupt, file, err)
	}
	if r.Format != experiment.Format {
		return nil, fault.E("report.Read", fault.Corrupt, file,
			fmt.Errorf("has the format %.40q; this program reads %q", r.Format, experiment.Format))
	}
	return &r, nil
}

// HTML writes the page.
func HTML(w io.Writer, r *experiment.Result) error {
	var p page
	p.write(newView(r))
	if _, err := io.WriteString(w, p.String()); err != nil {
		return fault.E("report.HTML", fault.Unavailable, r.Experiment, err)
	}
	return nil
}

// Bytes writes bytes for people.
func Bytes(n uint64) string {
	const step = 1024
	v, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= step && unit < len(units)-1 {
		v /= step
		unit++
	}
	return experiment.Round(v) + " " + units[unit]
}
