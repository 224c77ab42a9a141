package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"voltbus/point"
)

// timeFormat is RFC 3339 with microseconds, always in UTC.
const timeFormat = "2006-01-02T15:04:05.000000Z"

// AppendTime appends t as RFC 3339 in UTC with six digits, quoted.
func AppendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = t.UTC().AppendFormat(dst, timeFormat)
	return append(dst, '"')
}

// AppendScan appends the live message of a scan:
//
//	{"device":"campus/b1/ahu1","time":"2026-01-02T03:04:05.000123Z","slot":"2026-01-02T03:04:05.000000Z",
//	 "points":{"supply_temp":18.2,"fan":true,"mode":null},"quality":{"mode":"bad(timeout)"}}
//
// "slot" is left out if no schedule asked for the scan, "quality" names only what is not good. A scan
// that the device sent by itself has "times" of the points whose time is another than the scan's.
func AppendScan(dst []byte, s *point.Scan) []byte {
	dst = append(dst, `{"device":`...)
	dst = point.AppendQuoted(dst, s.Device)
	dst = append(dst, `,"time":`...)
	dst = AppendTime(dst, s.Time)
	if !s.Slot.IsZero() {
		dst = append(dst, `,"slot":`...)
		dst = AppendTime(dst, s.Slot)
	}
	dst = append(dst, `,"points":{`...)
	good := true
	for i := range s.Samples {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = point.AppendQuoted(dst, nameWithin(s.Device, s.Samples[i].Point))
		dst = append(dst, ':')
		dst = s.Samples[i].Value.AppendJSON(dst)
		good = good && s.Samples[i].Quality == point.Good
	}
	dst = append(dst, '}')
	if !good {
		dst = appendQuality(dst, s)
	}
	if s.Slot.IsZero() {
		dst = appendTimes(dst, s)
	}
	return append(dst, '}')
}

func appendTimes(dst []byte, s *point.Scan) []byte {
	before := `,"times":{`
	for i := range s.Samples {
		if s.Samples[i].Time.Equal(s.Time) || s.Samples[i].Time.IsZero() {
			continue
		}
		dst = append(dst, before...)
		before = ","
		dst = point.AppendQuoted(dst, nameWithin(s.Device, s.Samples[i].Point))
		dst = append(dst, ':')
		dst = AppendTime(dst, s.Samples[i].Time)
	}
	if before == "," {
		dst = append(dst, '}')
	}
	return dst
}

func appendQuality(dst []byte, s *point.Scan) []byte {
	dst = append(dst, `,"quality":{`...)
	first := true
	for i := range s.Samples {
		if s.Samples[i].Quality == point.Good {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = point.AppendQuoted(dst, nameWithin(s.Device, s.Samples[i].Point))
		dst = append(dst, ':')
		dst = point.AppendQuoted(dst, s.Samples[i].Quality.String())
	}
	return append(dst, '}')
}

// AppendSample appends the live message of one point:
//
//	{"point":"campus/b1/ahu1/supply_temp","time":"…","value":18.2,"quality":"good"}
func AppendSample(dst []byte, s *point.Sample) []byte {
	dst = append(dst, `{"point":`...)
	dst = point.AppendQuoted(dst, s.Point)
	dst = append(dst, `,"time":`...)
	dst = AppendTime(dst, s.Time)
	dst = append(dst, `,"value":`...)
	dst = s.Value.AppendJSON(dst)
	dst = append(dst, `,"quality":`...)
	dst = point.AppendQuoted(dst, s.Quality.String())
	return append(dst, '}')
}

// nameWithin returns the point's name within its device.
func nameWithin(device, p point.Path) string {
	if len(p) > len(device) && p[len(device)] == '/' && p[:len(device)] == device {
		return string(p[len(device)+1:])
	}
	return string(p)
}

// Scan is a received live message of a scan.
type Scan struct {
	Device  point.Path                 `json:"device"`
	Time    time.Time                  `json:"time"`
	Slot    time.Time                  `json:"slot,omitzero"`
	Points  map[string]json.RawMessage `json:"points"`
	Quality map[string]string          `json:"quality,omitempty"`
	Times   map[string]time.Time       `json:"times,omitempty"`
}

// TimeOf returns the time of one of the points.
func (s *Scan) TimeOf(name string) time.Time {
	if own, has := s.Times[name]; has {
		return own
	}
	return s.Time
}

// ParseScan parses a live message of a scan.
func ParseScan(data []byte) (*Scan, error) {
	var s Scan
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&s); err != nil {
		return nil, fmt.Errorf("read a live message: %w", err)
	}
	return &s, nil
}
