package live

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"voltbus/point"
	"voltbus/wire"
)

// The keys of a live message that name what it is about.
const (
	deviceKey = "device"
	pointKey  = "point"
)

var (
	errBody  = errors.New("is no JSON object on one line")
	errAbout = errors.New("says that it is about something else than its subject")
)

// about returns why a live message is not about a path: every reader must find that path, and nothing else,
// under the key.
func about(data []byte, key string, path point.Path) error {
	if bytes.ContainsAny(data, "\r\n") || !json.Valid(data) {
		return errBody
	}
	found := 0
	err := members(data, func(name, value []byte) error {
		var text, said string
		if json.Unmarshal(name, &text) != nil {
			return errBody
		}
		if !strings.EqualFold(text, key) {
			return nil
		}
		found++
		if text != key || json.Unmarshal(value, &said) != nil || said != string(path) {
			return fmt.Errorf("%w: %.80q", errAbout, value)
		}
		return nil
	})
	if err == nil && found != 1 {
		err = errAbout
	}
	return err
}

// members calls each with the name and the value of every member of a valid JSON object, as written.
func members(data []byte, each func(name, value []byte) error) error {
	at := skip(data, 0)
	if at >= len(data) || data[at] != '{' {
		return errBody
	}
	at = skip(data, at+1)
	for at < len(data) && data[at] != '}' {
		end := valueEnd(data, at)
		name := data[at:end]
		begin := skip(data, skip(data, end)+1) // after the colon
		if begin > len(data) {
			return errBody
		}
		end = valueEnd(data, begin)
		if err := each(name, data[begin:end]); err != nil {
			return err
		}
		if at = skip(data, end); at < len(data) && data[at] == ',' {
			at = skip(data, at+1)
		}
	}
	return nil
}

// skip returns the index of the next character other than white space.
func skip(data []byte, at int) int {
	for at < len(data) && (data[at] == ' ' || data[at] == '\t') {
		at++
	}
	return at
}

// valueEnd returns the end of the value that begins at an index.
func valueEnd(data []byte, at int) int {
	depth, text := 0, false
	for ; at < len(data); at++ {
		switch c := data[at]; {
		case text && c == '\\':
			at++
		case c == '"':
			if text = !text; !text && depth == 0 {
				return at + 1
			}
		case text:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return at
			}
			if depth--; depth == 0 {
				return at + 1
			}
		case depth == 0 && (c == ',' || c == ':' || c == ' ' || c == '\t'):
			return at
		}
	}
	return at
}

// rename returns a live message with another path under the key.
func rename(data []byte, key string, from, to point.Path) ([]byte, error) {
	if from == to {
		return data, nil
	}
	head := point.AppendQuoted(append([]byte{'{', '"'}, key+`":`...), from)
	if rest, found := bytes.CutPrefix(data, head); found && len(rest) > 0 && (rest[0] == ',' || rest[0] == '}') {
		out := make([]byte, 0, len(data)+len(to)-len(from)+16)
		out = point.AppendQuoted(append(append(out, '{', '"'), key+`":`...), to)
		return append(out, rest...), nil
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("read a live message: %w", err)
	}
	for name := range all {
		if strings.EqualFold(name, key) {
			delete(all, name)
		}
	}
	all[key] = point.AppendQuoted(nil, to)
	out, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("write a live message: %w", err)
	}
	return out, nil
}

// scan is a live message of a device, whose values are kept as raw JSON.
type scan struct {
	Device  point.Path                 `json:"device"`
	Time    json.RawMessage            `json:"time"`
	Slot    json.RawMessage            `json:"slot,omitempty"`
	Points  map[string]json.RawMessage `json:"points"`
	Quality map[string]json.RawMessage `json:"quality,omitempty"`
	Times   map[string]json.RawMessage `json:"times,omitempty"`
}

// split divides a scan according to where its points are placed.
func split(data []byte, where func(point.Path) point.Path) ([]Message, error) {
	var whole scan
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, fmt.Errorf("read a live message: %w", err)
	}
	device := where(whole.Device)
	pieces := map[point.Path]*scan{}
	for name, value := range whole.Points {
		to := where(whole.Device.Join(name))
		at, as := to.Parent(), to.Name()
		if rest, inside := strings.CutPrefix(string(to), string(device)+"/"); inside {
			at, as = device, rest
		}
		if at == "" {
			continue // a point without a device has no scan
		}
		piece := pieces[at]
		if piece == nil {
			piece = &scan{
				Device: at, Time: whole.Time, Slot: whole.Slot,
				Points: map[string]json.RawMessage{}, Quality: map[string]json.RawMessage{}, Times: map[string]json.RawMessage{},
			}
			pieces[at] = piece
		}
		piece.Points[as] = value
		if q, has := whole.Quality[name]; has {
			piece.Quality[as] = q
		}
		if t, has := whole.Times[name]; has {
			piece.Times[as] = t
		}
	}
	var out []Message
	for at, piece := range pieces {
		body, err := json.Marshal(piece)
		if err != nil {
			return nil, fmt.Errorf("write a live message: %w", err)
		}
		out = append(out, Message{Subject: wire.Subject(wire.ScanPrefix, at), Data: body})
	}
	return out, nil
}
