package register

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"voltbus/point"
)

// A block is a JSON array of groups of points that differ in their paths only:
//
//	[kind,writable,unit,interval,tags,removed,since,child,device,description,first_seen,[path,…]]
//
// with the fields of Record, tags as an object, and times in microseconds since 1970, 0 for never.

// group is the common part of a group's points.
type group struct {
	device, description string
	first               int64
	traits              Traits
}

func groupOf(c *Record) group { return group{c.Device, c.Description, c.FirstSeen, c.Traits} }

// Encode returns the block of the records, in their order within each group.
func Encode(records []Record) []byte {
	var groups []group
	index := map[group]int{}
	var paths [][]byte // by group
	last := 0
	for i := range records {
		g := groupOf(&records[i])
		if len(groups) == 0 || groups[last] != g {
			at, known := index[g]
			if !known {
				at = len(groups)
				index[g] = at
				groups, paths = append(groups, g), append(paths, nil)
			}
			last = at
		}
		paths[last] = append(point.AppendQuoted(paths[last], records[i].Path), ',')
	}
	out := []byte{'['}
	for i := range groups {
		out = append(groups[i].append(out), paths[i]...)
		out = append(out[:len(out)-1], "]],"...)
	}
	return append(out[:max(1, len(out)-1)], ']')
}

// append appends the beginning of a group, up to its first path.
func (g *group) append(out []byte) []byte {
	t := &g.traits
	out = strconv.AppendInt(append(out, '['), int64(t.Kind), 10)
	out = append(strconv.AppendBool(append(out, ','), t.Writable), ',')
	out = append(point.AppendQuoted(out, t.Unit), ',')
	out = append(strconv.AppendInt(out, t.Interval, 10), ',')
	if t.Tags == "" {
		out = append(out, "{},"...)
	} else {
		out = append(append(out, t.Tags...), ',')
	}
	out = append(strconv.AppendInt(out, t.Removed, 10), ',')
	out = append(strconv.AppendInt(out, t.Since, 10), ',')
	out = append(point.AppendQuoted(out, t.Child), ',')
	out = append(point.AppendQuoted(out, g.device), ',')
	out = append(point.AppendQuoted(out, g.description), ',')
	return append(strconv.AppendInt(out, g.first, 10), ",["...)
}

var errBlock = errors.New("is no block of points")

// Decode appends the records of a block to dst.
func Decode(dst []Record, block []byte) ([]Record, error) {
	text := string(block) // of which all strings are slices
	s := scanner{text: text}
	s.expect('[')
	for !s.failed && !s.next(']') {
		var g group
		s.group(&g)
		for s.expect('['); !s.failed && !s.next(']'); s.next(',') {
			dst = append(dst, Record{Path: s.quoted(), Device: g.device, Description: g.description, FirstSeen: g.first, Traits: g.traits})
		}
		s.expect(']')
		s.next(',')
	}
	if s.failed || s.at != len(text) {
		return dst, fmt.Errorf("%w: at its byte %d", errBlock, s.at)
	}
	return dst, nil
}

// scanner parses the output of Encode. After a failure everything it returns is empty.
type scanner struct {
	text   string
	at     int
	failed bool
	tags   string // last tags read
}

func (s *scanner) group(g *group) {
	t := &g.traits
	s.expect('[')
	t.Kind = point.Kind(s.field())
	t.Writable = s.truth()
	t.Unit = s.word()
	t.Interval = s.field()
	t.Tags = s.object()
	t.Removed, t.Since = s.field(), s.field()
	t.Child, g.device, g.description = s.word(), s.word(), s.word()
	g.first = s.field()
}

// next consumes a byte if it comes next.
func (s *scanner) next(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) expect(c byte) {
	if !s.next(c) {
		s.failed = true
	}
}

// field parses a number and the comma after it.
func (s *scanner) field() int64 {
	begin := s.at
	for s.at < len(s.text) && (s.text[s.at] == '-' || (s.text[s.at] >= '0' && s.text[s.at] <= '9')) {
		s.at++
	}
	n, err := strconv.ParseInt(s.text[begin:s.at], 10, 64)
	s.failed = s.failed || err != nil
	s.expect(',')
	return n
}

// truth parses true or false and the comma after it.
func (s *scanner) truth() bool {
	for text, is := range map[string]bool{"true,": true, "false,": false} {
		if strings.HasPrefix(s.text[s.at:], text) {
			s.at += len(text)
			return is
		}
	}
	s.failed = true
	return false
}

// word parses a string and the comma after it.
func (s *scanner) word() string {
	w := s.quoted()
	s.expect(',')
	return w
}

// quoted parses a string.
func (s *scanner) quoted() string {
	s.expect('"')
	begin := s.at
	end := strings.IndexByte(s.text[begin:], '"') + begin
	if end >= begin && strings.IndexByte(s.text[begin:end], '\\') < 0 {
		s.at = end + 1
		return s.text[begin:end]
	}
	for end = begin; end < len(s.text) && s.text[end] != '"'; end++ {
		if s.text[end] == '\\' {
			end++
		}
	}
	s.at = min(end+1, len(s.text))
	var word string
	if json.Unmarshal([]byte(s.text[max(begin-1, 0):s.at]), &word) != nil {
		s.failed = true
	}
	return word
}

// object parses an object of strings and the comma after it; "" for an empty one. It is often that of the
// previous group.
func (s *scanner) object() string {
	rest := s.text[s.at:]
	if s.tags == "" || !strings.HasPrefix(rest, s.tags) {
		var tags map[string]string
		d := json.NewDecoder(strings.NewReader(rest))
		if err := d.Decode(&tags); err != nil {
			s.failed = true
			return ""
		}
		s.tags = rest[:d.InputOffset()]
	}
	s.at += len(s.tags)
	s.expect(',')
	if s.tags == "{}" {
		return ""
	}
	return s.tags
}
