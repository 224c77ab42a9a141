package docs

// oldWords counts the expressions that parts of the repository still have. Numbers here only fall.
var oldWords = map[string]int{
	"api":            18,
	"control":        1,
	"docs/formats":   2,
	"docs/reference": 1,
	"fragments":      2,
	"lab":            8,
	"meter":          6,
	"operation":      9,
	"service":        1,
	"store":          13,
	"uplink":         3,
}
