package api

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/api/exchange"
)

func TestPathsFindTheirRoutes(t *testing.T) {
	table := index([]exchange.Route{
		{Method: "GET", Path: "/runs"},
		{Method: "POST", Path: "/runs"},
		{Method: "GET", Path: "/runs/{id}"},
		{Method: "DELETE", Path: "/runs/{id}"},
		{Method: "GET", Path: "/runs/newest"},
		{Method: "GET", Path: "/runs/{id}/report"},
	})
	for name, tt := range map[string]struct {
		path   string
		want   string
		routes int
		values map[string]string
	}{
		"a path without braces":                 {"/runs", "/runs", 2, nil},
		"a path with a brace":                   {"/runs/7", "/runs/{id}", 2, map[string]string{"id": "7"}},
		"a brace in the middle":                 {"/runs/7/report", "/runs/{id}/report", 1, map[string]string{"id": "7"}},
		"what has its own path wins":            {"/runs/newest", "/runs/newest", 1, nil},
		"an escaped text is read":               {"/runs/a%20%C3%BC", "/runs/{id}", 2, map[string]string{"id": "a ü"}},
		"an escaped slash belongs to its part":  {"/runs/a%2Fb", "/runs/{id}", 2, map[string]string{"id": "a/b"}},
		"dots are text":                         {"/runs/..", "/runs/{id}", 2, map[string]string{"id": ".."}},
		"an empty part is none":                 {"/runs/", "", 0, nil},
		"an empty part in the middle is none":   {"/runs//report", "", 0, nil},
		"too many parts":                        {"/runs/7/report/8", "", 0, nil},
		"an unknown path":                       {"/rums", "", 0, nil},
		"what cannot be unescaped is not there": {"/runs/%zz", "", 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			list, values := table.lookup(tt.path)
			if len(list) != tt.routes {
				t.Fatalf("%d routes, want %d", len(list), tt.routes)
			}
			if len(list) > 0 && list[0].Path != tt.want {
				t.Errorf("path %s, want %s", list[0].Path, tt.want)
			}
			if diff := cmp.Diff(tt.values, values); diff != "" {
				t.Error("values (-want +got):\n" + diff)
			}
		})
	}
}
