package master

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// sendBroadcast sends all questions of the current request to a broadcast address.
func (a *Association) sendBroadcast(now time.Time, out *station.Output) {
	to, e := a.current.request.broadcast, a.current.request.exchange
	if !to.Broadcast() || !broadcasts(e) {
		a.finish(now, ErrBroadcast)
		return
	}
	for {
		w := app.NewRequest(out.Scratch(), a.sequence.Single(), e.function())
		if err := e.write(&w, now); err != nil {
			a.finish(now, err)
			return
		}
		a.sequence = a.sequence.Next()
		out.SendTo(to, w.Bytes())
		if !e.more() {
			a.finish(now, nil)
			return
		}
	}
}

// broadcasts reports whether an exchange makes sense without an answer.
func broadcasts(e exchange) bool {
	if t, ok := e.(*timeSync); ok {
		return t.how != NonLAN
	}
	switch e.function() {
	case app.FuncWrite, app.FuncDirectOperate, app.FuncDirectOperateNoAck,
		app.FuncFreeze, app.FuncFreezeNoAck, app.FuncFreezeClear, app.FuncFreezeClearNoAck,
		app.FuncFreezeAtTime, app.FuncFreezeAtTimeNoAck, app.FuncAssignClass,
		app.FuncEnableUnsolicited, app.FuncDisableUnsolicited,
		app.FuncInitializeData, app.FuncStartApp, app.FuncStopApp, app.FuncSaveConfig:
		return true
	default:
		return false
	}
}
