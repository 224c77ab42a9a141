package client

import (
	"context"
	"errors"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
	"voltbus/protocol/bacnet/transaction"
)

// Property is what to read.
type Property = service.ReadPropertyRequest

// Result is a property that was read, or why it was not.
type Result struct {
	Value encoding.Any
	Err   error // service.Error: the device has no such value
}

// errUnfit says that an answer is not one to the request.
var errUnfit = errors.New("the answer does not fit the request")

// Sizes of parts of a ReadPropertyMultiple.
const (
	ackHead      = 3  // of the APDU
	objectSize   = 7  // identifier, opening and closing tag
	propertySize = 13 // a property with a value of a number, or an error
	textSize     = 40 // more for a text
	requestSize  = 5  // a property in the request
	defaultBatch = 100
)

// ReadProperty reads one property.
func (d Remote) ReadProperty(ctx context.Context, p Property) (encoding.Any, error) {
	answer, err := d.Do(ctx, service.ReadProperty, p.Append(nil))
	if err != nil {
		return nil, err
	}
	ack, err := service.DecodeReadPropertyAck(answer)
	if err != nil {
		return nil, err
	}
	if ack.Object != p.Object && p.Object.Instance <= encoding.MaxInstance || ack.Property != p.Property || ack.Index != p.Index {
		return nil, errUnfit
	}
	return ack.Value, nil
}

// Read reads properties in as few requests as the device takes, and returns a result for each, in
// order. When a device aborts because its answer would be too long, it is asked for less at once;
// when it cannot do ReadPropertyMultiple, answers it wrongly or leaves it unanswered, it is asked for
// one property at a time. Both are remembered until [Client.Forget]. The error is that of the way to the device,
// such as transaction.ErrTimeout: then results from there on have it too.
func (d Remote) Read(ctx context.Context, properties []Property) ([]Result, error) {
	results := make([]Result, len(properties))
	for at := 0; at < len(properties); {
		n := d.batch(properties[at:])
		var err error
		if n == 1 {
			err = d.readOne(ctx, properties[at], &results[at])
		} else {
			n, err = d.readMany(ctx, properties[at:at+n], results[at:at+n])
		}
		if err != nil {
			for i := at; i < len(results); i++ {
				results[i].Err = err
			}
			return results, err
		}
		at += n
	}
	return results, nil
}

// readOne returns an error only when the device cannot be reached.
func (d Remote) readOne(ctx context.Context, p Property, r *Result) error {
	if r.Value, r.Err = d.ReadProperty(ctx, p); fatal(r.Err) {
		return r.Err
	}
	d.learn(func(p *peer) { p.heard = true })
	return nil
}

// fatal reports whether further requests to the device are in vain.
func fatal(err error) bool {
	return errors.Is(err, transaction.ErrTimeout) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, ErrClosed) || errors.Is(err, ErrQueueFull)
}

// batch returns how many properties to ask for at once.
func (d Remote) batch(properties []Property) int {
	d.client.mu.Lock()
	p := d.client.peer(d.Address)
	single, most := p.single || p.pace.Batch == 1, p.batch
	if p.pace.Batch > 0 && (most == 0 || p.pace.Batch < most) {
		most = p.pace.Batch
	}
	d.client.mu.Unlock()
	switch {
	case single:
		return 1
	case most == 0:
		most = defaultBatch
	}
	limit := d.MaxAPDU
	if limit == 0 {
		limit = 1476
	}
	segments := d.Segmentation == service.SegmentedBoth || d.Segmentation == service.SegmentedTransmit
	answer, request := ackHead, 4
	for i, property := range properties {
		if i == most {
			return i
		}
		if i == 0 || property.Object != properties[i-1].Object {
			answer += objectSize
			request += objectSize
		}
		answer += propertySize
		if isText(property.Property) {
			answer += textSize
		}
		request += requestSize
		if i > 0 && (answer > limit && !segments || request > limit) {
			return i
		}
	}
	return len(properties)
}

// isText reports whether a property is a text, which is longer than other values.
func isText(p enum.Property) bool {
	switch p {
	case enum.PropertyObjectName, enum.PropertyDescription, enum.PropertyActiveText, enum.PropertyInactiveText,
		enum.PropertyLocation, enum.PropertyDeviceType, enum.PropertyModelName, enum.PropertyVendorName:
		return true
	default:
		return false
	}
}

