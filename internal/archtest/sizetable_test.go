package archtest

// What is larger than it may be, and is put up with until it is made smaller. Numbers here only fall.
var (
	manyMethods = map[string]int{}
	manyLines   = map[string]int{}
	manyImports = map[string]int{
		"cmd/voltbus": 30,
		"node":        82,
	}
)
