package destination

import (
	"context"

	"voltbus/judge"
	"voltbus/judge/setting"
	"voltbus/point"
)

// open makes the functions of rules.
func (b *bench) open(cfg *Config) {
	b.verdicts = judge.Findings{}
	var one func(*setting.Rule) judge.Function
	if cfg.Function != nil {
		one = func(rule *setting.Rule) judge.Function { return cfg.Function(rule, b.name) }
	}
	b.functions = judge.NewPanel(b.rules, one)
}

// close ends the processes of functions.
func (b *bench) close() {
	if b != nil {
		b.functions.Close()
	}
}

// ask asks functions about the readings of blocks beyond the position that are sent. Each is asked about once, also if sending fails: the verdicts are
// kept until the position is behind the block.
func (b *bench) ask(ctx context.Context, blocks []*point.Block, shaper *shaper, p *position) error {
	if b == nil || b.functions.Empty() {
		return nil
	}
	var fresh []*point.Block
	for _, block := range blocks {
		if _, known := b.verdicts[block.LogSequence]; block.Log != p.Log || (!known && block.LogSequence > p.Sequence) {
			fresh = append(fresh, block)
		}
	}
	found, err := b.functions.Ask(ctx, fresh, func(path point.Path) bool { return shaper.shape(path) != nil })
	if err != nil {
		return err
	}
	for _, block := range fresh {
		b.verdicts[block.LogSequence] = found[block.LogSequence]
	}
	return nil
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
