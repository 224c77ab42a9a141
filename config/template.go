package config

import _ "embed"

//go:embed template.yaml
var templateText []byte

// Template returns a configuration to start from: every section with its defaults and a comment, and devices
// to copy.
func Template() []byte { return append([]byte(nil), templateText...) }
