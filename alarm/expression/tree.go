package expression

import "slices"

// sort is what a node is.
type sort int

const (
	condition sort = iota
	quantity       // a number, a text, or the value of an input
)

// node is a part of an expression: a condition or a quantity.
type node struct {
	op    string // of values: "", "name"
	sort  sort
	value Value
	name  string
	of    []node
}

func (n *node) is(s sort) bool {
	return n.sort == s || n.op == "name" || (n.op == "" && n.value.kind == truth)
}

// count bounds the parts of an expression.
func (p *parser) count(n node) (node, error) {
	if p.nodes++; p.nodes > mostNodes {
		return n, p.problem(p.at.from, "it has more than %d parts; make two rules of it", mostNodes)
	}
	return n, nil
}

func (p *parser) or() (node, error) {
	if p.depth++; p.depth > mostDepth {
		return node{}, p.problem(p.at.from, "it is nested more than %d times; write it with fewer parentheses", mostDepth)
	}
	defer func() { p.depth-- }()
	return p.joined(p.and, condition, "or")
}

func (p *parser) and() (node, error) { return p.joined(p.not, condition, "and") }
func (p *parser) sum() (node, error) { return p.joined(p.term, quantity, "+", "-") }
func (p *parser) term() (node, error) {
	return p.joined(p.factor, quantity, "*", "/")
}

// joined reads operands with operators between them, from left to right.
func (p *parser) joined(operand func() (node, error), sort sort, operators ...string) (node, error) {
	left, err := operand()
	for err == nil {
		at := p.at.from
		op, is := p.is(operators...)
		if !is {
			return left, nil
		}
		var right node
		if right, err = operand(); err != nil {
			return left, err
		}
		if !left.is(sort) || !right.is(sort) {
			return left, p.problem(at, "%q needs %s on both sides", op, sortWords(sort))
		}
		left, err = p.count(node{op: op, sort: sort, of: []node{left, right}})
	}
	return left, err
}

func sortWords(s sort) string {
	if s == condition {
		return "a condition, such as a < 2,"
	}
	return "a number or an input"
}

func (p *parser) not() (node, error) {
	at := p.at.from
	if _, is := p.is("not"); !is {
		return p.comparison()
	}
	if p.depth++; p.depth > mostDepth {
		return node{}, p.problem(at, "it is nested more than %d times; write it with fewer parentheses", mostDepth)
	}
	defer func() { p.depth-- }()
	of, err := p.not()
	if err == nil && !of.is(condition) {
		err = p.problem(at, "not needs a condition, such as not (a < 2)")
	}
	if err != nil {
		return of, err
	}
	return p.count(node{op: "not", sort: condition, of: []node{of}})
}

func (p *parser) comparison() (node, error) {
	left, err := p.sum()
	if err != nil {
		return left, err
	}
	at := p.at.from
	op, is := p.is("<", "<=", ">", ">=", "==", "!=")
	if !is {
		return left, nil
	}
	right, err := p.sum()
	if err != nil {
		return left, err
	}
	if !left.is(quantity) || !right.is(quantity) {
		return left, p.problem(at, "%q compares a number or an input on each side", op)
	}
	if slices.Contains([]string{"<", "<=", ">", ">="}, p.at.text) && p.at.kind == symbol {
		return left, p.wrong("two comparisons stand in a row; join them with and, such as 1 < a and a < 2")
	}
	return p.count(node{op: op, sort: condition, of: []node{left, right}})
}

func (p *parser) factor() (node, error) {
	if p.depth++; p.depth > mostDepth {
		return node{}, p.problem(p.at.from, "it is nested more than %d times; write it with fewer parentheses", mostDepth)
	}
	defer func() { p.depth-- }()
	at := p.at
	if p.bad != nil {
		return node{}, p.bad
	}
	switch at.kind {
	case number:
		p.next()
		return p.count(node{sort: quantity, value: NumberOf(at.value)})
	case quoted:
		p.next()
		return p.count(node{sort: quantity, value: TextOf(at.text)})
	case name:
		return p.word(at)
	case end, symbol:
	}
	if _, is := p.is("-"); is {
		of, err := p.factor()
		if err == nil && !of.is(quantity) {
			err = p.problem(at.from, "- needs a number or an input behind it")
		}
		if err != nil {
			return of, err
		}
		return p.count(node{op: "minus", sort: quantity, of: []node{of}})
	}
	if _, is := p.is("("); is {
		return p.inside()
	}
	return node{}, p.wrong("%q is not expected here; write a number, the name of an input, or (", at.text)
}

// inside reads what stands in parentheses.
func (p *parser) inside() (node, error) {
	of, err := p.or()
	if err != nil {
		return of, err
	}
	if _, is := p.is(")"); !is {
		return of, p.missing(")")
	}
	return of, nil
}

func (p *parser) missing(what string) error {
	if p.at.kind == end && p.bad == nil {
		return p.problem(p.at.from, "%q is missing at the end", what)
	}
	return p.wrong("%q is missing before %q", what, p.at.text)
}

func (p *parser) word(at token) (node, error) {
	switch at.text {
	case "true", "false":
		p.next()
		return p.count(node{sort: condition, value: TruthOf(at.text == "true")})
	case "and", "or", "not":
		return node{}, p.wrong("%q is not expected here; write a number, the name of an input, or (", at.text)
	}
	p.next()
	if _, is := p.is("("); is {
		return p.call(at)
	}
	if !slices.Contains(p.names, at.text) {
		p.names = append(p.names, at.text)
	}
	return p.count(node{op: "name", sort: quantity, name: at.text})
}

// call reads the arguments of a function.
func (p *parser) call(at token) (node, error) {
	if !slices.Contains([]string{"abs", "min", "max"}, at.text) {
		return node{}, p.problem(at.from, "%q is not a function; there are abs, min and max", at.text)
	}
	n := node{op: at.text, sort: quantity}
	for {
		of, err := p.sum()
		if err != nil {
			return n, err
		}
		if !of.is(quantity) {
			return n, p.problem(at.from, "%s takes numbers and inputs", at.text)
		}
		n.of = append(n.of, of)
		if _, more := p.is(","); more {
			continue
		}
		if _, is := p.is(")"); !is {
			return n, p.missing(")")
		}
		break
	}
	if at.text == "abs" && len(n.of) != 1 {
		return n, p.problem(at.from, "abs takes one number")
	}
	return p.count(n)
}
