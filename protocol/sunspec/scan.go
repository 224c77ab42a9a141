package sunspec

import (
	"context"
	"errors"
	"fmt"
)

// Read returns count holding registers from an address on the wire, at most [MostRegisters].
type Read func(ctx context.Context, address, count uint16) ([]uint16, error)

// MostRegisters is the most that one request reads.
const MostRegisters = 125

// Bases are the addresses at which a map may begin (Device Information Model Specification 1.2, 6.2).
func Bases() []uint16 { return []uint16{40000, 50000, 0} }

const (
	marker0, marker1 = 0x5375, 0x6e53 // "SunS"
	end              = 0xffff         // the ID behind the last model
	mostModels       = 256
)

// ErrNoMap says that a device has no SunSpec map.
var ErrNoMap = errors.New(`the device has no SunSpec map: the registers 40000, 50000 and 0 do not hold "SunS"; check the unit number, ` +
	"and whether SunSpec has to be switched on in the device")

// Found is a model that a device has.
type Found struct {
	ID      uint16
	Address uint16   // of the ID
	Words   []uint16 // all registers of the model from the ID on
	Model   *Model   // nil if its definition is not published
}

// Scan finds the models of a device: the marker, then model after model until the end. answered reports whether an error of read is an
// answer of the device, such as an exception: then the next base address is tried.
func Scan(ctx context.Context, read Read, answered func(error) bool) ([]Found, error) {
	for _, base := range Bases() {
		words, err := read(ctx, base, 2)
		switch {
		case err != nil && answered(err):
			continue
		case err != nil:
			return nil, err
		case words[0] == marker0 && words[1] == marker1:
			return chain(ctx, read, base+2)
		}
	}
	return nil, ErrNoMap
}

func chain(ctx context.Context, read Read, address uint16) ([]Found, error) {
	var list []Found
	for at := int(address); len(list) < mostModels; {
		if at+2 > 1<<16 {
			return list, fmt.Errorf("the chain of models has no end before register 65535; the last model is %d at %d", list[len(list)-1].ID, list[len(list)-1].Address)
		}
		head, err := read(ctx, uint16(at), 2)
		if err != nil {
			return list, fmt.Errorf("read the model at %d: %w", at, err)
		}
		if head[0] == end {
			return list, nil
		}
		length := 2 + int(head[1])
		if at+length > 1<<16 {
			return list, fmt.Errorf("the model %d at %d says that it has %d registers, which are beyond the last one", head[0], at, head[1])
		}
		f := Found{ID: head[0], Address: uint16(at), Words: head}
		for len(f.Words) < length {
			more, err := read(ctx, uint16(at+len(f.Words)), uint16(min(MostRegisters, length-len(f.Words))))
			if err != nil {
				return list, fmt.Errorf("read the model %d at %d: %w", f.ID, at, err)
			}
			f.Words = append(f.Words, more...)
		}
		if f.Model, err = Definition(f.ID); err != nil {
			return list, err
		}
		list = append(list, f)
		at += length
	}
	return list, fmt.Errorf("the device has more than %d models, which is no SunSpec map", mostModels)
}
