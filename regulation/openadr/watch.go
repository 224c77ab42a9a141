package openadr

import (
	"context"
	"crypto/subtle"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"voltbus/fault"
)

// Watch follows a payload of a program: it polls, and asks at once when the server has called back.
type Watch struct {
	Client  *Client
	Program string          // its name
	Payload string          // such as Price
	Poll    time.Duration   // between two requests; 0: 1 minute
	Bearer  string          // that callbacks must have; "" for no callbacks
	Changed func(c *Course) // called in Run's goroutine with each course that was got
	Log     *slog.Logger

	poke chan struct{}
}

// NewWatch returns w ready to run, and to be called back.
func NewWatch(w Watch) *Watch {
	if w.Poll <= 0 {
		w.Poll = time.Minute
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	w.poke = make(chan struct{}, 1)
	return &w
}

// Run follows the server until ctx ends. While the server does not answer, the last course holds.
func (w *Watch) Run(ctx context.Context) error {
	timer := time.NewTicker(w.Poll)
	defer timer.Stop()
	failed := 0
	for {
		c, err := w.Fetch(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			failed = 0
			w.Changed(c)
		default:
			if failed++; failed&(failed-1) == 0 { // the first, then each doubling
				w.Log.WarnContext(ctx, "events were not got", "program", w.Program, "failed", failed, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		case <-w.poke:
		}
	}
}

// Fetch gets the course as it is now.
func (w *Watch) Fetch(ctx context.Context) (*Course, error) {
	programs, err := w.Client.Programs(ctx, w.Program)
	if err != nil {
		return nil, err
	}
	if len(programs) == 0 {
		return nil, fault.E("openadr.Fetch", fault.NotFound, w.Program, errNoProgram)
	}
	var events []Event
	for _, p := range programs {
		some, err := w.Client.Events(ctx, p.ID)
		if err != nil {
			return nil, err
		}
		events = append(events, some...)
	}
	return NewCourse(events, w.Payload, w.Client.c.Now())
}

// echoes are what a server may ask to have returned.
var echoes = regexp.MustCompile(`^[A-Za-z0-9_=.~-]{1,256}$`)

// ServeHTTP takes a notification of the server. What it says is asked for again, so it is not read. Before a subscription the server of version
// 3.1 asks with GET and the parameter echo whether the receiver is there (Definition, Webhooks).
func (w *Watch) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	given := []byte(in.Header.Get("Authorization"))
	if echo := in.URL.Query().Get("echo"); in.Method == http.MethodGet && echoes.MatchString(echo) {
		out.Header().Set("Content-Type", "text/plain; charset=utf-8")
		out.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = io.WriteString(out, echo) //nolint:gosec // plain characters, as plain text
		return
	}
	if in.Method != http.MethodPost {
		http.Error(out, "post a notification", http.StatusMethodNotAllowed)
		return
	}
	if w.Bearer == "" || subtle.ConstantTimeCompare(given, []byte("Bearer "+w.Bearer)) != 1 {
		http.Error(out, "the bearer token is not that of the subscription", http.StatusUnauthorized)
		return
	}
	select {
	case w.poke <- struct{}{}:
	default: // it will ask anyway
	}
	out.WriteHeader(http.StatusOK)
}
