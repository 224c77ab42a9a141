package peers

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strconv"
	"testing"
)

// PushService is a push service with a browser behind it, which decrypts messages by the library http_ece and checks signatures by py_vapid. Its lines begin
// with push; a number sets the status of its answers.
type PushService struct {
	*Conversation

	Host string // host:port, with TLS
	CA   string // the PEM file with the authority of its certificate
	Key  struct{ P256dh, Auth string }
}

// Push starts a push service. It is stopped when the test ends.
func Push(t testing.TB) *PushService {
	t.Helper()
	ca, key := certificate(t, t.TempDir())
	s := &PushService{Conversation: converse(t, filepath.Join(folder(), "push_peer.py"), ca, key), CA: ca}
	var said struct {
		Port         int
		P256dh, Auth string
	}
	if err := json.Unmarshal([]byte(s.Await(t, "subscription")), &said); err != nil {
		t.Fatal(err)
	}
	s.Host, s.Key.P256dh, s.Key.Auth = net.JoinHostPort("127.0.0.1", strconv.Itoa(said.Port)), said.P256dh, said.Auth
	return s
}

// MailServer is an SMTP server, aiosmtpd, that demands STARTTLS and a login. Its lines begin with letter.
type MailServer struct {
	*Conversation

	Addr, CA, User, Password string // CA is the PEM file with the authority of its certificate
}

// Mail starts a mail server. It is stopped when the test ends.
func Mail(t testing.TB) *MailServer {
	t.Helper()
	ca, key := certificate(t, t.TempDir())
	s := &MailServer{CA: ca, User: "plant", Password: "a secret of tests"}
	s.Conversation = converse(t, filepath.Join(folder(), "smtp_peer.py"), ca, key, s.User, s.Password)
	s.Addr = net.JoinHostPort("127.0.0.1", s.Await(t, "port"))
	return s
}
