package promql

import (
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/prometheus/promql/parser"
)

// Bounds of a query, checked before it runs. The engine checks its time-out between steps and readings, so computation
// without reading must be bounded beforehand.
const (
	maxQuery     = 16 << 10       // bytes
	maxSelectors = 64             // selectors in a query
	maxRange     = 50 * 365 * day // of a selector, subquery or offset
	maxSubsteps  = 200_000        // of a subquery
	maxWork      = 20_000_000     // total values of subqueries passed to functions
	maxGrowth    = 64             // factor by which functions that join labels may lengthen one
	subqueryStep = int64(time.Minute / time.Millisecond)
	day          = 24 * time.Hour
)

// frame is the evaluation range of an expression: steps of a length over a period.
type frame struct {
	span, step time.Duration // step 0: once
}

func (f frame) steps() int64 {
	if f.step <= 0 {
		return 1
	}
	return int64(f.span/f.step) + 1
}

// language returns the parser of queries: PromQL without Prometheus' experimental features. The engine uses the same one.
func language() parser.Parser { return parser.NewParser(parser.Options{}) }

// bounds checks a query.
type bounds struct {
	selectors int
	work      int64
}

// bounded returns an error if the query exceeds the bounds.
func bounded(text string, f frame) error {
	if len(text) > maxQuery {
		return badData(fmt.Errorf("the query has %d bytes and may have %d; write it shorter", len(text), maxQuery))
	}
	expr, err := language().ParseExpr(text)
	if err != nil {
		return badData(err)
	}
	var b bounds
	if err := b.look(expr, f, 1); err != nil {
		return badData(err)
	}
	return nil
}

// look checks an expression evaluated for the frame, whose labels enclosing functions lengthen by the factor growth.
func (b *bounds) look(node parser.Node, f frame, growth int) error {
	switch n := node.(type) {
	case *parser.SubqueryExpr:
		inner, err := b.subquery(n, f)
		if err != nil {
			return err
		}
		return b.look(n.Expr, inner, growth)
	case *parser.MatrixSelector:
		if n.Range > maxRange {
			return fmt.Errorf("[%v] is longer than %v; ask for a shorter time", n.Range, maxRange)
		}
	case *parser.VectorSelector:
		if b.selectors++; b.selectors > maxSelectors {
			return fmt.Errorf("the query reads more than %d selectors; ask for them in several", maxSelectors)
		}
		if n.OriginalOffset > maxRange || n.OriginalOffset < -maxRange {
			return fmt.Errorf("the offset %v is longer than %v; write a shorter one", n.OriginalOffset, maxRange)
		}
	case *parser.Call:
		if growth *= grows(n); growth > maxGrowth {
			return fmt.Errorf("%s would make labels more than %d times as long; take fewer parts", n.Func.Name, maxGrowth)
		}
	}
	for child := range parser.ChildrenIter(node) {
		if err := b.look(child, f, growth); err != nil {
			return err
		}
	}
	return nil
}

// subquery returns the frame of the expression in a subquery.
func (b *bounds) subquery(n *parser.SubqueryExpr, f frame) (frame, error) {
	step := n.Step
	if step <= 0 {
		step = time.Duration(subqueryStep) * time.Millisecond
	}
	if n.Range > maxRange || n.OriginalOffset > maxRange || n.OriginalOffset < -maxRange {
		return frame{}, fmt.Errorf("a subquery over more than %v is not answered; ask for a shorter time", maxRange)
	}
	inner := frame{span: f.span + n.Range, step: step}
	if inner.steps() > maxSubsteps {
		return frame{}, fmt.Errorf("[%v:%v] would be evaluated %d times and may be %d times; use a longer step", n.Range, step, inner.steps(), maxSubsteps)
	}
	b.work += f.steps() * (int64(n.Range/step) + 1)
	if b.work > maxWork {
		return frame{}, fmt.Errorf("the subqueries take in %d values for each series and may take %d; use longer steps", b.work, maxWork)
	}
	return inner, nil
}

// grows returns the factor by which a function may lengthen a label: the replacement of label_replace names
// its groups, and label_join names its labels.
func grows(n *parser.Call) int {
	switch n.Func.Name {
	case "label_replace":
		if len(n.Args) > 2 {
			if text, ok := n.Args[2].(*parser.StringLiteral); ok {
				return max(1, strings.Count(text.Val, "$"))
			}
		}
	case "label_join":
		return max(1, len(n.Args)-3)
	}
	return 1
}
