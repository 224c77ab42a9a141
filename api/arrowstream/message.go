package arrowstream

import (
	"encoding/binary"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// Constants of Schema.fbs and Message.fbs of the Arrow format 1.0.
const (
	versionV5 = 4

	headerSchema = 1
	headerBatch  = 3

	typeInt           = 2
	typeFloatingPoint = 3
	typeUtf8          = 5
	typeTimestamp     = 10

	precisionDouble = 2
	unitMicrosecond = 2
)

// alignment is what each message and each buffer is padded to.
const alignment = 8

// padding returns the padding after n bytes.
func padding(n int) []byte { return make([]byte, -n&(alignment-1)) }

// framed returns metadata as it stands in a stream: a marker, the length with padding, and the metadata. Empty metadata ends the stream.
func framed(metadata []byte) []byte {
	metadata = append(metadata, padding(len(metadata))...)
	out := binary.LittleEndian.AppendUint32(nil, math.MaxUint32)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(metadata)))
	return append(out, metadata...)
}

// schemaMessage describes the columns: table Schema {endianness, fields}.
func schemaMessage(columns []*column) []byte {
	b := flatbuffers.NewBuilder(1024)
	fields := make([]flatbuffers.UOffsetT, len(columns))
	for i, c := range columns {
		fields[i] = field(b, c)
	}
	list := b.CreateVectorOfTables(fields)
	b.StartObject(2)
	b.PrependUOffsetTSlot(1, list, 0)
	return message(b, headerSchema, b.EndObject(), 0)
}

// field describes a column: table Field {name, nullable, type_type, type, dictionary, children}.
func field(b *flatbuffers.Builder, c *column) flatbuffers.UOffsetT {
	name := b.CreateString(c.name)
	tag, description := typeOf(b, c.kind)
	children := b.CreateVectorOfTables(nil)
	b.StartObject(6)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependBoolSlot(1, c.nullable, false)
	b.PrependByteSlot(2, tag, 0)
	b.PrependUOffsetTSlot(3, description, 0)
	b.PrependUOffsetTSlot(5, children, 0)
	return b.EndObject()
}

// typeOf is the union Type of a column: its tag, and the table.
func typeOf(b *flatbuffers.Builder, k kind) (tag byte, table flatbuffers.UOffsetT) {
	switch k {
	case utf8:
		b.StartObject(0)
		return typeUtf8, b.EndObject()
	case timestamp: // {unit, timezone}
		zone := b.CreateString("UTC")
		b.StartObject(2)
		b.PrependInt16Slot(0, unitMicrosecond, 0)
		b.PrependUOffsetTSlot(1, zone, 0)
		return typeTimestamp, b.EndObject()
	case float64s: // {precision}
		b.StartObject(1)
		b.PrependInt16Slot(0, precisionDouble, 0)
		return typeFloatingPoint, b.EndObject()
	case int64s:
		return typeInt, integer(b, 64, true)
	case uint8s:
		return typeInt, integer(b, 8, false)
	}
	panic("arrowstream: a column of no type")
}

// integer is the table Int {bitWidth, is_signed}.
func integer(b *flatbuffers.Builder, bits int32, signed bool) flatbuffers.UOffsetT {
	b.StartObject(2)
	b.PrependInt32Slot(0, bits, 0)
	b.PrependBoolSlot(1, signed, false)
	return b.EndObject()
}

// batchMessage describes the rows that follow it: table RecordBatch {length, nodes, buffers}, with the structs
// FieldNode {length, null_count} and Buffer {offset, length}. The end of a vector is written first.
func batchMessage(rows int, columns []*column, buffers [][]byte) []byte {
	b := flatbuffers.NewBuilder(1024)
	const pair, align = 16, 8 // both structs are two integers of 64 bits
	b.StartVector(pair, len(columns), align)
	for _, c := range slices.Backward(columns) {
		b.Prep(align, pair)
		b.PrependInt64(int64(c.nulls))
		b.PrependInt64(int64(rows))
	}
	nodes := b.EndVector(len(columns))

	body := int64(0)
	for _, buffer := range buffers {
		body += padded(buffer)
	}
	b.StartVector(pair, len(buffers), align)
	offset := body
	for _, buffer := range slices.Backward(buffers) {
		offset -= padded(buffer)
		b.Prep(align, pair)
		b.PrependInt64(int64(len(buffer)))
		b.PrependInt64(offset)
	}
	places := b.EndVector(len(buffers))

	b.StartObject(3)
	b.PrependInt64Slot(0, int64(rows), 0)
	b.PrependUOffsetTSlot(1, nodes, 0)
	b.PrependUOffsetTSlot(2, places, 0)
	return message(b, headerBatch, b.EndObject(), body)
}

func padded(buffer []byte) int64 { return int64(len(buffer) + len(padding(len(buffer)))) }

// message is the table Message {version, header_type, header, bodyLength}.
func message(b *flatbuffers.Builder, tag byte, header flatbuffers.UOffsetT, body int64) []byte {
	b.StartObject(4)
	b.PrependInt16Slot(0, versionV5, 0)
	b.PrependByteSlot(1, tag, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt64Slot(3, body, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}
