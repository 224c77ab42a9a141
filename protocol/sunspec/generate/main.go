// Command generate packs the JSON definitions of SunSpec's models, as the Python package pysunspec2 contains them, into one compressed
// file.
//
//	go run ./protocol/sunspec/generate .venv/lib/python3*/site-packages/sunspec2/models/json
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"voltbus/protocol/sunspec"
)

const target = "protocol/sunspec/definitions/models.json.gz"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("name the folder of the definitions, such as .venv/lib/python3.11/site-packages/sunspec2/models/json")
	}
	files, err := filepath.Glob(filepath.Join(args[0], "model_*.json"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("%s has no files model_*.json (%w)", args[0], err)
	}
	var models []sunspec.Model
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var m sunspec.Model
		if err := json.Unmarshal(text, &m); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		models = append(models, m)
	}
	slices.SortFunc(models, func(a, b sunspec.Model) int { return cmp.Compare(a.ID, b.ID) })
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is one
	if err := json.NewEncoder(w).Encode(models); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(target, packed.Bytes(), 0o644)
}
