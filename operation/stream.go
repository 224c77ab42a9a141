package operation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"voltbus/fault"
)

// MostAnswer is the maximum size in bytes of a result that is not written piece by piece.
const MostAnswer = 8 << 20

// chunk is how many bytes are collected before they are passed on.
const chunk = 32 << 10

var errLarge = fmt.Errorf("the answer has more than %d MiB; ask for a shorter time, fewer points, a limit or pages", MostAnswer>>20)

// Output collects an answer, and passes it on in pieces if it has a destination.
type Output struct {
	Buf  []byte
	to   io.Writer // nil: all stays in Buf
	sent bool
}

// NewOutput returns an output that passes pieces on to a writer.
func NewOutput(to io.Writer) *Output { return &Output{to: to} }

// Spill passes on what was collected once it makes a chunk. Handlers call it repeatedly. Without a destination, up to MostAnswer
// bytes may be collected.
func (o *Output) Spill() error {
	switch {
	case o.to == nil && len(o.Buf) > MostAnswer:
		return fault.E("operation.Output", fault.Invalid, "", errLarge)
	case o.to == nil, len(o.Buf) < chunk:
		return nil
	}
	return o.Flush()
}

// Flush passes on what was collected. It fails with fault.Canceled if the client has disconnected.
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

// Sent reports whether anything was passed on.
func (o *Output) Sent() bool { return o.sent }

// Written is a result that is written as JSON piece by piece: because it is large, or requested often.
type Written func(to *Output) error

// Head describes an answer, before its first byte.
type Head struct {
	Media  string
	File   string // the file name under which to save it; "" for none
	Length int64  // bytes; 0 if unknown
	Value  string // of Spec.Header; "" for none
}

// Stream accepts an answer of any length. An error of the handler before the first byte is answered as any other; after that the
// answer is cut, so that nobody takes it for complete. Each write waits for the client only so long.
type Stream interface {
	io.Writer
	// Enter waits for a place among the streams of the same kind. Streams with a cost are also limited per second and person.
	Enter(ctx context.Context, cost int) (leave func(), err error)
	// Begin may be called again until the first byte; it replaces the previous head.
	Begin(h Head)
	// Fail writes why there are no more lines, as the last line of an answer in lines of JSON.
	Fail(err error) error
}

// Costly are arguments with a cost, in bytes.
type Costly interface{ Cost() int }

// StreamHandler writes a streamed answer.
type StreamHandler[In any] func(ctx context.Context, c *Call, in *In, to Stream) error

// BindStream is Bind for an operation whose answer is a stream. The handler runs once it has a place.
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
