package destination

import (
	"context"
	"strings"

	"voltbus/judge"
	"voltbus/judge/setting"
	"voltbus/point"
)

// asked is a rule whose check is a function.
type asked struct {
	judge.Function

	rule     int
	setting  *setting.Rule
	concerns map[point.Path]bool
}

// mostConcerns bounds the memory for points.
const mostConcerns = 1 << 20

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

// open makes the functions of rules.
func (b *bench) open(cfg *Config) {
	b.verdicts = map[uint64]map[int]judge.Verdict{}
	if cfg.Function == nil {
		return
	}
	for _, i := range judge.Functions(b.rules) {
		b.functions = append(b.functions, asked{Function: cfg.Function(&b.rules[i], b.name), rule: i, setting: &b.rules[i], concerns: map[point.Path]bool{}})
	}
}

// close ends the processes of functions.
func (b *bench) close() {
	if b == nil {
		return
	}
	for _, f := range b.functions {
		f.Close()
	}
}

// place is where in the log a reading is.
type place struct {
	block   *point.Block
	reading int
}

// ask asks functions about the readings of blocks beyond the position that are sent. Each is asked about once, also if sending fails: the verdicts are
// kept until the position is behind the block.
func (b *bench) ask(ctx context.Context, blocks []*point.Block, shaper *shaper, p *position) error {
	if b == nil || len(b.functions) == 0 {
		return nil
	}
	var fresh []*point.Block
	for _, block := range blocks {
		if _, known := b.verdicts[block.LogSequence]; block.Log != p.Log || (!known && block.LogSequence > p.Sequence) {
			fresh = append(fresh, block)
		}
	}
	found := make(map[uint64]map[int]judge.Verdict, len(fresh))
	for i := range b.functions {
		if err := b.functions[i].ask(ctx, fresh, shaper, found); err != nil {
			return err
		}
	}
	for _, block := range fresh {
		b.verdicts[block.LogSequence] = found[block.LogSequence]
	}
	return nil
}

// ask asks a function, and adds its verdicts to those of the rules before: the first that withholds counts, otherwise the first that marks.
func (f *asked) ask(ctx context.Context, blocks []*point.Block, shaper *shaper, found map[uint64]map[int]judge.Verdict) error {
	var readings []judge.Reading
	var places []place
	for _, block := range blocks {
		concerned := f.of(block, shaper)
		for i, at := range block.Point {
			if concerned[at] {
				readings = append(readings, judge.Reading{Point: block.Points[at], Time: block.Time[i], Value: block.Value(i), Quality: block.Quality[i]})
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
			said = map[int]judge.Verdict{}
			found[at.block.LogSequence] = said
		}
		if before, has := said[at.reading]; !has || (o.Withheld && !before.Withheld) {
			said[at.reading] = o.Verdict(f.rule, at.block.Quality[at.reading])
		}
	}
	return nil
}

// of reports, by point of a block, whether the function judges it.
func (f *asked) of(block *point.Block, shaper *shaper) []bool {
	list := make([]bool, len(block.Points))
	for i, path := range block.Points {
		list[i] = shaper.shape(path) != nil && f.selects(path)
	}
	return list
}

// combine returns what becomes of a reading by a verdict of the other rules and that of functions.
func (b *bench) combine(v judge.Verdict, block uint64, reading int) judge.Verdict {
	said, has := b.verdicts[block][reading]
	if !has || v.Withheld || (v.Rule >= 0 && !said.Withheld) {
		return v
	}
	return said
}

// behind forgets the verdicts of functions on blocks up to the position.
func (b *bench) behind(p *position) {
	if b == nil {
		return
	}
	for sequence := range b.verdicts {
		if sequence <= p.Sequence {
			delete(b.verdicts, sequence)
		}
	}
}
