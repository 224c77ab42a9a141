package api

import (
	"slices"
	"strings"
)

// Operations lists the routes with their parameters, those of the path among them.
func Parameters() map[string][]string {
	m := map[string][]string{}
	for _, r := range routes() {
		names := append([]string{}, r.params...)
		for segment := range strings.SplitSeq(r.path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				names = append(names, strings.TrimSuffix(name, "}"))
			}
		}
		slices.Sort(names)
		m[r.method+" "+r.path] = names
	}
	return m
}
