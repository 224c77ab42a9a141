// Package account tracks the fate of every sample that a load generator sent: acknowledged, refused, stored, lost, repeated or out of
// order.
package account

import (
	"fmt"
	"strings"
)

// Balance is an account of samples. The zero Balance is that of nothing sent.
type Balance struct {
	Sent         uint64 `json:"sent"`
	Acknowledged uint64 `json:"acknowledged"` // the receiver said that it has them
	Refused      uint64 `json:"refused"`      // the receiver said that it does not have them
	Unanswered   uint64 `json:"unanswered"`   // no answer, such as when it was killed: either is right

	Found     uint64 `json:"found"`      // different samples that a query returned
	Lost      uint64 `json:"lost"`       // acknowledged, and not found
	Repeated  uint64 `json:"repeated"`   // rows beyond the first of a sample
	Reordered uint64 `json:"reordered"`  // rows that came behind a later one of their writer
	Foreign   uint64 `json:"foreign"`    // rows that nobody sent, or that were refused
	Interrupt uint64 `json:"interrupts"` // how often the receiver was killed or cut off
}

// Add adds another account.
func (b *Balance) Add(o Balance) {
	b.Sent += o.Sent
	b.Acknowledged += o.Acknowledged
	b.Refused += o.Refused
	b.Unanswered += o.Unanswered
	b.Found += o.Found
	b.Lost += o.Lost
	b.Repeated += o.Repeated
	b.Reordered += o.Reordered
	b.Foreign += o.Foreign
	b.Interrupt += o.Interrupt
}

// Balanced reports whether everything sent has one fate, and everything acknowledged was found,
// once and in order.
func (b *Balance) Balanced() bool {
	return b.Sent == b.Acknowledged+b.Refused+b.Unanswered &&
		b.Lost == 0 && b.Repeated == 0 && b.Reordered == 0 && b.Foreign == 0
}

// Words says the account in a sentence.
func (b *Balance) Words() string {
	var wrong []string
	add := func(n uint64, what string) {
		if n > 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	if fates := b.Acknowledged + b.Refused + b.Unanswered; b.Sent != fates {
		wrong = append(wrong, fmt.Sprintf("%d were sent but %d have a fate", b.Sent, fates))
	}
	add(b.Lost, "acknowledged samples are lost")
	add(b.Repeated, "rows stand twice")
	add(b.Reordered, "rows are out of order")
	add(b.Foreign, "rows were never accepted")
	text := fmt.Sprintf("%d sent = %d acknowledged + %d refused", b.Sent, b.Acknowledged, b.Refused)
	if b.Unanswered > 0 || b.Interrupt > 0 {
		text += fmt.Sprintf(" + %d without an answer (interrupted %d times)", b.Unanswered, b.Interrupt)
	}
	if len(wrong) > 0 {
		return text + "; " + strings.Join(wrong, ", ") + "."
	}
	return text + "; all acknowledged were found, once and in order."
}
