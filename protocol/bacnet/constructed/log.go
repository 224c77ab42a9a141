package constructed

import (
	"fmt"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// LogChoice says what a record of a trend log holds.
type LogChoice uint8

// The choices of a record's datum in the order of their context tags.
const (
	LogStatus LogChoice = iota // the log was disabled, purged or interrupted
	LogBoolean
	LogReal
	LogEnumerated
	LogUnsigned
	LogSigned
	LogBitString
	LogNull
	LogFailure    // the value could not be read
	LogTimeChange // the clock was set by so many seconds
	LogAny
)

// LogRecord is a record of a trend log (BACnetLogRecord).
type LogRecord struct {
	Time   encoding.DateTime // in the device's local time
	Choice LogChoice
	Value  encoding.Value // of everything but LogFailure and LogAny; bits of LogStatus: disabled, purged, interrupted
	Class  enum.ErrorClass
	Code   enum.ErrorCode
	Any    encoding.Any // of LogAny
	Status StatusFlags

	HasStatus bool
}

// ReadLogRecord reads a record, such as ReadRange returns of the property log-buffer.
func ReadLogRecord(d *encoding.Decoder) LogRecord {
	r := LogRecord{Time: d.DateTime(0)}
	d.Opening(1)
	r.datum(d)
	d.Closing(1)
	if r.HasStatus = d.Has(2); r.HasStatus {
		r.Status = StatusFlagsOf(d.Bits(2))
	}
	return r
}

func (r *LogRecord) datum(d *encoding.Decoder) {
	tag, _ := d.Peek()
	r.Choice = LogChoice(tag.Number)
	switch n := int(tag.Number); r.Choice {
	case LogStatus, LogBitString:
		r.Value = encoding.BitStringValue(d.Bits(n))
	case LogBoolean:
		r.Value = encoding.Boolean(d.Boolean(n))
	case LogReal, LogTimeChange:
		r.Value = encoding.Real(d.Real(n))
	case LogEnumerated:
		r.Value = encoding.Enumerated(d.Enumerated(n))
	case LogUnsigned:
		r.Value = encoding.Unsigned(d.Unsigned(n))
	case LogSigned:
		r.Value = encoding.Signed(d.Signed(n))
	case LogNull:
		d.Null(n)
	case LogFailure:
		d.Opening(n)
		r.Class, r.Code = enum.ErrorClass(d.Enumerated(encoding.App)), enum.ErrorCode(d.Enumerated(encoding.App))
		d.Closing(n)
	case LogAny:
		r.Any = d.Any(n)
	default:
		d.Fail(fmt.Errorf("datum of a log record: %w: %v", encoding.ErrTag, tag))
	}
}

// Append writes the record.
func (r LogRecord) Append(b []byte) []byte {
	b = encoding.AppendOpening(encoding.AppendDateTime(b, 0, r.Time), 1)
	switch r.Choice {
	case LogFailure:
		failure := encoding.Encode(encoding.Enumerated(r.Class), encoding.Enumerated(r.Code))
		b = encoding.AppendAny(b, int(LogFailure), failure)
	case LogAny:
		b = encoding.AppendAny(b, int(LogAny), r.Any)
	default:
		b = r.Value.Append(b, int(r.Choice))
	}
	if b = encoding.AppendClosing(b, 1); r.HasStatus {
		b = encoding.AppendBits(b, 2, r.Status.Bits())
	}
	return b
}
