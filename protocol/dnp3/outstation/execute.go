package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
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
			s.solicited.reply(f, app.ErrorIIN(err), nil, out)
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
		objects, iin := s.outstation.restart(f)
		s.solicited.reply(f, iin, objects, out)
	case app.FuncActivateConfig:
		answer, iin := s.outstation.activate(f)
		s.solicited.replyObject(f, answer, iin, out)
	case app.FuncDelayMeasure:
		s.solicited.reply(f, 0, func(w *app.Writer) error { return w.Delay(object.G52V2, 0) }, out)
	default:
		iin := s.perform(now, f, out)
		if f.Function.Answered() {
			s.solicited.reply(f, iin, nil, out)
		}
	}
}

// readOrWrite carries out FC 1 and 2, which are also those of blocks of files.
func (s *Session) readOrWrite(now time.Time, f app.Fragment, out *station.Output) {
	switch {
	case filetransfer.IsBlock(f):
		s.fileRequest(now, f, out)
	case f.Function == app.FuncRead:
		s.solicited.read(now, f, out)
	default:
		s.solicited.reply(f, s.writes.writeRequest(now, f), nil, out)
	}
}

// fileRequest answers FC 25 to 30, and reads and writes of blocks.
func (s *Session) fileRequest(now time.Time, f app.Fragment, out *station.Output) {
	const overhead = 4 + 3 + 1 + 2 + 8 // fragment, object header, count, size, block
	answer, iin := s.files.Answer(now, f, cap(out.Scratch())-overhead)
	s.solicited.replyObject(f, answer, iin, out)
}

// perform carries out the requests whose answer is nothing but the indications.
func (s *Session) perform(now time.Time, f app.Fragment, out *station.Output) app.IIN {
	switch f.Function {
	case app.FuncWrite:
		return s.writes.writeRequest(now, f)
	case app.FuncEnableUnsolicited:
		return s.unsolicited.enable(f)
	case app.FuncDisableUnsolicited:
		return s.disable(f, out)
	case app.FuncAssignClass:
		return s.outstation.assign(f)
	case app.FuncRecordCurrentTime:
		s.writes.recorded = now
		return 0
	case app.FuncFreeze, app.FuncFreezeNoAck, app.FuncFreezeClear, app.FuncFreezeClearNoAck:
		return s.outstation.freezeRequest(now, f)
	case app.FuncFreezeAtTime, app.FuncFreezeAtTimeNoAck:
		return s.outstation.scheduleFreeze(now, f)
	default:
		return app.IINNoFunction
	}
}

// disable handles FC 21.
func (s *Session) disable(f app.Fragment, out *station.Output) app.IIN {
	iin := s.unsolicited.disable(f)
	if iin == 0 && s.events.Sent() > 0 && !s.solicited.waits() && out != nil {
		s.unsolicited.cancel(out)
	}
	return iin
}

// receiveBroadcast carries out a request to all outstations, without an answer. Only
// what makes sense without one is done (clause 4.2.2).
func (s *Session) receiveBroadcast(now time.Time, m station.Message, f app.Fragment, err error) {
	s.indications.heard(m.Broadcast)
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

// restart answers FC 13 and 14.
func (o *Outstation) restart(f app.Fragment) (objects func(w *app.Writer) error, refused app.IIN) {
	call := o.callbacks.Restart
	if call == nil {
		return nil, app.IINNoFunction
	}
	delay, ok := call(f.Function == app.FuncWarmRestart)
	if !ok {
		return nil, app.IINNoFunction
	}
	return func(w *app.Writer) error {
		if delay < time.Minute {
			return w.Delay(object.G52V2, max(delay, 0))
		}
		return w.Delay(object.G52V1, min(delay, maxRestart))
	}, 0
}

// maxRestart is the longest delay that g52v1 can express.
const maxRestart = 65535 * time.Second
