package journal

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Entry is one line. Its strings come from the process and are untrusted.
type Entry struct {
	Time    time.Time      `json:"time"`
	Level   string         `json:"level"` // debug, info, warning, error or critical
	Stream  string         `json:"stream"`
	Logger  string         `json:"logger,omitempty"`
	Message string         `json:"message"`
	Extra   map[string]any `json:"extra,omitempty"`
}

// levelNames are the levels in ascending severity.
var levelNames = []string{"debug", "info", "warning", "error", "critical"}

// Level returns the severity of a named level, from 0, and false for an unknown one.
func Level(name string) (int, bool) {
	name = strings.ToLower(name)
	switch name {
	case "warn":
		name = "warning"
	case "fatal":
		name = "critical"
	}
	for i, n := range levelNames {
		if n == name {
			return i, true
		}
	}
	return 1, false
}

// Parse reads a line that a process printed: JSON as the SDK writes it, or text, whose entry has no level.
// now is its time unless it contains one.
func Parse(line []byte, now time.Time) Entry {
	e := Entry{Time: now.UTC()}
	if e.readJSON(line) {
		return e
	}
	e.Message = strings.ToValidUTF8(string(bytes.TrimRight(line, "\r")), string(utf8.RuneError))
	return e
}

func (e *Entry) readJSON(line []byte) bool {
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
		return false
	}
	var fields map[string]any
	if json.Unmarshal(line, &fields) != nil {
		return false
	}
	message, ok := fields["message"].(string)
	if !ok {
		return false
	}
	e.Message = message
	e.Logger, _ = fields["logger"].(string)
	if name, _ := fields["level"].(string); name != "" {
		n, _ := Level(name)
		e.Level = levelNames[n]
	}
	if text, _ := fields["time"].(string); text != "" {
		if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
			e.Time = t.UTC()
		}
	}
	for _, known := range []string{"message", "logger", "level", "time"} {
		delete(fields, known)
	}
	if len(fields) > 0 {
		e.Extra = fields
	}
	return true
}
