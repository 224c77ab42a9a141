package api

import (
	"net/url"
	"strings"

	"voltbus/api/exchange"
)

// routing finds routes by path. It is immutable once index has built it.
type routing struct {
	exact map[string][]exchange.Route // paths without braces
	forms []form                      // paths with braces, in the order of the table
}

// form is a path with braces and its operations.
type form struct {
	path     string
	segments []string
	routes   []exchange.Route
}

func index(list []exchange.Route) *routing {
	t := &routing{exact: make(map[string][]exchange.Route)}
	at := make(map[string]int)
	for _, r := range list {
		if !strings.Contains(r.Path, "{") {
			t.exact[r.Path] = append(t.exact[r.Path], r)
			continue
		}
		i, ok := at[r.Path]
		if !ok {
			i = len(t.forms)
			at[r.Path] = i
			t.forms = append(t.forms, form{path: r.Path, segments: strings.Split(r.Path, "/")})
		}
		t.forms[i].routes = append(t.forms[i].routes, r)
	}
	return t
}

// lookup returns the operations on a path as it stands in the request, still escaped, and the
// values of its braces. A path without braces wins over one with braces, and the first among those.
// An escaped slash belongs to its segment; an empty segment matches no brace.
func (t *routing) lookup(escaped string) ([]exchange.Route, map[string]string) {
	if list, ok := t.exact[escaped]; ok {
		return list, nil
	}
	segments := strings.Split(escaped, "/")
	for i := range t.forms {
		if values, ok := t.forms[i].match(segments); ok {
			return t.forms[i].routes, values
		}
	}
	return nil, nil
}

func (f *form) match(segments []string) (map[string]string, bool) {
	if len(segments) != len(f.segments) {
		return nil, false
	}
	values := make(map[string]string, 1)
	for i, want := range f.segments {
		got, err := url.PathUnescape(segments[i])
		if err != nil {
			return nil, false
		}
		name, ok := strings.CutPrefix(want, "{")
		switch {
		case ok && got != "":
			values[strings.TrimSuffix(name, "}")] = got
		case ok || got != want:
			return nil, false
		}
	}
	return values, true
}
