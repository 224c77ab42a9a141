package config

import _ "embed"

//go:embed template.yaml
var templateText []byte

//go:embed schema.json
var schemaText []byte

// Template returns a configuration to start from: every section with its defaults and a comment, and devices to copy.
func Template() []byte { return append([]byte(nil), templateText...) }

// Schema returns the JSON Schema (2020-12) of the file, with the sections of all drivers.
func Schema() []byte { return append([]byte(nil), schemaText...) }
