package opcua

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/gopcua/opcua/ua"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/opcua/client"
)

// The reasons why a write is refused here.
var (
	errNoPoint  = errors.New("the device has no such point; write one of its registry")
	errReadOnly = errors.New("is read-only; set writable in the registry if the server allows it")
)

var _ driver.Writer = (*session)(nil)

// Write implements driver.Writer.
func (s *session) Write(ctx context.Context, name string, v point.Value) (point.Value, error) {
	const op = "opcua.Write"
	i, known := s.byName[name]
	switch {
	case !known:
		return point.Value{}, fault.E(op, fault.NotFound, name, errNoPoint)
	case !s.items[i].Writable:
		return point.Value{}, fault.E(op, fault.Refused, name, errReadOnly)
	case s.at[i].id == nil:
		return point.Value{}, fault.E(op, fault.Rejected, name, s.at[i].missing)
	}
	t := &s.items[i]
	if _, err := t.Fit(v); err != nil { // before anything is asked
		return point.Value{}, fault.E(op, fault.Invalid, name, err)
	}
	kind, err := s.typeOf(ctx, s.at[i])
	if err != nil {
		return point.Value{}, s.unsent(op, name, ctx, err)
	}
	encoded, err := t.Encode(v, kind)
	if err != nil {
		return point.Value{}, fault.E(op, fault.Invalid, name, err)
	}
	if err := ctx.Err(); err != nil {
		return point.Value{}, fault.E(op, fault.KindOf(err), name, err)
	}
	if err := s.line.conn.Err(); err != nil {
		return point.Value{}, s.unsent(op, name, ctx, err)
	}
	if err := s.write(ctx, i, encoded); err != nil {
		return point.Value{}, s.unwritten(op, name, ctx, err)
	}
	return s.readBack(ctx, i)
}

// typeOf returns the built-in type of a node: that of its value, or of the attribute DataType if it has none.
func (s *session) typeOf(ctx context.Context, n *node) (ua.TypeID, error) {
	s.line.mu.Lock()
	kind := n.kind
	s.line.mu.Unlock()
	if kind != ua.TypeIDNull {
		return kind, nil
	}
	results, err := read(ctx, s.line.conn, []*ua.ReadValueID{valueOf(n.id), attributeOf(n.id, ua.AttributeIDDataType)}, s.cfg.Timeout)
	if err != nil {
		return kind, err
	}
	if v := results[0]; v.Value != nil && v.Value.Type() != ua.TypeIDNull {
		kind = v.Value.Type()
	} else if id, is := valueIn(results[1]).(*ua.NodeID); is && id.Namespace() == 0 && id.IntID() <= uint32(ua.TypeIDDiagnosticInfo) {
		kind = ua.TypeID(id.IntID())
	}
	if kind == ua.TypeIDNull && isBad(results[0].Status) {
		return kind, results[0].Status
	}
	if kind == ua.TypeIDNull {
		return kind, errNoType
	}
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	n.kind = kind
	return kind, nil
}

var errNoType = errors.New("the node has no value yet, and its type is none of the built-in ones: it cannot be written from here")

// write sends one value (Part 4, clause 5.11.4).
func (s *session) write(ctx context.Context, i int, v *ua.Variant) error {
	t := &s.items[i]
	w := &ua.WriteValue{NodeID: s.at[i].id, AttributeID: ua.AttributeIDValue, Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: v}}
	if t.Element >= 0 {
		w.IndexRange = strconv.Itoa(t.Element)
	}
	resp, err := s.line.conn.Do(ctx, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{w}}, s.cfg.Timeout)
	if err != nil {
		return err
	}
	answer, is := resp.(*ua.WriteResponse)
	if !is || len(answer.Results) != 1 {
		return fmt.Errorf("the server does not answer as asked: %T for a write", resp)
	}
	if code := answer.Results[0]; isBad(code) {
		return code
	}
	return nil
}

// unsent is the fault of a write of which nothing was sent.
func (s *session) unsent(op, name string, ctx context.Context, err error) error {
	if declined(err) || errors.Is(err, errNoType) {
		return fault.E(op, fault.Rejected, name, explain(err))
	}
	err = s.fail(op, ctx, err)
	if fault.KindOf(err) == fault.Timeout {
		return fault.E("", fault.Unreachable, "", err)
	}
	return err
}

// unwritten is the fault of a write whose answer says no, or is missing.
func (s *session) unwritten(op, name string, ctx context.Context, err error) error {
	switch {
	case declined(err):
		return fault.E(op, fault.Rejected, name, explain(err))
	case errors.Is(err, client.ErrLost), sessionOver(err):
		return fault.E(op, fault.Timeout, name, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	case ctx.Err() != nil:
		return fault.E(op, fault.KindOf(ctx.Err()), name, err)
	}
	return fault.E(op, fault.Timeout, name, s.fail(op, ctx, err))
}

// readBack returns what the point reports after a write; none if it does not tell.
func (s *session) readBack(ctx context.Context, i int) (point.Value, error) {
	const op = "opcua.Write"
	results, err := read(ctx, s.line.conn, []*ua.ReadValueID{valueOf(s.at[i].id)}, s.cfg.Timeout)
	switch {
	case err != nil && declined(err):
		return point.Value{}, nil
	case err != nil:
		return point.Value{}, fault.E(op, fault.Timeout, s.items[i].Name, fmt.Errorf("was written, but not read back: %w", s.fail(op, ctx, err)))
	case isBad(results[0].Status):
		return point.Value{}, nil // it can only be written
	}
	v, ok := s.items[i].Decode(results[0].Value)
	if !ok {
		return point.Value{}, fault.E(op, fault.Rejected, s.items[i].Name, fmt.Errorf("%w: it then reports something that is no value of the point", driver.ErrPartial))
	}
	return v, nil
}
