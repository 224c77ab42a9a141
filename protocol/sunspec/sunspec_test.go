package sunspec_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/sunspec"
	"voltbus/testing/peers"
)

func TestDefinitionsAreThosePublished(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(peers.SunSpecDefinitions(t), "model_*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("there are %d definitions, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var want sunspec.Model
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		got, err := sunspec.Definition(want.ID)
		if err != nil || got == nil {
			t.Errorf("model %d is not there (%v); run go run ./protocol/sunspec/generate", want.ID, err)
			continue
		}
		if d := cmp.Diff(&want, got); d != "" {
			t.Errorf("model %d is not as published; run go run ./protocol/sunspec/generate: %s", want.ID, d)
		}
	}
}

// memory answers reads from a map that begins at an address; others are refused.
type memory struct {
	base  int
	words []uint16
}

var errAddress = errors.New("illegal data address")

func (m memory) read(_ context.Context, address, count uint16) ([]uint16, error) {
	from := int(address) - m.base
	if from < 0 || from+int(count) > len(m.words) {
		return nil, errAddress
	}
	return m.words[from : from+int(count)], nil
}

func isAddress(err error) bool { return errors.Is(err, errAddress) }

func TestTheMapIsFoundAtEachBase(t *testing.T) {
	words := []uint16{0x5375, 0x6e53, 64999, 1, 7, 0xffff, 0}
	for _, base := range sunspec.Bases() {
		found, err := sunspec.Scan(t.Context(), memory{int(base), words}.read, isAddress)
		if err != nil || len(found) != 1 || found[0].Address != base+2 || found[0].Model != nil || len(found[0].Points()) != 0 {
			t.Errorf("at %d there is %+v, %v", base, found, err)
		}
	}
}

func TestMapsThatAreWrongAreRefused(t *testing.T) {
	endless := []uint16{0x5375, 0x6e53}
	for range 300 {
		endless = append(endless, 64999, 1, 7)
	}
	for name, c := range map[string]struct {
		m    memory
		want string
	}{
		"no marker":        {memory{40000, []uint16{1, 2, 3}}, "no SunSpec map"},
		"nothing there":    {memory{100, nil}, "no SunSpec map"},
		"no end":           {memory{40000, endless}, "more than 256 models"},
		"beyond the map":   {memory{40000, []uint16{0x5375, 0x6e53, 1, 66, 1}}, "read the model 1 at 40002"},
		"beyond addresses": {memory{40000, []uint16{0x5375, 0x6e53, 1, 0xfffe}}, "beyond the last one"},
		"cut in a header":  {memory{40000, []uint16{0x5375, 0x6e53, 1}}, "read the model at 40002"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := sunspec.Scan(t.Context(), c.m.read, isAddress); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want …%s…", err, c.want)
			}
		})
	}
	lost := errors.New("connection lost")
	if _, err := sunspec.Scan(t.Context(), func(context.Context, uint16, uint16) ([]uint16, error) { return nil, lost }, isAddress); !errors.Is(err, lost) {
		t.Errorf("a lost connection gives %v", err)
	}
}

// Whatever registers a model has, its points lie within them and have different paths.
func FuzzPoints(f *testing.F) {
	for _, id := range []uint16{1, 103, 160, 704, 705, 712, 803} {
		f.Add(id, []byte{0, 3, 0, 2, 0xff, 0xff, 0, 9})
	}
	f.Fuzz(func(t *testing.T, id uint16, data []byte) {
		m, err := sunspec.Definition(id)
		if err != nil || m == nil || len(data) > 1<<15 {
			return
		}
		found := sunspec.Found{ID: id, Address: 100, Words: []uint16{id, uint16(len(data) / 2)}, Model: m}
		for i := 0; i+1 < len(data); i += 2 {
			found.Words = append(found.Words, uint16(data[i])<<8|uint16(data[i+1]))
		}
		seen := map[string]bool{}
		for _, p := range found.Points() {
			at := int(p.Address) - 100
			if seen[p.Path] || at < 0 || at+len(p.Words) > len(found.Words) || len(p.Words) != p.Size {
				t.Fatalf("model %d: %s at %d has %d registers of %d", id, p.Path, at, len(p.Words), len(found.Words))
			}
			seen[p.Path] = true
			p.Implemented()
		}
	})
}
