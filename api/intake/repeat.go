package intake

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"time"

	"voltbus/api/exchange"
	"voltbus/catalog"
	"voltbus/fault"
)

// Repeats remembers writes with an idempotency key, as package catalog does.
type Repeats interface {
	BeginRepeat(ctx context.Context, r catalog.Repeat) (catalog.Repeat, error)
	EndRepeat(ctx context.Context, r catalog.Repeat) error
}

const (
	headerReplayed = "Idempotency-Replayed"
)

var errKeyReuse = errors.New("this idempotency key came with another request before; choose a new key for a new request")

// result is an answer to a write.
type result struct {
	status   int
	body     []byte
	replayed bool
}

// once answers a write with an idempotency key: through work, or with its earlier answer. work gets
// the same time on each attempt, so that readings without a time of their own keep theirs even if
// the node stopped between their commit and the answer.
func (s *Intake) once(r *exchange.Request, key string, content []byte, work func(now time.Time) (result, error)) (result, error) {
	ctx := r.Context()
	unlock, err := s.repeats.Lock(ctx, [2]string{r.User.Name, key})
	if err != nil {
		return result{}, fault.E("api.repeat", fault.KindOf(err), key, fmt.Errorf("wait for the first request: %w", err))
	}
	defer unlock()
	asked := catalog.Repeat{
		User: r.User.Name, Key: key, Hash: fingerprint(r.Request, content), At: s.Now().UTC().Truncate(time.Microsecond),
	}
	known, err := s.Repeats.BeginRepeat(ctx, asked)
	switch {
	case err != nil:
		return result{}, err
	case known.Hash != asked.Hash:
		return result{}, exchange.Fail(http.StatusUnprocessableEntity, fault.E("api.repeat", fault.Conflict, key, errKeyReuse))
	case known.Status != 0:
		s.replayed.Add(1)
		return result{status: known.Status, body: known.Answer, replayed: true}, nil
	}
	done, err := work(known.At)
	if err != nil {
		return result{}, err
	}
	known.Status, known.Answer = done.status, done.body
	return done, s.Repeats.EndRepeat(context.WithoutCancel(ctx), known)
}

// fingerprint identifies a request.
func fingerprint(r *http.Request, content []byte) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range []string{r.URL.Path, r.URL.RawQuery, r.Header.Get("Content-Type")} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	h.Write(content)
	return [sha256.Size]byte(h.Sum(nil))
}
