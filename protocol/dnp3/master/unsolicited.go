package master

import (
	"hash/crc32"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// reported identifies the unsolicited report confirmed last. It outlives the line: a
// report whose confirmation was lost with the line comes again on the next one.
type reported struct {
	valid    bool
	sequence app.Sequence
	size     int
	sum      uint32
}

// receiveUnsolicited handles a report: a new one is delivered, and any is confirmed, unless they
// are to be left.
func (a *Association) receiveUnsolicited(now time.Time, m station.Message, f app.Fragment, out *station.Output) {
	c := f.Control
	if !c.First() || !c.Final() || !c.Unsolicited() {
		return
	}
	if err := f.Check(); err != nil {
		a.config.notify(Notice{Kind: NoticeMalformed, Err: err})
		return
	}
	if a.config.LeaveEvents {
		a.leave(now, f, out)
		return
	}
	if len(f.Objects) > 0 && a.config.Tolerance.IgnoreEarly && a.auto.due&taskIntegrity != 0 {
		return
	}
	r := reported{
		valid: true, sequence: c.Sequence(), size: len(m.Octets), sum: crc32.ChecksumIEEE(m.Octets),
	}
	switch repeated := r == a.confirms.unsolicited; {
	case !repeated:
		a.confirms.forgetReport() // the outstation did not wait any longer
		a.confirms.unsolicited = r
		a.delivery.deliver(now, f, a.confirms.said())
		if c.Confirm() {
			a.confirms.settle(now, c, &a.confirms.report, out)
		}
	case c.Confirm() && a.confirms.report.token == 0: // else it is confirmed when it is kept
		confirm(c, out)
	}
	a.heed(now, f.IIN)
}
