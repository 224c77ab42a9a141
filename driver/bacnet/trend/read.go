package trend

import (
	"context"
	"errors"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// portion is how many records are asked for at once. A device sends as many of them as fit.
const portion = 64

// Record is a value that was logged.
type Record struct {
	Time   time.Time
	Value  encoding.Any
	Status constructed.StatusFlags
}

// Part is a part of a log.
type Part struct {
	Records []Record
	More    bool      // there is more to be read
	Next    time.Time // from when on
}

// errStands says that a device answers what was not asked for.
var errStands = errors.New("the trend log answers with records that are not newer than the time asked for")

// Log is a trend log of a device.
type Log struct {
	Remote client.Remote
	ID     encoding.ObjectID
	Zone   *time.Location // of the times of its records
}

// Read reads records later than one time and earlier than another, the oldest first. What is no value, such as that the log
// was switched off or that a value could not be read, is left out.
func (l Log) Read(ctx context.Context, after, before time.Time) (Part, error) {
	ack, err := l.Remote.ReadRange(ctx, service.ReadRangeRequest{
		Object: l.ID, Property: enum.PropertyLogBuffer, By: service.ByTime, Time: dateTime(after.In(l.Zone)), Count: portion,
	})
	if err != nil {
		return Part{}, err
	}
	records, err := constructed.List(ack.Items, constructed.ReadLogRecord)
	if err != nil {
		return Part{}, err
	}
	part := Part{Next: after, More: len(records) > 0 && !ack.Last}
	for _, r := range records {
		at, known := r.Time.In(l.Zone)
		if !known {
			continue
		}
		at = at.UTC()
		if !at.Before(before) {
			part.More = false
			break
		}
		if !at.After(after) {
			continue
		}
		part.Next = at
		if v := valueOf(&r); v != nil {
			part.Records = append(part.Records, Record{Time: at, Value: v, Status: r.Status})
		}
	}
	if part.More && !part.Next.After(after) {
		return Part{}, errStands
	}
	return part, nil
}

// dateTime is a time as a device writes it, in the zone of the time.
func dateTime(t time.Time) encoding.DateTime {
	return encoding.DateTime{Date: encoding.DateOf(t), Time: encoding.TimeOf(t)}
}

// valueOf returns the value of a record as the property has it; nil for one without.
func valueOf(r *constructed.LogRecord) encoding.Any {
	switch r.Choice {
	case constructed.LogStatus, constructed.LogNull, constructed.LogFailure, constructed.LogTimeChange:
		return nil
	case constructed.LogAny:
		return r.Any
	default:
		return encoding.Encode(r.Value)
	}
}
