package expression

import "math"

// Value is a value of an input or of a part of an expression: a number, a truth value, a text, or unknown, which is the zero Value.
type Value struct {
	kind   valueKind
	number float64
	text   string
}

type valueKind int

const (
	unknown valueKind = iota
	numeric
	truth
	textual
)

// NumberOf returns a number; one that is not finite is unknown.
func NumberOf(n float64) Value {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return Value{}
	}
	return Value{kind: numeric, number: n}
}

// TruthOf returns a truth value. Where a number is needed, true is 1 and false 0.
func TruthOf(is bool) Value {
	if is {
		return Value{kind: truth, number: 1}
	}
	return Value{kind: truth}
}

// TextOf returns a text.
func TextOf(text string) Value { return Value{kind: textual, text: text} }

// Holds evaluates the condition. It is not known if a value that decides is unknown or of another kind than is needed: "false and x" is false, and "true or
// x" true, whatever x is (Kleene). Of no expression nothing is known. A number is true unless it is 0. Division by 0 is unknown.
func (e *Expression) Holds(of func(name string) Value) (holds, known bool) {
	if e == nil {
		return false, false
	}
	v := e.root.eval(of)
	if v.kind != truth && v.kind != numeric {
		return false, false
	}
	return v.number != 0, true
}

func (n *node) eval(of func(string) Value) Value {
	switch n.op {
	case "":
		return n.value
	case "name":
		return of(n.name)
	case "and", "or":
		return n.both(of)
	case "not":
		if v := n.of[0].eval(of); v.kind == truth || v.kind == numeric {
			return TruthOf(v.number == 0)
		}
		return Value{}
	case "<", "<=", ">", ">=", "==", "!=":
		return compare(n.op, n.of[0].eval(of), n.of[1].eval(of))
	}
	return n.calculate(of)
}

// both is "and" and "or", of which one side may decide alone.
func (n *node) both(of func(string) Value) Value {
	decides := n.op == "or" // the value that decides
	known := true
	for i := range n.of {
		v := n.of[i].eval(of)
		if v.kind != truth && v.kind != numeric {
			known = false
		} else if (v.number != 0) == decides {
			return TruthOf(decides)
		}
	}
	if !known {
		return Value{}
	}
	return TruthOf(!decides)
}

func compare(op string, a, b Value) Value {
	if a.kind == textual && b.kind == textual && (op == "==" || op == "!=") {
		return TruthOf((a.text == b.text) == (op == "=="))
	}
	if a.kind == unknown || b.kind == unknown || a.kind == textual || b.kind == textual {
		return Value{}
	}
	x, y := a.number, b.number
	switch op {
	case "<":
		return TruthOf(x < y)
	case "<=":
		return TruthOf(x <= y)
	case ">":
		return TruthOf(x > y)
	case ">=":
		return TruthOf(x >= y)
	case "==":
		return TruthOf(x == y)
	}
	return TruthOf(x != y)
}

// calculate is an operation on numbers.
func (n *node) calculate(of func(string) Value) Value {
	out := 0.0
	for i := range n.of {
		v := n.of[i].eval(of)
		if v.kind != numeric && v.kind != truth {
			return Value{}
		}
		if i == 0 {
			out = v.number
			continue
		}
		out = apply(n.op, out, v.number)
	}
	switch n.op {
	case "minus":
		out = -out
	case "abs":
		out = math.Abs(out)
	}
	return NumberOf(out)
}

func apply(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "min":
		return min(a, b)
	}
	return max(a, b)
}
