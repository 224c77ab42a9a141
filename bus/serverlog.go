package bus

import (
	"context"
	"fmt"
	"log/slog"
)

// serverLog hands the server's own messages to the node's log. What the server calls a notice is
// of interest to developers only. Violations go to the guard, which tells them to whom they
// concern.
type serverLog struct {
	log   *slog.Logger
	guard *guard
}

func (l *serverLog) write(level slog.Level, format string, v []any) {
	l.log.Log(context.Background(), level, "bus server", slog.String("text", fmt.Sprintf(format, v...)))
}

func (l *serverLog) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }
func (l *serverLog) Warnf(format string, v ...any)   { l.write(slog.LevelWarn, format, v) }
func (l *serverLog) Fatalf(format string, v ...any)  { l.write(slog.LevelError, format, v) }
func (l *serverLog) Debugf(string, ...any)           {}
func (l *serverLog) Tracef(string, ...any)           {}

// Errorf is called by the connection that is at fault, which then waits for it.
func (l *serverLog) Errorf(format string, v ...any) {
	if t, ok := parseTrespass(format, v); ok {
		l.guard.offer(t)
		return
	}
	l.write(slog.LevelError, format, v)
}
