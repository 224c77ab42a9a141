package trouble_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"voltbus/bus/trouble"
)

func TestNoErrorOfNATSReachesAUserInItsWords(t *testing.T) {
	for _, err := range []error{
		jetstream.ErrJetStreamNotEnabled, jetstream.ErrJetStreamNotEnabledForAccount, jetstream.ErrStreamNotFound, jetstream.ErrMsgNotFound,
		jetstream.ErrNoStreamResponse, &jetstream.APIError{Code: 503, ErrorCode: 10039, Description: "jetstream not enabled for account"},
		&jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: 3"},
		nats.ErrConnectionClosed, nats.ErrNoServers, nats.ErrTimeout, nats.ErrMaxPayload, nats.ErrAuthorization, nats.ErrBadSubject,
		nats.ErrNoResponders, nats.ErrSlowConsumer, nats.ErrInvalidMsg, context.DeadlineExceeded,
	} {
		got := trouble.Of(fmt.Errorf("ask: %w", err))
		text := strings.ToLower(got.Error())
		if strings.Contains(text, "nats") || strings.Contains(text, "jetstream") || strings.Contains(text, "stream") {
			t.Errorf("%q becomes %q", err, got)
		}
		if !errors.Is(got, err) {
			t.Errorf("%q is not what it was", err)
		}
		if again := trouble.Of(fmt.Errorf("more: %w", got)); !strings.Contains(again.Error(), got.Error()) {
			t.Errorf("said twice it is %q", again)
		}
	}
	other := errors.New("something else")
	if got := trouble.Of(other); !errors.Is(got, other) || got.Error() != other.Error() || trouble.Of(nil) != nil {
		t.Errorf("%v", got)
	}
}
