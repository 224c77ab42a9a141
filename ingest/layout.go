package ingest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"voltbus/point"
)

// DefaultLayout makes paths such as "cpu/cpu0/server1/usage_idle": the measurement, the values of
// the tags in the order of their keys, the field.
const DefaultLayout = "{measurement}/{tags}/{field}"

const maxLayout = 512

var (
	errLayout      = errors.New("is not a layout; write segments such as {measurement}/{tags}/{field}, with {tag:name} for one tag and {pairs} for name=value of all others")
	errLayoutField = errors.New("needs {field}: without it the fields of a line would be one point")
	errLayoutAlone = errors.New("{tags} and {pairs} need a segment of their own")
)

// Layout determines how a line's measurement, tags and field form the path of a point. It is immutable.
type Layout struct {
	text     string
	segments [][]piece
	named    []string // tags with their own position
}

// piece is a part of a segment.
type piece struct {
	kind pieceKind
	text string // the literal, or the name of the tag
}

type pieceKind uint8

const (
	literal pieceKind = iota
	measurement
	field
	oneTag
	tagValues
	tagPairs
)

// ParseLayout parses a layout: segments separated by "/", in which {measurement}, {field} and {tag:name}
// stand for parts of a line, and the segments {tags} or {pairs} stand for one segment per tag not named
// elsewhere, in the order of their keys: its value, or key=value. Parts of a line are escaped, so that they
// cannot form segments of their own.
func ParseLayout(text string) (*Layout, error) {
	if text == "" || len(text) > maxLayout || point.Path(text).Validate() != nil {
		return nil, errLayout
	}
	l := &Layout{text: text}
	fields := 0
	for segment := range strings.SplitSeq(text, "/") {
		pieces, err := parseSegment(segment)
		if err != nil {
			return nil, err
		}
		for _, p := range pieces {
			switch p.kind {
			case field:
				fields++
			case oneTag:
				l.named = append(l.named, p.text)
			case tagValues, tagPairs:
				if len(pieces) > 1 {
					return nil, errLayoutAlone
				}
			case literal, measurement:
			}
		}
		l.segments = append(l.segments, pieces)
	}
	if fields == 0 {
		return nil, errLayoutField
	}
	return l, nil
}

func parseSegment(s string) ([]piece, error) {
	var pieces []piece
	for s != "" {
		before, rest, found := strings.Cut(s, "{")
		if strings.Contains(before, "}") {
			return nil, errLayout
		}
		if before != "" {
			pieces = append(pieces, piece{kind: literal, text: before})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errLayout
		}
		p, err := placeholder(name)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
		s = after
	}
	if len(pieces) == 0 {
		return nil, errLayout
	}
	return pieces, nil
}

func placeholder(name string) (piece, error) {
	switch name {
	case "measurement":
		return piece{kind: measurement}, nil
	case "field":
		return piece{kind: field}, nil
	case "tags":
		return piece{kind: tagValues}, nil
	case "pairs":
		return piece{kind: tagPairs}, nil
	}
	if tag, ok := strings.CutPrefix(name, "tag:"); ok && tag != "" {
		return piece{kind: oneTag, text: tag}, nil
	}
	return piece{}, errLayout
}

// tag is a tag of a line.
type tag struct{ key, value string }

// origin is the measurement and tags of a line; tags are in the order of their keys.
type origin struct {
	measurement string
	tags        []tag
}

// append appends the path of a field.
func (l *Layout) append(dst []byte, o *origin, name string) ([]byte, error) {
	start := len(dst)
	for _, pieces := range l.segments {
		before := len(dst)
		if before > start {
			dst = append(dst, '/')
		}
		mark := len(dst)
		for _, p := range pieces {
			var err error
			if dst, err = l.appendPiece(dst, p, o, name); err != nil {
				return dst, err
			}
		}
		if len(dst) == mark { // no tags: no segment
			dst = dst[:before]
		}
	}
	return dst, nil
}

func (l *Layout) appendPiece(dst []byte, p piece, o *origin, name string) ([]byte, error) {
	switch p.kind {
	case literal:
		return append(dst, p.text...), nil
	case measurement:
		return appendSegment(dst, o.measurement), nil
	case field:
		return appendSegment(dst, name), nil
	case oneTag:
		i := slices.IndexFunc(o.tags, func(t tag) bool { return t.key == p.text })
		if i < 0 {
			return dst, fmt.Errorf("the line has no tag %q, which the layout wants", clip(p.text))
		}
		return appendSegment(dst, o.tags[i].value), nil
	case tagValues, tagPairs:
	}
	return l.appendTags(dst, o, p.kind == tagPairs), nil
}

func (l *Layout) appendTags(dst []byte, o *origin, pairs bool) []byte {
	first := true
	for _, t := range o.tags {
		if slices.Contains(l.named, t.key) {
			continue
		}
		if !first {
			dst = append(dst, '/')
		}
		first = false
		if pairs {
			dst = append(appendSegment(dst, t.key), '=')
		}
		dst = appendSegment(dst, t.value)
	}
	return dst
}
