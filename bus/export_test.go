package bus

import (
	"log/slog"
)

// ParseTrespass returns what a report of the server says.
func ParseTrespass(format string, v ...any) (id uint64, subject string, publish, ok bool) {
	t, ok := parseTrespass(format, v)
	return t.id, t.subject, t.publish, ok
}

// Signed is signed.
var Signed = signed

// StopEngine stops the engine of the log as the server itself does when the disk refuses a write.
func (b *Bus) StopEngine() error { return b.srv.ShutdownJetStream() }

// ServerError reports an error as the server does, to be written into a log.
func ServerError(log *slog.Logger) func(format string, v ...any) {
	return (&serverLog{log: log}).Errorf
}

// ServerWarning reports a warning as the server does, to be written into a log.
func ServerWarning(log *slog.Logger) func(format string, v ...any) {
	return (&serverLog{log: log}).Warnf
}
