// Package outstation is the outstation side of DNP3 (IEEE 1815-2012): a database of
// current values, event buffers, and one [Session] for each master, which answers its
// requests and reports to it unasked.
//
//	application ─ Update ─▶ Outstation ─┬─ Session with master 1 ─▶ station.Port ─▶ channel
//	            ◀─ Callbacks ─          └─ Session with master 2 ─▶ …
//
// Every master gets every event: each session has buffers of its own. They grow when
// events come and are bounded for each kind of point; the oldest event makes room for
// the newest, and the master learns of it (IIN2.3).
//
// What it holds is in packages of its own: points in database, events in event, device
// attributes in attribute and files in filetransfer.
//
// A Session is a pure state machine, see package station: it opens nothing, starts
// nothing and reads no clock.
package outstation
