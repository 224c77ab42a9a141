package docs

// oldWords counts the expressions that parts of the repository still have. Numbers here only fall.
var oldWords = map[string]int{
	"CHANGELOG.md":   10,
	"api":            18,
	"control":        1,
	"docs/formats":   1,
	"docs/reference": 13,
	"fragments":      2,
	"lab":            8,
	"meter":          6,
	"operation":      8,
	"service":        1,
	"store":          13,
	"uplink":         3,
}
