package dispatch_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/point"
)

// busDocument returns the document of the bus as package json reads it.
func busDocument(t *testing.T) any {
	t.Helper()
	text, err := os.ReadFile("../../docs/formats/asyncapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var raw any
	if err := yaml.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	j, err := json.Marshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(j))
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// declared returns the constants of a type of package control, sorted.
func declared(t *testing.T, name string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../decision.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != name {
			return true
		}
		for _, v := range spec.Values {
			if lit, ok := v.(*ast.BasicLit); ok {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, text)
			}
		}
		return true
	})
	slices.Sort(values)
	return values
}

func TestTheDocumentOfTheBusNamesAllEventsAndCauses(t *testing.T) {
	var d struct {
		Components struct {
			Schemas struct {
				Control struct {
					Properties map[string]struct {
						Enum []string `json:"enum"`
					} `json:"properties"`
				} `json:"control"`
			} `json:"schemas"`
		} `json:"components"`
	}
	j, err := json.Marshal(busDocument(t))
	if err == nil {
		err = json.Unmarshal(j, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	for property, name := range map[string]string{"kind": "EventKind", "cause": "Cause"} {
		want, got := declared(t, name), d.Components.Schemas.Control.Properties[property].Enum
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
			t.Errorf("%s (-node +document):\n%s", property, diff)
		}
	}
}

// Whatever happens to a point, what is said of it on the bus has the shape of the document.
func TestWhatIsSaidOfCommandsFitsTheDocumentOfTheBus(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft7)
	c.AssertFormat()
	err := c.AddResource("asyncapi.json", busDocument(t))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("asyncapi.json#/components/schemas/control")
	if err != nil {
		t.Fatal(err)
	}
	scanning(t, 1, func(t *testing.T, s *site) {
		defer s.start().stop()
		w := s.Watch(1000)
		defer w.Close()
		muchHappens(t, s)
		var seen []control.EventKind
		for len(w.C) > 0 {
			for _, e := range <-w.C {
				m := dispatch.MessageOf(&e)
				v, err := jsonschema.UnmarshalJSON(bytes.NewReader(m.JSON()))
				if err == nil {
					err = schema.Validate(v)
				}
				if err != nil {
					t.Errorf("%s does not fit: %v", m.JSON(), err)
				}
				seen = append(seen, e.Kind)
			}
		}
		for _, kind := range []control.EventKind{
			control.CommandStarted, control.CommandEnded, control.CommandRestored, control.WriteConfirmed, control.WriteFailed, control.Mismatched,
			control.MismatchEnded, control.TaskMade, control.TaskEnded, control.WindowStarted, control.WindowEnded, control.OverrideStarted, control.OverrideEnded,
		} {
			if !slices.Contains(seen, kind) {
				t.Errorf("%s did not happen, only %v", kind, seen)
			}
		}
	})
}

// muchHappens has a command win, lose its value and get it back, be refused by the device, reserved, and overridden.
func muchHappens(t *testing.T, s *site) {
	t.Helper()
	s.set(wish("tune", "b/d0/sp", 22))
	pass(15 * time.Second)
	s.plant.turn("b/d0/sp", 25)
	pass(15 * time.Second)
	s.plant.turn("b/d0/sp", 22)
	pass(15 * time.Second)
	s.plant.disturb(func(_ context.Context, path point.Path, write bool) error {
		if write {
			return fault.E("plant", fault.Rejected, string(path), errors.New("illegal value"))
		}
		return nil
	})
	s.set(wish("tune", "b/d0/sp", 29))
	s.plant.disturb(nil)
	_, err := s.Reserve(t.Context(), control.Reservation{
		ID: "r", Requester: "agent:tune", Task: "night", Priority: control.Low, Windows: []control.Window{{Path: "b/d0", From: time.Now(), Until: time.Now().Add(time.Hour)}},
	})
	s.must(err)
	pass(time.Second)
	_, err = s.Cancel(t.Context(), "agent:tune", "night", "")
	s.must(err)
	_, err = s.Override(t.Context(), control.Override{ID: "o", Pattern: "b/d0/*", Requester: "person:ada", Reason: "service", Failsafe: true})
	s.must(err)
	pass(time.Second)
	_, err = s.ClearOverride(t.Context(), "b/d0/*", "person:ada")
	s.must(err)
	pass(time.Second)
}
