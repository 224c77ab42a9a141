// Package expression evaluates conditions on several points, such as "supply - return < 2 and pump == 1". It is pure: a text becomes a tree once, and the
// tree is evaluated with values that are handed in. A value that is not there makes the result unknown, unless the others decide it.
package expression

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/fault"
)

// Expression is a condition that was read. The zero Expression is not usable.
type Expression struct {
	root  node
	names []string
}

// Bounds of an expression.
const (
	mostText  = 4096
	mostNodes = 500
	mostDepth = 50
)

// Parse reads a condition. Errors are fault.Invalid, and say at which character, counted from 1.
//
//	or:         and { "or" and }
//	and:        not { "and" not }
//	not:        "not" not | comparison
//	comparison: sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//	sum:        term { ("+" | "-") term }
//	term:       factor { ("*" | "/") factor }
//	factor:     "-" factor | number | text | "true" | "false" | name | ("abs" | "min" | "max") "(" sum { "," sum } ")" | "(" or ")"
//
// A name is that of an input, or a path of a point between { and }. A text stands between " and ".
func Parse(text string) (*Expression, error) {
	if len(text) > mostText || !utf8.ValidString(text) {
		return nil, fault.E("expression.Parse", fault.Invalid, "expression", fmt.Errorf("write at most %d bytes of UTF-8", mostText))
	}
	p := &parser{text: text}
	p.next()
	root, err := p.or()
	if err == nil && p.at.kind != end {
		err = p.wrong("%q is not expected here; write an operator such as and, or, <", p.at.text)
	}
	if err == nil && !root.is(condition) {
		err = p.problem(0, "it is a number, and no condition; compare it, such as with < 2")
	}
	if err != nil {
		return nil, err
	}
	return &Expression{root, p.names}, nil
}

// Names are the inputs, each once, in the order of the text.
func (e *Expression) Names() []string { return e.names }

// kind is the kind of a token.
type kind int

const (
	end kind = iota
	number
	quoted
	name
	symbol
)

type token struct {
	kind  kind
	text  string
	value float64
	from  int // byte
}

type parser struct {
	text  string
	to    int // behind the token
	at    token
	bad   error // of the token
	names []string
	nodes int
	depth int
}

// problem is an error at a byte of the text.
func (p *parser) problem(at int, format string, args ...any) error {
	return fault.E("expression.Parse", fault.Invalid, fmt.Sprintf("expression, character %d", utf8.RuneCountInString(p.text[:at])+1), fmt.Errorf(format, args...))
}

func (p *parser) wrong(format string, args ...any) error {
	if p.bad != nil {
		return p.bad
	}
	if p.at.kind == end {
		return p.problem(p.at.from, "it ends where a value is expected; write a number, the name of an input, or (")
	}
	return p.problem(p.at.from, format, args...)
}

// next reads a token.
func (p *parser) next() {
	for p.to < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.to]) >= 0 {
		p.to++
	}
	from := p.to
	rest := p.text[from:]
	p.at = token{from: from}
	if rest == "" {
		return
	}
	switch c := rest[0]; {
	case c >= '0' && c <= '9' || c == '.':
		p.number(rest)
	case c == '"':
		p.quoted(rest)
	case c == '{':
		p.path(rest)
	case isLetter(c):
		n := 1
		for n < len(rest) && (isLetter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		p.take(name, rest[:n], n)
	default:
		p.symbol(rest)
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' }

func (p *parser) take(k kind, text string, n int) {
	p.at.kind, p.at.text = k, text
	p.to += n
}

func (p *parser) number(rest string) {
	n := 0
	for n < len(rest) && (strings.IndexByte("0123456789.eE", rest[n]) >= 0 || (strings.IndexByte("+-", rest[n]) >= 0 && strings.IndexByte("eE", rest[n-1]) >= 0)) {
		n++
	}
	p.take(number, rest[:n], n)
	var err error
	if p.at.value, err = strconv.ParseFloat(rest[:n], 64); err != nil {
		p.fail("%q is not a number; write one such as 2 or 0.5", rest[:n])
	}
}

// fail keeps what is wrong with the token, which fits nowhere then.
func (p *parser) fail(format string, args ...any) {
	if p.bad == nil {
		p.bad = p.problem(p.at.from, format, args...)
	}
	p.at.kind = symbol
}

func (p *parser) quoted(rest string) {
	n := strings.IndexByte(rest[1:], '"')
	if n < 0 {
		p.take(symbol, rest, len(rest))
		p.fail(`the text has no end; write " behind it`)
		return
	}
	p.take(quoted, rest[1:1+n], n+2)
}

func (p *parser) path(rest string) {
	n := strings.IndexByte(rest, '}')
	if n < 2 {
		p.take(symbol, rest, len(rest))
		p.fail("the path has no end; write it between { and }")
		return
	}
	p.take(name, rest[:n+1], n+1)
}

func (p *parser) symbol(rest string) {
	for _, s := range []string{"<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "(", ")", ","} {
		if strings.HasPrefix(rest, s) {
			p.take(symbol, s, len(s))
			return
		}
	}
	_, n := utf8.DecodeRuneInString(rest)
	p.take(symbol, rest[:n], n)
	hint := "write values, operators and parentheses"
	switch rest[0] {
	case '=':
		hint = "write == to compare"
	case '&':
		hint = "write and"
	case '|':
		hint = "write or"
	case '!':
		hint = "write not, or != to compare"
	}
	p.fail("%q means nothing here; %s", rest[:n], hint)
}

// is reports whether the token is a word or a symbol, and goes behind it.
func (p *parser) is(texts ...string) (text string, is bool) {
	if p.at.kind != symbol && p.at.kind != name || p.bad != nil {
		return "", false
	}
	for _, t := range texts {
		if p.at.text == t {
			p.next()
			return t, true
		}
	}
	return "", false
}
