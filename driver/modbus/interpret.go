package modbus

import (
	"fmt"
	"slices"

	"voltbus/driver"
	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// Interpret implements driver.Interpreter. Only numbers of several words have an order.
func (s *session) Interpret(name string) driver.Raw {
	i, known := s.byName[name]
	if !known || s.results[i].words == nil || s.results[i].quality != point.Good || !s.refusals[i].until.IsZero() {
		return driver.Raw{}
	}
	r, words := s.registers[i], s.results[i].words
	raw := driver.Raw{At: fmt.Sprintf("%s %d", r.table, r.address), Words: slices.Clone(words)}
	if last := r.end() - 1; last > int(r.address) {
		raw.At += fmt.Sprintf("–%d", last)
	}
	other, ok := s.other(i)
	if !ok || r.layout.Words < 2 || r.layout.Form == layout.Text {
		return raw
	}
	now := r.layout.Order
	for _, name := range [...]string{"ABCD", "CDAB", "BADC", "DCBA"} {
		r.layout.Order, _ = layout.ParseOrder(name)
		value, _ := r.decode(words, other)
		raw.Orders = append(raw.Orders, driver.Ordered{Order: name, Value: value, Used: r.layout.Order == now})
	}
	return raw
}
