package operation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"voltbus/fault"
)

// MostAnswer is how many bytes a result may have that is not written piece by piece.
const MostAnswer = 8 << 20

// chunk is how many bytes are collected before they are passed on.
const chunk = 32 << 10

var errLarge = fmt.Errorf("the answer has more than %d MiB; ask for a shorter time, fewer points, a limit or pages", MostAnswer>>20)

// Output collects an answer, and passes it on in pieces if there is somewhere to pass it to.
type Output struct {
	Buf  []byte
	to   io.Writer // nil: all stays in Buf
	sent bool
}

// NewOutput returns an output that passes pieces on to a writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Spill passes on what was collected if it is a piece. Callers call it again and again. What stays here may have MostAnswer bytes.
func (o *Output) Spill() error {
	switch {
	case o.to == nil && len(o.Buf) > MostAnswer:
		return fault.E("operation.Output", fault.Invalid, "", errLarge)
	case o.to == nil, len(o.Buf) < chunk:
		return nil
	}
	return o.Flush()
}

// Flush passes on what was collected. It fails with fault.Canceled: the reader has gone.
func (o *Output) Flush() error {
	if o.to == nil {
		return nil
	}
	o.sent = true
	_, err := o.to.Write(o.Buf)
	o.Buf = o.Buf[:0]
	if err != nil {
		return fault.E("operation.Output", fault.Canceled, "", err)
	}
	return nil
}

// Sent reports whether something was passed on.
func (o *Output) Sent() bool { return o.sent }

// Written is a result that is written as JSON, piece by piece: it may be large, or asked for often.
type Written func(to *Output) error

// Head says what an answer is, before its first byte.
type Head struct {
	Media  string
	File   string // the name under which it may be kept; "" for none
	Length int64  // bytes; 0 if nobody knows
	Value  string // of Spec.Header; "" for none
}

// Stream takes an answer of any length. An error of the handler before the first byte is answered as any other; later the answer is
// cut, so that nobody takes it for whole. Each write waits for a reader only so long.
type Stream interface {
	io.Writer
	// Enter waits for a place among those who are answered in the same way. Of what costs something one person has only so much a second.
	Enter(ctx context.Context, cost int) (leave func(), err error)
	// Begin may be called again until the first byte; it replaces what was said before.
	Begin(h Head)
	// Fail writes, as the last line of an answer in lines of JSON, why there are no more.
	Fail(err error) error
}

// Costly are arguments that cost something, in bytes.
type Costly interface{ Cost() int }

// StreamHandler writes what is asked for.
type StreamHandler[In any] func(ctx context.Context, c *Call, in *In, to Stream) error

// BindStream is Bind for an operation whose answer is a stream. The handler runs when there is a place for it.
func BindStream[In any](o Operation[In, None], may Judge[In], do StreamHandler[In]) Bound {
	d := o.Declared()
	return Bound{Declared: d, stream: func(ctx context.Context, c *Call, args Arguments, to Stream) error {
		in, err := judged(ctx, &d, c, args, may)
		if err != nil {
			return err
		}
		cost := 0
		if c, is := any(in).(Costly); is {
			cost = c.Cost()
		}
		leave, err := to.Enter(ctx, cost)
		if err != nil {
			return err
		}
		defer leave()
		return do(ctx, c, in, to)
	}}
}

var (
	errStream   = errors.New("answers with a stream; ask for it over HTTP")
	errNoStream = errors.New("answers with no stream")
)
