package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
)

var (
	errSyntax = errors.New("does not belong there")
	errEarly  = errors.New("ends too early")
	errDeep   = fmt.Errorf("is nested more than %d deep", maxDepth)
	errBehind = errors.New("has something behind the JSON")
)

// scanner walks over JSON. check comes first; after it the other methods meet well-formed JSON
// and may trust it.
type scanner struct {
	b []byte
	i int
}

// check reports what is wrong with the whole text.
func (s *scanner) check() error {
	err := s.skip(0)
	if err == nil {
		if s.space(); s.i < len(s.b) {
			err = errBehind
		}
	}
	if err != nil {
		if s.i >= len(s.b) {
			err = errEarly
		}
		return fault.E("ingest.Parse", fault.Invalid, "body", fmt.Errorf("is not JSON that can be read: octet %d %w", s.i+1, err))
	}
	s.i = 0
	return nil
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

// peek returns the next octet that is no space; 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// accept steps over an octet if it comes next.
func (s *scanner) accept(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.i++
	return true
}

// skip steps over a value and checks it.
func (s *scanner) skip(depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	switch c := s.peek(); {
	case c == '{':
		return s.skipObject(depth)
	case c == '[':
		return s.skipArray(depth)
	case c == '"':
		return s.skipString()
	case c == '-' || c-'0' <= 9:
		return s.skipNumber()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return errSyntax
}

func (s *scanner) skipObject(depth int) error {
	s.i++
	if s.accept('}') {
		return nil
	}
	for {
		if s.peek() != '"' {
			return errSyntax
		}
		if err := s.skipString(); err != nil {
			return err
		}
		if !s.accept(':') {
			return errSyntax
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if s.accept('}') {
			return nil
		}
		if !s.accept(',') {
			return errSyntax
		}
	}
}

func (s *scanner) skipArray(depth int) error {
	s.i++
	if s.accept(']') {
		return nil
	}
	for {
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if s.accept(']') {
			return nil
		}
		if !s.accept(',') {
			return errSyntax
		}
	}
}

func (s *scanner) skipString() error {
	for s.i++; s.i < len(s.b); s.i++ {
		switch c := s.b[s.i]; {
		case c == '"':
			s.i++
			return nil
		case c == '\\':
			if err := s.skipEscape(); err != nil {
				return err
			}
		case c < 0x20:
			return errSyntax
		}
	}
	return errEarly
}

func (s *scanner) skipEscape() error {
	s.i++
	if s.i >= len(s.b) {
		return errEarly
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if s.i++; s.i >= len(s.b) {
				return errEarly
			}
			if c := s.b[s.i] | 0x20; c-'0' > 9 && c-'a' > 5 {
				return errSyntax
			}
		}
		return nil
	}
	return errSyntax
}

func (s *scanner) skipNumber() error {
	if s.b[s.i] == '-' {
		s.i++
	}
	first := s.i
	if s.digits() == 0 || (s.b[first] == '0' && s.i > first+1) {
		return errSyntax
	}
	if s.i < len(s.b) && s.b[s.i] == '.' {
		if s.i++; s.digits() == 0 {
			return errSyntax
		}
	}
	if s.i < len(s.b) && s.b[s.i]|0x20 == 'e' {
		s.i++
		if s.i < len(s.b) && (s.b[s.i] == '+' || s.b[s.i] == '-') {
			s.i++
		}
		if s.digits() == 0 {
			return errSyntax
		}
	}
	return nil
}

func (s *scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - from
}

func (s *scanner) word(w string) error {
	for j := range len(w) {
		if s.i >= len(s.b) {
			return errEarly
		}
		if s.b[s.i] != w[j] {
			return errSyntax
		}
		s.i++
	}
	return nil
}

// raw returns a value as it is written.
func (s *scanner) raw() []byte {
	s.space()
	from := s.i
	_ = s.skip(0) // checked before
	return s.b[from:s.i]
}

// key returns the next name of an object and steps over its colon; false at the object's end.
// Call it after the opening brace, and again after each value.
func (s *scanner) key() ([]byte, bool) {
	if s.accept('}') {
		return nil, false
	}
	s.accept(',')
	name := unquoteJSON(s.raw())
	s.accept(':')
	return name, true
}

// item reports whether an array has one more; call it after the opening bracket, and again after
// each value.
func (s *scanner) item() bool {
	if s.accept(']') {
		return false
	}
	s.accept(',')
	return true
}

// unquoteJSON returns what a string that was checked says.
func unquoteJSON(raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var out string
	_ = json.Unmarshal(raw, &out) // checked before
	return []byte(out)
}
