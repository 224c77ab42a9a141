package service

import (
	"voltbus/protocol/bacnet/encoding"
)

// Communication is what DeviceCommunicationControl sets (clause 16.1).
type Communication uint8

// The states of communication.
const (
	EnableCommunication Communication = iota
	DisableCommunication
	DisableInitiation
)

// CommunicationRequest is DeviceCommunicationControl (clause 16.1).
type CommunicationRequest struct {
	State    Communication
	Minutes  uint16 // 0: without an end
	Password string // empty: none
}

// Append writes the request.
func (r CommunicationRequest) Append(b []byte) []byte {
	if r.Minutes > 0 {
		b = encoding.AppendUnsigned(b, 0, uint64(r.Minutes))
	}
	b = encoding.AppendEnumerated(b, 1, uint32(r.State))
	return appendPassword(b, 2, r.Password)
}

// DecodeCommunicationRequest reads the request.
func DecodeCommunicationRequest(p []byte) (CommunicationRequest, error) {
	var r CommunicationRequest
	d := encoding.NewDecoder(p)
	if d.Has(0) {
		r.Minutes = uint16(d.Unsigned(0))
	}
	r.State, r.Password = Communication(d.Enumerated(1)), readPassword(d, 2)
	return r, d.End()
}

func appendPassword(b []byte, tag int, password string) []byte {
	if password == "" {
		return b
	}
	return encoding.AppendText(b, tag, password)
}

func readPassword(d *encoding.Decoder, tag int) string {
	if !d.Has(tag) {
		return ""
	}
	return d.Text(tag)
}

// Reinitialization is what ReinitializeDevice does (clause 16.4).
type Reinitialization uint8

// The states of the standard.
const (
	Coldstart Reinitialization = iota
	Warmstart
	StartBackup
	EndBackup
	StartRestore
	EndRestore
	AbortRestore
	ActivateChanges
)

// ReinitializeRequest is ReinitializeDevice (clause 16.4).
type ReinitializeRequest struct {
	State    Reinitialization
	Password string // empty: none
}

// Append writes the request.
func (r ReinitializeRequest) Append(b []byte) []byte {
	return appendPassword(encoding.AppendEnumerated(b, 0, uint32(r.State)), 1, r.Password)
}

// DecodeReinitializeRequest reads the request.
func DecodeReinitializeRequest(p []byte) (ReinitializeRequest, error) {
	d := encoding.NewDecoder(p)
	r := ReinitializeRequest{Reinitialization(d.Enumerated(0)), readPassword(d, 1)}
	return r, d.End()
}

// AppendTime writes TimeSynchronization, in local time, or UTCTimeSynchronization (clauses 16.7
// and 16.8).
func AppendTime(b []byte, t encoding.DateTime) []byte {
	return encoding.AppendDateTime(b, encoding.App, t)
}

// DecodeTime reads TimeSynchronization and UTCTimeSynchronization.
func DecodeTime(p []byte) (encoding.DateTime, error) {
	d := encoding.NewDecoder(p)
	t := d.DateTime(encoding.App)
	return t, d.End()
}

// ReadFileRequest is AtomicReadFile (clause 14.1).
type ReadFileRequest struct {
	File    encoding.ObjectID
	Records bool   // Start and Count are records, otherwise octets
	Start   int32  // from 0
	Count   uint32 // at most so many
}

func streamOrRecords(records bool) int {
	if records {
		return 1
	}
	return 0
}

// Append writes the request.
func (r ReadFileRequest) Append(b []byte) []byte {
	tag := streamOrRecords(r.Records)
	b = encoding.AppendOpening(encoding.AppendObjectID(b, encoding.App, r.File), tag)
	b = encoding.AppendUnsigned(encoding.AppendSigned(b, encoding.App, int64(r.Start)), encoding.App, uint64(r.Count))
	return encoding.AppendClosing(b, tag)
}

// DecodeReadFileRequest reads the request.
func DecodeReadFileRequest(p []byte) (ReadFileRequest, error) {
	d := encoding.NewDecoder(p)
	r := ReadFileRequest{File: d.ObjectID(encoding.App), Records: d.HasOpening(1)}
	tag := streamOrRecords(r.Records)
	d.Opening(tag)
	r.Start, r.Count = int32(d.Signed(encoding.App)), d.Uint32(encoding.App)
	d.Closing(tag)
	return r, d.End()
}

// ReadFileAck is a part of a file (clause 14.1.4).
type ReadFileAck struct {
	End     bool // the end of the file was reached
	Records bool
	Start   int32
	Data    [][]byte // one element of a stream, otherwise the records
}

// Append writes the answer.
func (a ReadFileAck) Append(b []byte) []byte {
	tag := streamOrRecords(a.Records)
	b = encoding.AppendOpening(encoding.AppendBoolean(b, encoding.App, a.End), tag)
	if b = encoding.AppendSigned(b, encoding.App, int64(a.Start)); a.Records {
		b = encoding.AppendUnsigned(b, encoding.App, uint64(len(a.Data)))
	}
	for _, data := range a.Data {
		b = encoding.AppendOctets(b, encoding.App, data)
	}
	return encoding.AppendClosing(b, tag)
}

// DecodeReadFileAck reads the answer.
func DecodeReadFileAck(p []byte) (ReadFileAck, error) {
	d := encoding.NewDecoder(p)
	a := ReadFileAck{End: d.Boolean(encoding.App), Records: d.HasOpening(1)}
	tag := streamOrRecords(a.Records)
	d.Opening(tag)
	a.Start = int32(d.Signed(encoding.App))
	if a.Records {
		d.Unsigned(encoding.App) // the records are counted by themselves
	}
	for d.More() {
		a.Data = append(a.Data, d.Octets(encoding.App))
	}
	d.Closing(tag)
	return a, d.End()
}
