package duckdb

import (
	"path/filepath"

	"voltbus/meter/store/duckdb/around"
	"voltbus/meter/store/duckdb/spill"
	"voltbus/store/duckdb/engine"
)

// mostReads is how often the table of a batch is read at most, a block at a time. That of a larger one is read once, and its rows are
// divided.
const mostReads = 3

// cut divides the channels that are due into blocks, as many as there is memory for in each. A block ends between meters: so it has what a
// channel and its register have in the batch.
func (j *judging) cut() (blocks [][]uint32) {
	from, cells := 0, 0
	for i, channel := range j.due {
		_, c := j.s.dir.Key(channel)
		n := len(j.endsOf(c.Interval))
		if cells+n > j.s.options.Cells && i > from && !j.sameMeter(j.due[i-1], channel) {
			blocks = append(blocks, j.due[from:i:i])
			from, cells = i, 0
		}
		cells += n
	}
	if from < len(j.due) {
		blocks = append(blocks, j.due[from:])
	}
	return blocks
}

func (j *judging) sameMeter(a, b uint32) bool {
	of, _ := j.s.dir.Key(a)
	other, _ := j.s.dir.Key(b)
	return of.Meter == other.Meter
}

// divide reads the batch once if there are many blocks.
func (j *judging) divide(blocks [][]uint32) error {
	if j.is.Taken == 0 || len(blocks) <= mostReads {
		return nil
	}
	of := make([]uint32, j.channels) // by channel: its block, plus one
	for i, list := range blocks {
		for _, channel := range list {
			of[channel] = uint32(i) + 1
		}
	}
	file, err := spill.New(filepath.Join(j.s.options.Dir, "tmp"), len(blocks))
	if err != nil {
		return err
	}
	j.parts = file
	return j.c.Query(j.ctx, "SELECT channel, place, value, recorded, source FROM "+j.is.BatchTable(), func(k *engine.Chunk) error {
		places, values := engine.Numbers[int32](k, 1), engine.Numbers[float64](k, 2)
		recorded, sources := engine.Numbers[uint32](k, 3), engine.Numbers[uint32](k, 4)
		for i, channel := range engine.Numbers[uint32](k, 0) {
			if of[channel] == 0 {
				continue
			}
			if err := file.Put(int(of[channel]-1), row{Channel: channel, Place: places[i], Value: values[i], Recorded: recorded[i], Source: sources[i]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// registers returns what a divided batch has of the registers among the channels of a block, which were read.
func (b *block) registers(j *judging) []around.Version {
	if j.parts == nil {
		return nil
	}
	var out []around.Version
	for _, r := range b.rows {
		if r.Place < 0 {
			out = append(out, around.Version{Channel: r.Channel, Place: r.Place, Value: r.Value, Source: r.Source})
		}
	}
	return out
}
