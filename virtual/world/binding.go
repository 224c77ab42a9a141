package world

import (
	"fmt"
	"path"
	"strings"

	"voltbus/virtual/model"
)

// binding is what an input gets: a number, or the sum of outputs.
type binding struct {
	input    int
	constant float64
	refs     []ref
	from     []output // what the references found
}

// ref names an output of a model.
type ref struct{ site, model, output string }

// output is an output of a model that was found.
type output struct {
	model  *model.Model
	number int
}

func (r ref) String() string {
	if r.site != "" {
		return r.site + "/" + r.model + "." + r.output
	}
	return r.model + "." + r.output
}

// parseBinding reads what a file says of an input; nil is a binding to nothing.
func parseBinding(in any) (binding, error) {
	switch v := in.(type) {
	case nil:
		return binding{}, nil
	case int64:
		return binding{constant: float64(v)}, nil
	case float64:
		return binding{constant: v}, nil
	case string:
		r, err := parseRef(v)
		return binding{refs: []ref{r}}, err
	case []any:
		var b binding
		for _, one := range v {
			text, _ := one.(string)
			r, err := parseRef(text)
			if err != nil {
				return b, err
			}
			b.refs = append(b.refs, r)
		}
		return b, nil
	}
	return binding{}, fmt.Errorf("%v: write a number, an output such as weather.temp, or a list of outputs to add", in)
}

func parseRef(text string) (ref, error) {
	site, rest, found := strings.Cut(text, "/")
	if !found {
		site, rest = "", text
	}
	m, out, ok := strings.Cut(rest, ".")
	if !ok || m == "" || out == "" || found && site == "" {
		return ref{}, fmt.Errorf("%q: write model.output of this site, or site/model.output", text)
	}
	if _, err := path.Match(site, ""); err != nil {
		return ref{}, fmt.Errorf("%q: %q is no pattern of sites", text, site)
	}
	return ref{site, m, out}, nil
}

// value returns what the input gets now.
func (b *binding) value() float64 {
	sum := b.constant
	for _, o := range b.from {
		sum += o.model.Out(o.number)
	}
	return sum
}
