package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"voltbus/point"
)

// Tuple is a sample of a Series: [milliseconds since 1970, value], and the quality behind them if it is not good.
type Tuple struct {
	Millis  float64 // with microseconds as decimals
	Value   json.RawMessage
	Quality string // "" for good
}

// Time returns the sample's time in UTC.
func (t Tuple) Time() time.Time { return time.UnixMicro(int64(math.Round(t.Millis * 1000))).UTC() }

// MarshalJSON implements json.Marshaler.
func (t Tuple) MarshalJSON() ([]byte, error) {
	if t.Quality == "" {
		return json.Marshal([]any{t.Millis, t.Value})
	}
	return json.Marshal([]any{t.Millis, t.Value, t.Quality})
}

var errTuple = errors.New("a sample must be [milliseconds, value] or [milliseconds, value, quality]")

// UnmarshalJSON implements json.Unmarshaler.
func (t *Tuple) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil || len(parts) < 2 || len(parts) > 3 {
		return errTuple
	}
	if err := json.Unmarshal(parts[0], &t.Millis); err != nil {
		return errTuple
	}
	t.Value, t.Quality = parts[1], ""
	if len(parts) == 3 {
		if err := json.Unmarshal(parts[2], &t.Quality); err != nil {
			return errTuple
		}
	}
	return nil
}

// AppendTuple appends a sample as a Tuple.
func AppendTuple(dst []byte, s *point.Sample) []byte {
	micros := s.Time.UnixMicro()
	dst = append(dst, '[')
	if micros%1000 == 0 {
		dst = strconv.AppendInt(dst, micros/1000, 10)
	} else {
		dst = strconv.AppendFloat(dst, float64(micros)/1000, 'f', -1, 64)
	}
	dst = append(dst, ',')
	dst = s.Value.AppendJSON(dst)
	if s.Quality != point.Good {
		dst = append(dst, ',')
		dst = point.AppendQuoted(dst, s.Quality.String())
	}
	return append(dst, ']')
}

// ParseValue decodes a value of the kind with a name. For an unknown one or "none" the JSON decides: whole numbers that fit are integers.
func ParseValue(kind string, raw json.RawMessage) (point.Value, error) {
	text := string(raw)
	switch {
	case text == "null" || text == "":
		return point.Value{}, nil
	case text == "true" || text == "false":
		return point.BoolOf(text == "true"), nil
	case text[0] == '"':
		return parseText(kind, raw)
	}
	if kind != "float" && !strings.ContainsAny(text, ".eE") {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return point.IntOf(n), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return point.Value{}, fmt.Errorf("read the value %.40q: %w", text, err)
	}
	return point.FloatOf(f), nil
}

// parseText decodes a string, or a value that JSON cannot write as a number.
func parseText(kind string, raw json.RawMessage) (point.Value, error) {
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return point.Value{}, fmt.Errorf("read the value %.40q: %w", raw, err)
	}
	if kind == "float" {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return point.FloatOf(f), nil
		}
	}
	return point.TextOf(s), nil
}
