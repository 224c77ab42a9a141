package master

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
)

// Info describes a fragment that brought values.
type Info struct {
	// Outstation is the address it came from.
	Outstation link.Address
	// Received is when it arrived.
	Received time.Time
	// IIN holds its internal indications.
	IIN app.IIN
	// Unsolicited says that it was not requested.
	Unsolicited bool
	// First and Final say where it stands among the fragments of an answer.
	First, Final bool
	// Again says that the outstation gave up waiting for the confirmation of the events before, see Config.Keep: they come
	// again, in this fragment or later.
	Again bool
}

// Handler takes the values of an outstation: for each intact fragment Begin, then
// Header for every object header in order, then End. A fragment that asks for a
// confirmation is confirmed after End, and a repeated one is not delivered again.
//
// The methods are called by the goroutine that drives the association. They must not
// block; they may call Submit. A header is valid only during the call.
type Handler interface {
	Begin(i Info)
	Header(h app.Header)
	End(i Info)
}

// NoticeKind says what a [Notice] is about.
type NoticeKind uint8

// Kinds of notices.
const (
	// NoticeRequest: a request that the association makes by itself ended.
	NoticeRequest NoticeKind = iota
	// NoticeRestart: the outstation says that it restarted.
	NoticeRestart
	// NoticeOverflow: the outstation says that it lost events.
	NoticeOverflow
	// NoticeMalformed: a fragment could not be read; it was dropped.
	NoticeMalformed
	// NoticePartial: an answer brought values, and said that it refuses the rest.
	NoticePartial
	// NoticeReady: the start-up sequence is done.
	NoticeReady
)

// Notice describes an event of an association other than values.
type Notice struct {
	Kind NoticeKind
	// Request names the request, such as "integrity poll"; "" for kinds that are not about one.
	Request string
	// Err is why it failed, nil if it did not.
	Err error
}
