package client

import (
	"context"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/service"
)

// Write writes a property at a priority from 1, the highest, to 16; 0 is for properties that are
// not commanded. Null relinquishes the command at the priority.
func (d Remote) Write(ctx context.Context, p Property, v encoding.Value, priority uint8) error {
	r := service.WritePropertyRequest{ReadPropertyRequest: p, Value: encoding.Encode(v), Priority: priority}
	_, err := d.Do(ctx, service.WriteProperty, r.Append(nil))
	return err
}

// WriteMultiple writes properties in order up to the first that fails.
func (d Remote) WriteMultiple(ctx context.Context, r service.WriteMultipleRequest) error {
	_, err := d.Do(ctx, service.WritePropertyMultiple, r.Append(nil))
	return err
}

// ReadRange reads a part of a list, such as records of a trend log.
func (d Remote) ReadRange(ctx context.Context, r service.ReadRangeRequest) (service.ReadRangeAck, error) {
	answer, err := d.Do(ctx, service.ReadRange, r.Append(nil))
	if err != nil {
		return service.ReadRangeAck{}, err
	}
	return service.DecodeReadRangeAck(answer)
}

// Events returns the objects of a device that are in alarm or not acknowledged.
func (d Remote) Events(ctx context.Context) ([]service.EventSummary, error) {
	var all []service.EventSummary
	var last *encoding.ObjectID
	for len(all) < maxElements {
		answer, err := d.Do(ctx, service.GetEventInformation, service.AppendGetEvents(nil, last))
		if err != nil {
			return nil, err
		}
		part, err := service.DecodeEventInformation(answer)
		if err != nil {
			return nil, err
		}
		all = append(all, part.Events...)
		if !part.More || len(part.Events) == 0 {
			break
		}
		last = &part.Events[len(part.Events)-1].Object
	}
	return all, nil
}

// Acknowledge acknowledges an alarm.
func (d Remote) Acknowledge(ctx context.Context, r service.AcknowledgeRequest) error {
	_, err := d.Do(ctx, service.AcknowledgeAlarm, r.Append(nil))
	return err
}
