package source

import (
	"hash/fnv"
	"time"
)

// Identified tells one message from others of its broker.
type Identified uint64

// Identity returns what tells a message from others: its identifier, or else its topic and its payload.
func Identity(id, topic string, payload []byte) Identified {
	h := fnv.New64a()
	if id != "" {
		_, _ = h.Write([]byte(id))
	} else {
		_, _ = h.Write([]byte(topic))
		_, _ = h.Write(payload)
	}
	return Identified(h.Sum64())
}

// Within returns the time of a message whose broker counts in steps, such as seconds: the same whenever the message is delivered, and another one for
// another message of the same step, if the steps are not crowded.
func (i Identified) Within(t time.Time, step time.Duration) time.Time {
	return t.UTC().Truncate(step).Add(time.Duration(uint64(i)%uint64(step/time.Microsecond)) * time.Microsecond)
}
