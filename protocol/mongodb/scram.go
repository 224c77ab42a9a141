package mongodb

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Bounds of how often a password is hashed: less is weak, and more could keep this side busy.
const (
	leastRounds = 4096
	mostRounds  = 10_000_000
)

const nonceBytes = 24

// scram is a conversation by SCRAM-SHA-256 (RFC 7677, RFC 5802).
type scram struct {
	user, password string
	nonce          string
	bare           string // the client's first message, without its header
	proof          []byte // that the server must give
}

func newSCRAM(user, password string) *scram {
	raw := make([]byte, nonceBytes)
	_, _ = rand.Read(raw)
	return &scram{user: user, password: password, nonce: base64.StdEncoding.EncodeToString(raw)}
}

func (s *scram) first() string {
	s.bare = "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(s.user) + ",r=" + s.nonce
	return "n,," + s.bare
}

// final answers the server's first message.
func (s *scram) final(challenge string) (string, error) {
	part := attributes(challenge)
	salt, err := base64.StdEncoding.DecodeString(part["s"])
	rounds, wrong := strconv.Atoi(part["i"])
	if err != nil || wrong != nil || len(salt) == 0 || !strings.HasPrefix(part["r"], s.nonce) || len(part["r"]) == len(s.nonce) {
		return "", errors.New("the server's challenge is broken")
	}
	if rounds < leastRounds || rounds > mostRounds {
		return "", fmt.Errorf("the server has the password hashed %d times, and between %d and %d are allowed", rounds, leastRounds, mostRounds)
	}
	salted, err := pbkdf2.Key(sha256.New, norm.NFKC.String(s.password), salt, rounds, sha256.Size)
	if err != nil {
		return "", err
	}
	reply := "c=biws,r=" + part["r"]
	all := s.bare + "," + challenge + "," + reply
	client := keyed(salted, "Client Key")
	stored := sha256.Sum256(client)
	proof := keyed(stored[:], all)
	for i := range proof {
		proof[i] ^= client[i]
	}
	s.proof = keyed(keyed(salted, "Server Key"), all)
	return reply + ",p=" + base64.StdEncoding.EncodeToString(proof), nil
}

// check checks that the server knows the password, too.
func (s *scram) check(last string) error {
	proof, err := base64.StdEncoding.DecodeString(attributes(last)["v"])
	if err != nil || !hmac.Equal(proof, s.proof) {
		return errors.New("the server does not know the password: it may be another one")
	}
	return nil
}

func attributes(text string) map[string]string {
	list := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if name, v, ok := strings.Cut(part, "="); ok {
			list[name] = v
		}
	}
	return list
}

func keyed(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// Authenticate tells the server who sends, who is known in a database of it.
func (c *Conn) Authenticate(ctx context.Context, database, user, password string) error {
	s := newSCRAM(user, password)
	a, err := c.say(ctx, database, "saslStart", func(b []byte) []byte {
		b = String(b, "mechanism", "SCRAM-SHA-256")
		b = Binary(b, "payload", []byte(s.first()))
		b, at := Within(b, "options")
		return End(Bool(b, "skipEmptyExchange", true), at)
	})
	if err != nil {
		return err
	}
	reply, err := s.final(payload(a))
	if err != nil {
		return err
	}
	next := func(text string) error {
		id, _ := a["conversationId"].(int64)
		a, err = c.say(ctx, database, "saslContinue", func(b []byte) []byte {
			return Binary(Int32(b, "conversationId", int32(id)), "payload", []byte(text))
		})
		return err
	}
	if err := next(reply); err != nil {
		return err
	}
	if err := s.check(payload(a)); err != nil {
		return err
	}
	if done, _ := a["done"].(bool); !done {
		return next("") // a server that does not know skipEmptyExchange
	}
	return nil
}

func payload(d Document) string {
	b, _ := d["payload"].([]byte)
	return string(b)
}

// say sends a command whose value is 1.
func (c *Conn) say(ctx context.Context, database, command string, rest func([]byte) []byte) (Document, error) {
	b, at := Begin(nil)
	b = rest(Int32(b, command, 1))
	return c.Do(ctx, &Command{Body: End(String(b, "$db", database), at)})
}
