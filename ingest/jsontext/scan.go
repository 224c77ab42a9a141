// Package jsontext scans JSON without copying it: names and values are slices of the text.
package jsontext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
)

// MaxDepth is the maximum nesting depth of JSON.
const MaxDepth = 16

// Reasons why a text cannot be parsed as JSON.
var (
	errSyntax = errors.New("does not belong there")
	ErrEarly  = errors.New("ends too early")
	ErrDeep   = fmt.Errorf("is nested more than %d deep", MaxDepth)
	ErrBehind = errors.New("has something behind the JSON")
)

// Scanner walks over JSON. Check comes first; after it the other methods can rely on well-formed JSON.
type Scanner struct {
	b []byte
	i int
}

// New returns a Scanner at the beginning of a text.
func New(text []byte) *Scanner { return &Scanner{b: text} }

// Check reports what is wrong with the whole text.
func (s *Scanner) Check() error {
	err := s.skip(0)
	if err == nil {
		if s.space(); s.i < len(s.b) {
			err = ErrBehind
		}
	}
	if err != nil {
		if s.i >= len(s.b) {
			err = ErrEarly
		}
		return fault.E("ingest.Parse", fault.Invalid, "body", fmt.Errorf("is not JSON that can be read: byte %d %w", s.i+1, err))
	}
	s.i = 0
	return nil
}

func (s *Scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\n', '\r', '\t':
			s.i++
		default:
			return
		}
	}
}

// Peek returns the next byte other than white space; 0 at the end.
func (s *Scanner) Peek() byte {
	s.space()
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// Accept consumes a byte if it comes next.
func (s *Scanner) Accept(c byte) bool {
	if s.Peek() != c {
		return false
	}
	s.i++
	return true
}

// skip skips a value and checks it.
func (s *Scanner) skip(depth int) error {
	if depth > MaxDepth {
		return ErrDeep
	}
	switch c := s.Peek(); {
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

func (s *Scanner) skipObject(depth int) error {
	s.i++
	if s.Accept('}') {
		return nil
	}
	for {
		if s.Peek() != '"' {
			return errSyntax
		}
		if err := s.skipString(); err != nil {
			return err
		}
		if !s.Accept(':') {
			return errSyntax
		}
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if s.Accept('}') {
			return nil
		}
		if !s.Accept(',') {
			return errSyntax
		}
	}
}

func (s *Scanner) skipArray(depth int) error {
	s.i++
	if s.Accept(']') {
		return nil
	}
	for {
		if err := s.skip(depth + 1); err != nil {
			return err
		}
		if s.Accept(']') {
			return nil
		}
		if !s.Accept(',') {
			return errSyntax
		}
	}
}

func (s *Scanner) skipString() error {
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
	return ErrEarly
}

func (s *Scanner) skipEscape() error {
	s.i++
	if s.i >= len(s.b) {
		return ErrEarly
	}
	switch s.b[s.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return nil
	case 'u':
		for range 4 {
			if s.i++; s.i >= len(s.b) {
				return ErrEarly
			}
			if c := s.b[s.i] | 0x20; c-'0' > 9 && c-'a' > 5 {
				return errSyntax
			}
		}
		return nil
	}
	return errSyntax
}

func (s *Scanner) skipNumber() error {
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

func (s *Scanner) digits() int {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i - from
}

func (s *Scanner) word(w string) error {
	for j := range len(w) {
		if s.i >= len(s.b) {
			return ErrEarly
		}
		if s.b[s.i] != w[j] {
			return errSyntax
		}
		s.i++
	}
	return nil
}

// Raw returns a value as written.
func (s *Scanner) Raw() []byte {
	s.space()
	from := s.i
	_ = s.skip(0) // already checked
	return s.b[from:s.i]
}

// Key returns the next name of an object and consumes its colon; false at the object's end. Call it after the
// opening brace, and again after each value.
func (s *Scanner) Key() ([]byte, bool) {
	if s.Accept('}') {
		return nil, false
	}
	s.Accept(',')
	name := Unquote(s.Raw())
	s.Accept(':')
	return name, true
}

// Item reports whether an array has another element; call it after the opening bracket, and again after each
// value.
func (s *Scanner) Item() bool {
	if s.Accept(']') {
		return false
	}
	s.Accept(',')
	return true
}

// Unquote decodes a checked string.
func Unquote(raw []byte) []byte {
	inner := raw[1 : len(raw)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var out string
	_ = json.Unmarshal(raw, &out) // already checked
	return []byte(out)
}
