package modbusfarm

import (
	"time"

	"github.com/simonvetter/modbus"
)

// plant answers the requests for all boilers. The library calls it from one goroutine for each
// connection.
type plant struct {
	boilers []*boiler
	now     func() time.Time
}

func newPlant(units int, seed int64, now func() time.Time) *plant {
	p := &plant{now: now}
	for unit := 1; unit <= units; unit++ {
		p.boilers = append(p.boilers, newBoiler(uint8(unit), seed, now()))
	}
	return p
}

// boiler returns the boiler of a unit. An unknown unit is answered like a gateway does.
func (p *plant) boiler(unit uint8) (*boiler, error) {
	if unit < 1 || int(unit) > len(p.boilers) {
		return nil, modbus.ErrGWTargetFailedToRespond
	}
	return p.boilers[unit-1], nil
}

// HandleCoils implements modbus.RequestHandler.
func (p *plant) HandleCoils(req *modbus.CoilsRequest) ([]bool, error) {
	b, err := p.boiler(req.UnitId)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if int(req.Addr)+int(req.Quantity) > len(b.coils) {
		return nil, modbus.ErrIllegalDataAddress
	}
	if req.IsWrite {
		b.change(p.now(), func() { copy(b.coils[req.Addr:], req.Args) })
	}
	return append([]bool(nil), b.coils[req.Addr:req.Addr+req.Quantity]...), nil
}

// HandleDiscreteInputs implements modbus.RequestHandler.
func (p *plant) HandleDiscreteInputs(req *modbus.DiscreteInputsRequest) ([]bool, error) {
	b, err := p.boiler(req.UnitId)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	inputs := b.discrete(p.now())
	if int(req.Addr)+int(req.Quantity) > len(inputs) {
		return nil, modbus.ErrIllegalDataAddress
	}
	return inputs[req.Addr : req.Addr+req.Quantity], nil
}

// HandleInputRegisters implements modbus.RequestHandler.
func (p *plant) HandleInputRegisters(req *modbus.InputRegistersRequest) ([]uint16, error) {
	b, err := p.boiler(req.UnitId)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.inputs(p.now()).read(req.Addr, req.Quantity)
}

// HandleHoldingRegisters implements modbus.RequestHandler.
func (p *plant) HandleHoldingRegisters(req *modbus.HoldingRegistersRequest) (words []uint16, err error) {
	b, err := p.boiler(req.UnitId)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !req.IsWrite {
		return b.holding.read(req.Addr, req.Quantity)
	}
	if _, err := b.holding.read(req.Addr, req.Quantity); err != nil {
		return nil, err
	}
	b.change(p.now(), func() { err = b.write(req.Addr, req.Args) })
	return nil, err
}

// space is an address space with gaps: blocks of registers by their first address.
type space map[uint16][]uint16

// read returns registers that lie in one block.
func (s space) read(addr, quantity uint16) ([]uint16, error) {
	for first, block := range s {
		from := int(addr) - int(first)
		if from >= 0 && from+int(quantity) <= len(block) {
			return append([]uint16(nil), block[from:from+int(quantity)]...), nil
		}
	}
	return nil, modbus.ErrIllegalDataAddress
}
