package vee

import (
	"errors"
	"fmt"
	"slices"
)

// Pipeline carries out rules over blocks. It may be used by one goroutine at a time.
type Pipeline struct {
	params Rules
	rules  []Rule
}

// New returns the pipeline of parameters with the standard rules and then more.
func New(params Rules, more ...Rule) (*Pipeline, error) {
	problems := []error{params.Validate()}
	for i, r := range more {
		if r.Name == "" || r.Apply == nil {
			problems = append(problems, fmt.Errorf("rule %d: give a name and a function", i+1))
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return &Pipeline{params: params, rules: slices.Concat(Standard(), more)}, nil
}

// Validate clears the status of a block and sets it anew. A rule that panics sets RuleFailed on all intervals; the
// others still run. The joined errors name the rules that failed.
func (p *Pipeline) Validate(b *Block) error {
	if len(b.Status) != len(b.Values) {
		return fmt.Errorf("block: %d values and %d statuses: give as many", len(b.Values), len(b.Status))
	}
	clear(b.Status)
	var problems []error
	for next := 0; next < len(p.rules); {
		if err := p.run(&next, b); err != nil {
			problems = append(problems, err)
			for i := range b.Status {
				b.Status[i] |= RuleFailed
			}
		}
	}
	return errors.Join(problems...)
}

// run carries out rules from next on, until the end or until one panics. Next is behind the last one that ran.
func (p *Pipeline) run(next *int, b *Block) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("rule %s: %v", p.rules[*next-1].Name, r)
		}
	}()
	for *next < len(p.rules) {
		rule := &p.rules[*next]
		*next++
		rule.Apply(p.params, b)
	}
	return nil
}
