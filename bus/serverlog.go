package bus

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"voltbus/bus/trouble"
)

// serverLog hands the server's own messages to the node's log. What the server calls a notice is
// of interest to developers only. Violations go to the guard, which reports them to the connections that
// concern.
type serverLog struct {
	log      *slog.Logger
	guard    *guard
	insecure atomic.Uint64 // connections that ended before they were secured
	fatal    trouble.Fatal
}

func (l *serverLog) write(level slog.Level, format string, v []any) (text string) {
	text = fmt.Sprintf(format, v...)
	l.log.Log(context.Background(), level, "bus server", slog.String("text", text))
	return text
}

func (l *serverLog) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }
func (l *serverLog) Fatalf(format string, v ...any) {
	l.fatal.Note(l.write(slog.LevelError, format, v))
}
func (l *serverLog) Debugf(string, ...any) {}
func (l *serverLog) Tracef(string, ...any) {}

// Warnf reports the server's warnings, but one: after an unclean end the index of the log is older than the log itself,
// and the server reads the log anew. Nothing is lost by that, and nobody needs to act. The server reports
// it twice, first why and then that.
func (l *serverLog) Warnf(format string, v ...any) {
	switch {
	case strings.Contains(format, "Stream state outdated"):
		l.log.Info("the log ended in mid-write, as after a kill or a power cut; its index is rebuilt from the log, nothing is lost")
	case replicaNoise(format):
		l.write(slog.LevelDebug, format, v)
	case strings.Contains(format, "Recovering stream state from index") && strings.HasSuffix(fmt.Sprint(v...), "prior state file"):
	default:
		l.write(slog.LevelWarn, format, v)
	}
}

// Errorf is called by the connection that is at fault, which then waits for it.
func (l *serverLog) Errorf(format string, v ...any) {
	if t, ok := parseTrespass(format, v); ok {
		l.guard.offer(t)
		return
	}
	if strings.Contains(format, "TLS handshake error") {
		if n := l.insecure.Add(1); n&(n-1) == 0 { // the first, and at each doubling: anybody can connect and go
			l.log.Warn("connections to the bus end before they are secured", slog.Uint64("count", n), slog.String("last", fmt.Sprintf(format, v...)))
		}
		return
	}
	if replicaNoise(format) {
		l.write(slog.LevelDebug, format, v)
		return
	}
	l.write(slog.LevelError, format, v)
}

// replicaNoise reports whether a message only repeats that other replicas are not there, which the recorder says in plain words, or
// is about accounts that they do not share on purpose.
func replicaNoise(format string) bool {
	for _, text := range []string{
		"Error trying to connect to route", "Unknown account", "Metalayer blocking snapshot", "Waiting for routing", "has not established contact with a meta leader",
	} {
		if strings.Contains(format, text) {
			return true
		}
	}
	return false
}
