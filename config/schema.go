package config

import _ "embed"

//go:embed schema.json
var schemaText []byte

// Schema returns the JSON Schema (2020-12) of the file, with the sections of all drivers.
func Schema() []byte { return append([]byte(nil), schemaText...) }
