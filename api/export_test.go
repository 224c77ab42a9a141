package api

import "slices"

// For the tests of the package's outside.
var (
	ParseTime     = parseTime
	ParseDuration = parseDuration
)

// Operations lists the routes with their parameters.
func Operations() map[string][]string {
	m := map[string][]string{}
	for _, r := range routes() {
		names := append([]string{}, r.params...)
		slices.Sort(names)
		m[r.method+" "+r.path] = names
	}
	return m
}
