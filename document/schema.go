package document

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"voltbus/fault"
)

const maxProblems = 100

// nothing loads no other schemas: a schema says all by itself.
type nothing struct{}

var errLoad = errors.New("refers to another schema, which is not loaded; put what it needs under $defs")

// Load implements jsonschema.URLLoader.
func (nothing) Load(string) (any, error) { return nil, errLoad }

// compile reads a schema.
func compile(text string) (*jsonschema.Schema, error) {
	tree, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, fault.E("document.SetSchema", fault.Invalid, "schema", fmt.Errorf("is not JSON: %w", err))
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.AssertFormat()
	const name = "urn:voltbus:document"
	if err := c.AddResource(name, tree); err != nil {
		return nil, fault.E("document.SetSchema", fault.Invalid, "schema", err)
	}
	s, err := c.Compile(name)
	if err != nil {
		return nil, fault.E("document.SetSchema", fault.Invalid, "schema", fmt.Errorf("is not a JSON Schema: %w", err))
	}
	return s, nil
}

// judge returns all that is wrong with a value by a schema, in the order of the text.
func judge(s *jsonschema.Schema, value any, p *parsed) Problems {
	err := s.Validate(value)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return Problems{{Text: err.Error()}}
	}
	var list Problems
	printer := message.NewPrinter(language.English)
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			walk(cause)
		}
		if len(e.Causes) > 0 {
			return
		}
		list = append(list, Problem{
			Line: p.line(e.InstanceLocation), Path: strings.Join(e.InstanceLocation, "."), Text: e.ErrorKind.LocalizedString(printer),
		})
	}
	walk(failed)
	slices.SortStableFunc(list, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Text, b.Text))
	})
	list = slices.Compact(list)
	return list[:min(len(list), maxProblems)]
}
