package recorder

import (
	"context"
	"hash/crc32"
	"maps"

	"voltbus/point"
	"voltbus/wire"
)

// Position is the position of an origin: its last block.
type Position struct {
	Sequence uint64 `json:"sequence"`
	Samples  uint64 `json:"samples"` // in all blocks up to Sequence, including those left out: point.Block.End
	Refused  uint64 `json:"refused"` // point.Block.Refused
}

// behind returns the position of the block's origin after it.
func behind(b *point.Block) Position {
	return Position{Sequence: b.Sequence, Samples: b.End(), Refused: b.Refused}
}

// Scanner is a log that can be read to its end.
type Scanner interface {
	// Scan delivers the existing entries from a sequence number on, in order, and returns after the last. An
	// error from deliver ends it and is returned.
	Scan(ctx context.Context, from uint64, deliver func(sequence uint64, data []byte) error) error
}

// Survey reads a log from a sequence number to its end, and returns the last block of each origin: that of
// known, or of the log if it is later. Blocks that cannot be decoded are skipped.
func Survey(ctx context.Context, log Scanner, from uint64, known map[string]Position) (map[string]Position, error) {
	s, err := survey(ctx, log, from, known)
	return s.positions, err
}

// FindStart surveys a log like Survey, for a recorder of the origin. Numbers that unreadable blocks may have
// are not reused.
func FindStart(ctx context.Context, log Scanner, from uint64, known map[string]Position, origin string) (Start, error) {
	s, err := survey(ctx, log, from, known)
	if err != nil {
		return Start{}, err
	}
	urgent := point.UrgentOrigin(origin)
	start := Start{Own: s.free(origin), Others: s.positions}
	if s.positions[urgent].Sequence > 0 {
		start.Urgent = s.free(urgent)
	}
	delete(start.Others, origin)
	delete(start.Others, urgent)
	return start, nil
}

// surveyed is what a survey found.
type surveyed struct {
	positions map[string]Position
	lost      uint64            // unreadable entries, of any origin
	before    map[string]uint64 // those of them before the origin's last block
	sums      map[place]uint32  // of the entries, if they are wanted; nil otherwise
}

// place is where a block stands in its origin.
type place struct {
	origin   string
	sequence uint64
}

// free returns the position from which the origin's numbers are free: unreadable entries after its last block
// may be its own.
func (s *surveyed) free(origin string) Position {
	p := s.positions[origin]
	p.Sequence += s.lost - s.before[origin]
	return p
}

func survey(ctx context.Context, log Scanner, from uint64, known map[string]Position) (surveyed, error) {
	s := surveyed{positions: maps.Clone(known), before: make(map[string]uint64)}
	return s, s.read(ctx, log, from)
}

// read surveys a log from a sequence number on.
func (s *surveyed) read(ctx context.Context, log Scanner, from uint64) error {
	if s.positions == nil {
		s.positions = make(map[string]Position)
	}
	var decoder wire.Decoder
	var block point.Block
	next := uint64(0)
	return log.Scan(ctx, from, func(sequence uint64, data []byte) error {
		if next > 0 && sequence > next {
			s.lost += sequence - next
		}
		next = sequence + 1
		damage := decoder.DecodeBlock(data, &block)
		s.see(damage, &block)
		if s.sums != nil && damage == nil {
			s.sums[place{block.Origin, block.Sequence}] = crc32.Checksum(data, castagnoli)
		}
		return nil
	})
}

// see records an entry, or that it is unreadable.
func (s *surveyed) see(damage error, block *point.Block) {
	if damage != nil {
		s.lost++
		return
	}
	if block.Sequence > s.positions[block.Origin].Sequence {
		s.positions[block.Origin] = behind(block)
	}
	s.before[block.Origin] = s.lost
}
