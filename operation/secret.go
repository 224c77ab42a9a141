package operation

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// hidden replaces a secret.
const hidden = `"(hidden)"`

// SecretName reports whether the value of this name is probably a secret.
func SecretName(name string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
	words := []string{"password", "passwd", "passphrase", "secret", "token", "credential", "apikey", "privatekey"}
	return plain == "pin" || plain == "seed" || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(plain, word) })
}

// withoutSecrets hides the fields within a value whose names are those of secrets.
func withoutSecrets(value json.RawMessage) json.RawMessage {
	if !bytes.ContainsRune(value, '{') {
		return value
	}
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber() // numbers stay as they were written
	var v any
	if decoder.Decode(&v) != nil {
		return json.RawMessage(hidden)
	}
	hide(v)
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(hidden)
	}
	return out
}

func hide(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hide(e)
		}
	case map[string]any:
		for name, e := range v {
			if hide(e); SecretName(name) {
				v[name] = json.RawMessage(hidden)
			}
		}
	}
}

// mostArguments is how many bytes of a call's arguments the audit log keeps.
const mostArguments = 4096

// AuditedArguments returns the arguments of a call for the audit log: without fields whose names are those of secrets.
func AuditedArguments(args []json.RawMessage, kwargs map[string]json.RawMessage) any {
	detail := struct {
		Args   []json.RawMessage          `json:"args,omitempty"`
		Kwargs map[string]json.RawMessage `json:"kwargs,omitempty"`
	}{make([]json.RawMessage, len(args)), make(map[string]json.RawMessage, len(kwargs))}
	for i, arg := range args {
		detail.Args[i] = withoutSecrets(arg)
	}
	for name, arg := range kwargs {
		if detail.Kwargs[name] = withoutSecrets(arg); SecretName(name) {
			detail.Kwargs[name] = json.RawMessage(hidden)
		}
	}
	if b, err := json.Marshal(detail); err != nil || len(b) > mostArguments {
		return map[string]any{"args_bytes": len(b)}
	}
	return detail
}
