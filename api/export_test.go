package api

import (
	"slices"
	"strings"
)

// Operations lists the routes with their parameters, those of the path among them.
func Parameters() map[string][]string {
	m := map[string][]string{}
	for _, r := range (&server{}).routes() {
		names := append([]string{}, r.Params...)
		for segment := range strings.SplitSeq(r.Path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				names = append(names, strings.TrimSuffix(name, "}"))
			}
		}
		slices.Sort(names)
		m[r.Method+" "+r.Path] = names
	}
	return m
}

// Undeclared lists the routes that no operation declares.
func Undeclared() (list []string) {
	for _, r := range (&server{}).routes() {
		if r.Declared == nil {
			list = append(list, r.Method+" "+r.Path)
		}
	}
	return list
}
