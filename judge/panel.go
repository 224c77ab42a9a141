package judge

import (
	"context"
	"strings"

	"voltbus/judge/setting"
	"voltbus/point"
)

// Panel asks the functions of rules. It is used by one goroutine, but States, which anybody may call.
type Panel struct{ functions []asked }

// asked is a rule whose check is a function.
type asked struct {
	Function

	rule     int
	setting  *setting.Rule
	concerns map[point.Path]bool
}

// Findings are verdicts of functions on readings: by block of the log, and by index of the reading there.
type Findings map[uint64]map[int]Verdict

// mostConcerns bounds the memory for points.
const mostConcerns = 1 << 20

// NewPanel returns the panel of rules, with functions that open returns; nil for none.
func NewPanel(rules setting.Rules, open func(rule *setting.Rule) Function) *Panel {
	p := &Panel{}
	if open == nil {
		return p
	}
	for _, i := range Functions(rules) {
		p.functions = append(p.functions, asked{Function: open(&rules[i]), rule: i, setting: &rules[i], concerns: map[point.Path]bool{}})
	}
	return p
}

// Empty reports whether no rule is a function.
func (p *Panel) Empty() bool { return len(p.functions) == 0 }

// States returns how the functions are, by the index of their rule.
func (p *Panel) States() map[int]FunctionState {
	out := make(map[int]FunctionState, len(p.functions))
	for i := range p.functions {
		out[p.functions[i].rule] = p.functions[i].State()
	}
	return out
}

// Close ends the processes of functions.
func (p *Panel) Close() {
	for i := range p.functions {
		p.functions[i].Close()
	}
}

// Ask returns what functions say of readings in blocks, of the points that are sent. It fails only when ctx ends.
func (p *Panel) Ask(ctx context.Context, blocks []*point.Block, sent func(point.Path) bool) (Findings, error) {
	found := make(Findings, len(blocks))
	for i := range p.functions {
		if err := p.functions[i].ask(ctx, blocks, sent, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// place is where in the log a reading is.
type place struct {
	block   *point.Block
	reading int
}

// ask asks a function, and adds its verdicts to those of the rules before: the first that withholds counts, otherwise the first that marks.
func (f *asked) ask(ctx context.Context, blocks []*point.Block, sent func(point.Path) bool, found Findings) error {
	var readings []Reading
	var places []place
	for _, block := range blocks {
		concerned := f.of(block, sent)
		for i, at := range block.Point {
			if concerned[at] {
				readings = append(readings, Reading{Point: block.Points[at], Time: block.Time[i], Value: block.Value(i), Quality: block.Quality[i]})
				places = append(places, place{block, i})
			}
		}
	}
	if len(readings) == 0 {
		return nil
	}
	opinions, err := f.Judge(ctx, readings)
	if err != nil {
		return err
	}
	for i := range opinions {
		o, at := &opinions[i], places[opinions[i].Reading]
		said := found[at.block.LogSequence]
		if said == nil {
			said = map[int]Verdict{}
			found[at.block.LogSequence] = said
		}
		if before, has := said[at.reading]; !has || (o.Withheld && !before.Withheld) {
			said[at.reading] = o.Verdict(f.rule, at.block.Quality[at.reading])
		}
	}
	return nil
}

// of reports, by point of a block, whether the function judges it.
func (f *asked) of(block *point.Block, sent func(point.Path) bool) []bool {
	list := make([]bool, len(block.Points))
	for i, path := range block.Points {
		list[i] = sent(path) && f.selects(path)
	}
	return list
}

// selects reports whether the function judges readings of a point.
func (f *asked) selects(path point.Path) bool {
	is, known := f.concerns[path]
	if !known {
		if len(f.concerns) >= mostConcerns {
			clear(f.concerns)
		}
		path = point.Path(strings.Clone(string(path))) // it is a part of a block
		is = f.setting.Concerns(path)
		f.concerns[path] = is
	}
	return is
}

// Combine returns what becomes of a reading by a verdict of the other rules and that of functions.
func (f Findings) Combine(v Verdict, block uint64, reading int) Verdict {
	said, has := f[block][reading]
	if !has || v.Withheld || (v.Rule >= 0 && !said.Withheld) {
		return v
	}
	return said
}
