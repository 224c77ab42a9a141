package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/filetransfer"
	"voltbus/protocol/dnp3/station"
)

// execute carries out a request and answers it.
func (s *Session) execute(now time.Time, f app.Fragment, err error, out *station.Output) {
	if err == nil {
		err = f.Check()
	}
	if err != nil {
		if f.Function.Answered() {
			s.reply(f, app.ErrorIIN(err), nil, out)
		}
		return
	}
	switch f.Function {
	case app.FuncRead, app.FuncWrite:
		s.readOrWrite(now, f, out)
	case app.FuncOpenFile, app.FuncCloseFile, app.FuncDeleteFile, app.FuncGetFileInfo, app.FuncAuthenticateFile, app.FuncAbortFile:
		s.fileRequest(now, f, out)
	case app.FuncSelect, app.FuncOperate, app.FuncDirectOperate, app.FuncDirectOperateNoAck:
		s.control(now, f, out)
	case app.FuncColdRestart, app.FuncWarmRestart:
		s.restart(f, out)
	case app.FuncActivateConfig:
		s.activate(f, out)
	case app.FuncDelayMeasure:
		s.reply(f, 0, func(w *app.Writer) error { return w.Delay(object.G52V2, 0) }, out)
	default:
		iin := s.perform(now, f, out)
		if f.Function.Answered() {
			s.reply(f, iin, nil, out)
		}
	}
}

// readOrWrite carries out FC 1 and 2, which are also those of blocks of files.
func (s *Session) readOrWrite(now time.Time, f app.Fragment, out *station.Output) {
	switch {
	case filetransfer.IsBlock(f):
		s.fileRequest(now, f, out)
	case f.Function == app.FuncRead:
		s.read(now, f, out)
	default:
		s.reply(f, s.writeRequest(now, f), nil, out)
	}
}

// fileRequest answers FC 25 to 30, and reads and writes of blocks.
func (s *Session) fileRequest(now time.Time, f app.Fragment, out *station.Output) {
	const overhead = 4 + 3 + 1 + 2 + 8 // fragment, object header, count, size, block
	answer, iin := s.files.Answer(now, f, cap(out.Scratch())-overhead)
	if answer == nil {
		s.reply(f, iin, nil, out)
		return
	}
	s.reply(f, 0, func(w *app.Writer) error { return w.Free(answer) }, out)
}

// perform carries out the requests whose answer is nothing but the indications.
func (s *Session) perform(now time.Time, f app.Fragment, out *station.Output) app.IIN {
	switch f.Function {
	case app.FuncWrite:
		return s.writeRequest(now, f)
	case app.FuncEnableUnsolicited:
		return s.enable(f, true, out)
	case app.FuncDisableUnsolicited:
		return s.enable(f, false, out)
	case app.FuncAssignClass:
		return s.assign(f)
	case app.FuncRecordCurrentTime:
		s.recorded = now
		return 0
	case app.FuncFreeze, app.FuncFreezeNoAck, app.FuncFreezeClear, app.FuncFreezeClearNoAck:
		return s.outstation.freezeRequest(now, f)
	case app.FuncFreezeAtTime, app.FuncFreezeAtTimeNoAck:
		return s.outstation.scheduleFreeze(now, f)
	default:
		return app.IINNoFunction
	}
}

// receiveBroadcast carries out a request to all outstations, without an answer. Only
// what makes sense without one is done (clause 4.2.2).
func (s *Session) receiveBroadcast(now time.Time, m station.Message, f app.Fragment, err error) {
	if m.Broadcast == link.BroadcastConfirm {
		s.broadcast = broadcastConfirm
	} else {
		s.broadcast = max(s.broadcast, broadcastTell)
	}
	if err != nil || f.Check() != nil {
		return
	}
	switch f.Function {
	case app.FuncDirectOperate, app.FuncDirectOperateNoAck:
		f.Function = app.FuncDirectOperateNoAck
		s.control(now, f, nil)
	case app.FuncRead, app.FuncSelect, app.FuncOperate, app.FuncColdRestart, app.FuncWarmRestart:
	default:
		s.perform(now, f, nil)
	}
}

// reply sends an answer of one fragment and keeps it, in case the request is repeated.
func (s *Session) reply(f app.Fragment, iin app.IIN, objects func(w *app.Writer) error, out *station.Output) {
	control := f.Control.Sequence().Single()
	if s.broadcast == broadcastConfirm {
		control |= app.CON
	}
	w := app.NewResponse(out.Scratch(), control, app.FuncResponse, 0)
	if objects != nil {
		if err := objects(&w); err != nil {
			iin |= app.IINParameterError
		}
	}
	w.SetIIN(iin | s.iin())
	s.send(w.Bytes(), out)
}

// send sends a finished answer.
func (s *Session) send(fragment []byte, out *station.Output) {
	out.Send(fragment)
	s.answer = append(s.answer[:0], fragment...)
	if s.broadcast != broadcastConfirm {
		s.broadcast = broadcastNone
	}
}

// read answers FC 1.
func (s *Session) read(now time.Time, f app.Fragment, out *station.Output) {
	iin := s.planRead(f)
	if len(s.plan) == 0 {
		s.plan = nil
		s.reply(f, iin, nil, out)
		s.answer = s.answer[:0]
		return
	}
	s.refused = iin
	s.respond(now, f.Control.Sequence(), true, out)
}

// restart answers FC 13 and 14.
func (s *Session) restart(f app.Fragment, out *station.Output) {
	call := s.outstation.callbacks.Restart
	if call == nil {
		s.reply(f, app.IINNoFunction, nil, out)
		return
	}
	delay, ok := call(f.Function == app.FuncWarmRestart)
	if !ok {
		s.reply(f, app.IINNoFunction, nil, out)
		return
	}
	s.reply(f, 0, func(w *app.Writer) error {
		if delay < time.Minute {
			return w.Delay(object.G52V2, max(delay, 0))
		}
		return w.Delay(object.G52V1, min(delay, maxRestart))
	}, out)
}

// maxRestart is the longest delay that g52v1 can express.
const maxRestart = 65535 * time.Second

// assign handles FC 22: a class header, then the points that go into it.
func (s *Session) assign(f app.Fragment) app.IIN {
	var class app.Classes
	known := false
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		if c, ok := classOf(h.Variation); ok {
			class, known = c&app.EventClasses, true
			continue
		}
		at := slotOf(h.Variation.Kind())
		switch {
		case !known || at == slots:
			return app.IINObjectUnknown
		case h.Variation.Event(), class != 0 && traitsTable[at].event == 0:
			return app.IINParameterError
		}
		if iin := s.assignHeader(h, at, class); iin != 0 {
			return iin
		}
		if call := s.outstation.callbacks.Changed; call != nil {
			call(&s.outstation.tx, traitsTable[at].kind)
		}
	}
	return 0
}

func (s *Session) assignHeader(h app.Header, at slot, class app.Classes) app.IIN {
	table := s.outstation.database.tables[at]
	from, to := 0, len(table)
	switch {
	case h.Qualifier == app.AllObjects:
	case h.Qualifier.Ranged():
		from, to = s.outstation.database.between(at, h.Start, h.Stop)
	case h.Qualifier.Prefixed():
		for o := range h.Objects() {
			r := s.outstation.database.find(at, o.Index)
			if r == nil {
				return app.IINParameterError
			}
			r.class = class
		}
		return 0
	default:
		return app.IINParameterError
	}
	if from == to {
		return app.IINParameterError
	}
	for i := from; i < to; i++ {
		table[i].class = class
	}
	return 0
}
