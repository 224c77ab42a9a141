package python

import (
	"archive/zip"
	"bytes"
	"errors"
	"testing"
	"testing/fstest"
)

func TestWithoutTheWheelItIsSaidHowToGetIt(t *testing.T) {
	_, _, err := wheel(fstest.MapFS{"dist/.gitkeep": {}})
	if !errors.Is(err, ErrNotBuilt) {
		t.Errorf("got %v", err)
	}
}

func TestTheWheelIsFound(t *testing.T) {
	name, content, err := wheel(fstest.MapFS{"dist/voltbus-1-py3-none-any.whl": {Data: []byte("x")}})
	if err != nil || name != "voltbus-1-py3-none-any.whl" || string(content) != "x" {
		t.Errorf("got %q, %q, %v", name, content, err)
	}
}

func TestTheWheelInTheProgramHoldsTheSDK(t *testing.T) {
	name, content, err := Wheel()
	if errors.Is(err, ErrNotBuilt) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(content) > 200<<10 {
		t.Errorf("%s has %d bytes, which is much for the lines that agents are installed over", name, len(content))
	}
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, want := range []string{"voltbus/__init__.py", "voltbus/__main__.py", "voltbus/testing/__init__.py", "voltbus/py.typed"} {
		if _, err := archive.Open(want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
