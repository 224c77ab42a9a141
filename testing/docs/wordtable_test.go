package docs

// oldWords counts the expressions that parts of the repository still have. Numbers here only fall.
var oldWords = map[string]int{
	"api":            17,
	"bench":          15,
	"control":        1,
	"docs/reference": 1,
	"fragments":      2,
	"lab":            8,
	"meter":          6,
	"operation":      8,
	"service":        1,
	"store":          12,
	"uplink":         3,
}
