package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// patternState says where a request stands among pattern control blocks (g12v2), each of
// which is followed by the masks (g12v3) of the points that it is for.
type patternState uint8

const (
	patternNone   patternState = iota
	patternOpen                // a block came and no mask yet
	patternMasked              // another mask may follow
)

// block checks the header of a pattern control block.
func (p patternState) block(h app.Header) (patternState, app.IIN) {
	if p == patternOpen || h.Qualifier.Ranged() || h.Qualifier.Prefixed() || h.Count != 1 {
		return p, app.IINParameterError
	}
	return patternOpen, 0
}

// mask checks the header of a pattern mask.
func (p patternState) mask(h app.Header) (patternState, app.IIN) {
	if p == patternNone || !h.Qualifier.Ranged() {
		return p, app.IINParameterError
	}
	return patternMasked, 0
}

// pattern is the block for which masks follow.
type pattern struct {
	block  object.CROB
	status *byte // in the answer
}

// block begins a pattern.
func (run *controls) block(h app.Header) {
	for o := range h.Objects() {
		run.pattern.block, _ = o.CROB()
		run.pattern.status = &o.Data[len(o.Data)-1]
		*run.pattern.status = byte(object.StatusSuccess)
	}
}

// mask carries out a pattern for the points of a mask. Its block takes the status of the
// first command that failed.
func (run *controls) mask(h app.Header) {
	for p := range h.Points() {
		if !p.Value.Bool() {
			continue
		}
		status := run.one(Command{Kind: object.KindBinaryCommand, Index: p.Index, CROB: run.pattern.block})
		if *run.pattern.status == byte(object.StatusSuccess) {
			*run.pattern.status = byte(status)
		}
	}
}
