// Package valve measures where a message with readings spends its time in a node: request received, readings passed on for recording,
// recorded, and reply sent. Only a node that is measured has valves.
package valve

import (
	"context"
	"net/http"
	"time"

	"voltbus/meter"
	"voltbus/meter/gate"
)

// Passage is when one message passed the four valves of a node, in their order. The moments are of the monotonic clock.
type Passage struct {
	Seen     time.Time // the head of the request has been read
	Entered  time.Time // its readings are handed to be recorded: who sent them, and what they are, is known
	Left     time.Time // what became of them is known: those that were accepted are on disk
	Sent     time.Time // the reply was handed to the network
	Readings int       // that the message held
}

// Entered is called when the readings of a message are about to be recorded, and so before its sender knows of a reply.
// What it returns is called once, after the reply was sent; Sent is zero if the node broke off. Both are called from
// many goroutines.
type Entered func() (passed func(*Passage))

type key struct{}

// watched is a message on its way.
type watched struct {
	Passage
	entered Entered
	passed  func(*Passage)
}

// Watch returns a handler that has next answer, and tells of each message that holds readings. It returns next itself if
// nobody is to be told.
func Watch(next http.Handler, entered Entered) http.Handler {
	if entered == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := &watched{Passage: Passage{Seen: time.Now()}, entered: entered}
		defer func() {
			if p.passed != nil {
				p.passed(&p.Passage)
			}
		}()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), key{}, p)))
		if p.passed != nil {
			_ = http.NewResponseController(w).Flush() // nobody to tell if the sender has gone
			p.Sent = time.Now()
		}
	})
}

// Gate takes in readings.
type Gate interface {
	Take(ctx context.Context, sender, under string, readings []meter.Reading) (gate.Taken, error)
}

// At returns a gate with the two inner valves.
func At(g Gate) Gate { return valved{g} }

type valved struct{ next Gate }

// Take implements Gate.
func (v valved) Take(ctx context.Context, sender, under string, readings []meter.Reading) (gate.Taken, error) {
	p, ok := ctx.Value(key{}).(*watched)
	if !ok {
		return v.next.Take(ctx, sender, under, readings)
	}
	if p.passed == nil {
		p.passed = p.entered()
	}
	p.Entered, p.Readings = time.Now(), len(readings)
	taken, err := v.next.Take(ctx, sender, under, readings)
	p.Left = time.Now()
	return taken, err
}