// readMany reads properties at once and returns how many of them are done: none when less must be
// asked for.
func (d Remote) readMany(ctx context.Context, properties []Property, results []Result) (int, error) {
	answer, err := d.Do(ctx, service.ReadPropertyMultiple, readMultiple(properties).Append(nil))
	var abort transaction.AbortError
	var reject transaction.RejectError
	var refused service.Error
	switch {
	case err == nil:
		if distribute(answer, properties, results) {
			d.learn(func(p *peer) { p.heard, p.many = true, true })
			return len(properties), nil
		}
		d.learn(func(p *peer) { p.single = true })
	case errors.As(err, &abort), errors.Is(err, transaction.ErrTooLong):
		d.learn(func(p *peer) {
			if p.batch = len(properties) / 2; p.batch <= 1 {
				p.single = true
			}
		})
	case errors.As(err, &reject):
		d.learn(func(p *peer) { p.single = true })
	case errors.As(err, &refused): // some answer so when one of the objects is unknown
		if refused.Class == enum.ClassServices {
			d.learn(func(p *peer) { p.single = true })
			return 0, nil
		}
		for i := range properties {
			if err := d.readOne(ctx, properties[i], &results[i]); err != nil {
				return 0, err
			}
		}
		return len(properties), nil
	case errors.Is(err, transaction.ErrTimeout) && d.doubtful():
		if d.readOne(ctx, properties[0], &results[0]) != nil {
			return 0, err
		}
		d.learn(func(p *peer) { p.single = true })
		return 1, nil
	default:
		return 0, err
	}
	return 0, nil
}

// doubtful reports whether a device answers requests, but has never answered a ReadPropertyMultiple.
func (d Remote) doubtful() bool {
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	p := d.client.peer(d.Address)
	return p.heard && !p.many
}

func (d Remote) learn(note func(*peer)) {
	d.client.mu.Lock()
	defer d.client.mu.Unlock()
	note(d.client.peer(d.Address))
}

// readMultiple groups neighbours of one object.
func readMultiple(properties []Property) service.ReadMultipleRequest {
	var r service.ReadMultipleRequest
	for _, p := range properties {
		if len(r) == 0 || r[len(r)-1].Object != p.Object {
			r = append(r, service.ReadSpecification{Object: p.Object})
		}
		last := &r[len(r)-1]
		last.Properties = append(last.Properties, constructed.PropertyReference{Property: p.Property, Index: p.Index})
	}
	return r
}

// distribute puts an answer into results; false if it is not an answer to just the properties.
func distribute(answer []byte, properties []Property, results []Result) bool {
	ack, err := service.DecodeReadMultipleAck(answer)
	if err != nil {
		return false
	}
	at := 0
	for _, object := range ack {
		for _, p := range object.Properties {
			if at == len(properties) || properties[at] != (Property{Object: object.Object, Property: p.Property, Index: p.Index}) {
				return false
			}
			results[at] = Result{Value: p.Value}
			if p.Error != nil {
				results[at] = Result{Err: *p.Error}
			}
			at++
		}
	}
	return at == len(properties)
}

// ReadArray reads all elements of an array: at once or, when the answer is too long for the
// device, element by element. Elements of a constructed type may be several values long: only
// arrays of primitive values, such as object-list and priority-array, are read by this.
func (d Remote) ReadArray(ctx context.Context, p Property) ([]encoding.Value, error) {
	p.Index = constructed.Index{}
	value, err := d.ReadProperty(ctx, p)
	if _, aborted := errors.AsType[transaction.AbortError](err); !aborted {
		if err != nil {
			return nil, err
		}
		return value.Values()
	}
	p.Index = constructed.At(0)
	if value, err = d.ReadProperty(ctx, p); err != nil {
		return nil, err
	}
	length, err := value.One()
	if err != nil {
		return nil, err
	}
	return d.readElements(ctx, p, length.Uint())
}

// maxElements bounds an array that is read element by element.
const maxElements = 1 << 20

func (d Remote) readElements(ctx context.Context, p Property, length uint64) ([]encoding.Value, error) {
	var values []encoding.Value
	for from := uint64(1); from <= min(length, maxElements); from += defaultBatch {
		var properties []Property
		for i := from; i < from+defaultBatch && i <= length; i++ {
			p.Index = constructed.At(uint32(i))
			properties = append(properties, p)
		}
		results, err := d.Read(ctx, properties)
		if err != nil {
			return nil, err
		}
		for _, r := range results {
			if r.Err != nil {
				return nil, r.Err
			}
			v, err := r.Value.One()
			if err != nil {
				return nil, err
			}
			values = append(values, v)
		}
	}
	return values, nil
}
