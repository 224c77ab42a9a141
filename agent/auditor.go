package agent

// auditor records in the audit log what people do with agents.
type auditor struct {
	keep func(actor, action, name, text string, failed bool) // may be nil
}

// done records an action.
func (a auditor) done(actor, action, name, text string) {
	if a.keep != nil {
		a.keep(actor, action, name, text, false)
	}
}

// failed records an action that failed.
func (a auditor) failed(actor, action, name, text string) {
	if a.keep != nil {
		a.keep(actor, action, name, text, true)
	}
}

// err records an action with its error, or success for nil. An invalid name is left out of the audit log.
func (a auditor) err(actor, action, name string, err error) {
	if err != nil && CheckName(name) == nil {
		a.failed(actor, action, name, err.Error())
	}
}

// start records whether an agent that should start has a process.
func (a auditor) start(actor, action string, st *Status) {
	switch {
	case st.Process.PID != 0:
		a.done(actor, action, st.Name, "")
	case st.Last != nil && st.Last.Reason == "unable":
		a.failed(actor, action, st.Name, st.Last.Text)
	default:
		a.failed(actor, action, st.Name, "it has not started yet, it is "+string(st.State))
	}
}
