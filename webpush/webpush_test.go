package webpush

import (
	"context"
	"crypto/ecdh"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/testing/peers"
)

func raw(t *testing.T, text string) []byte {
	t.Helper()
	out, err := decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The example of RFC 8291, clause 5 and appendix A.
func TestAMessageIsThatOfRFC8291(t *testing.T) {
	own, err := ecdh.P256().NewPrivateKey(raw(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	to := Keys{P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg"}
	got, err := encrypt([]byte("When I grow up, I want to be a watermelon"), &to, own, raw(t, "DGv6ra1nlYgDCS1FRnbzlw"))
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_" +
		"yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	if text := base64.RawURLEncoding.EncodeToString(got); err != nil || text != want {
		t.Errorf("got %s, %v\nwant %s", text, err, want)
	}
}

var noon = time.Now().UTC().Truncate(time.Second)

// open opens a registry that trusts a push service.
func open(t *testing.T, dir, ca string) *Registry {
	t.Helper()
	pem, err := os.ReadFile(ca)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem)
	r, err := Open(Options{Dir: dir, Now: func() time.Time { return noon }, TLS: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// heard is what the peer says of a message.
type heard struct {
	Signed bool
	Claims struct {
		Aud, Sub string
		Exp      int64
	}
	Text, TTL, Urgency string
	Status             int
}

func next(t *testing.T, s *peers.PushService) (h heard) {
	t.Helper()
	if err := json.Unmarshal([]byte(s.Await(t, "push")), &h); err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAnotherProjectDecryptsAPush(t *testing.T) {
	s, dir := peers.Push(t), t.TempDir()
	set := &Setting{Contact: "mailto:shift@example.org", Services: []string{s.Host}}
	r := open(t, dir, s.CA)
	key, err := r.Key()
	if err != nil {
		t.Fatal(err)
	}
	d, err := r.Add(set, Device{Person: "ada", Name: "phone", Endpoint: "https://" + s.Host + "/push/1", Keys: Keys(s.Key)})
	if err != nil {
		t.Fatal(err)
	}
	r = open(t, dir, s.CA) // after a restart
	if again, err := r.Key(); err != nil || again != key || len(r.Of("ada")) != 1 {
		t.Errorf("after a restart: %s and %v, %v", again, r.Of("ada"), err)
	}
	note := &Note{Title: "critical alarm", Text: strings.Repeat("Übertemperatur \"", 1000), Time: noon, Topic: "alarms"}
	if err := r.Push(t.Context(), set, "ada", note); err != nil {
		t.Fatal(err)
	}
	h := next(t, s)
	var got Note
	if err := json.Unmarshal([]byte(h.Text), &got); err != nil || got.Title != note.Title || !strings.HasPrefix(got.Text, "Übertemperatur \"") || !got.Time.Equal(noon) {
		t.Errorf("the device shows %.80q, %v", h.Text, err)
	}
	if !h.Signed || h.Claims.Aud != "https://"+s.Host || h.Claims.Sub != set.Contact || h.Claims.Exp-noon.Unix() > 86400 || h.TTL != "43200" {
		t.Errorf("the service heard %+v", h)
	}
	if err := r.Remove("ben", d.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("somebody else removed it: %v", err)
	}
	if err := r.Remove("ada", d.ID); err != nil || len(r.Of("ada")) != 0 {
		t.Error(err)
	}
}

func TestADeviceThatIsGoneIsForgottenAndOneThatIsBusyIsNot(t *testing.T) {
	s := peers.Push(t)
	set := &Setting{Contact: "https://plant.example.org", Services: []string{s.Host}}
	r := open(t, t.TempDir(), s.CA)
	if _, err := r.Add(set, Device{Person: "ada", Name: "phone", Endpoint: "https://" + s.Host + "/push/1", Keys: Keys(s.Key)}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status, want string
		left         int
	}{
		{"429", "asks to wait for 120 s", 1}, {"503", "answers 503", 1}, {"410", "does not take pushes any more", 0},
	} {
		s.Do(t, "%s", c.status)
		s.Await(t, "status")
		err := r.Push(t.Context(), set, "ada", &Note{Title: "x"})
		if err == nil || !strings.Contains(err.Error(), c.want) || len(r.Of("ada")) != c.left {
			t.Errorf("%s: %v; %d devices are left", c.status, err, len(r.Of("ada")))
		}
		next(t, s)
	}
	if err := r.Push(t.Context(), set, "ada", &Note{}); err == nil || !strings.Contains(err.Error(), "no device of ada") {
		t.Errorf("without a device: %v", err)
	}
}

func TestASubscriptionThatIsWrongSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(Options{Dir: dir, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	key := Keys{P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg"}
	set := &Setting{Contact: "mailto:a@example.org"}
	for want, d := range map[string]Device{
		"is not an https address": {Person: "a", Name: "p", Endpoint: "http://fcm.googleapis.com/1", Keys: key},
		"not a push service":      {Person: "a", Name: "p", Endpoint: "https://127.0.0.1:8080/api", Keys: key},
		"this node knows":         {Person: "a", Name: "p", Endpoint: "https://evil-fcm.googleapis.com.example.org/", Keys: key},
		"keys of the":             {Person: "a", Name: "p", Endpoint: "https://fcm.googleapis.com/1", Keys: Keys{P256dh: key.P256dh, Auth: "AAAA"}},
		"browser":                 {Person: "a", Name: "p", Endpoint: "https://fcm.googleapis.com/1", Keys: Keys{P256dh: key.Auth, Auth: key.Auth}},
		"call the device":         {Person: "a", Endpoint: "https://fcm.googleapis.com/1", Keys: key},
	} {
		if _, err := r.Add(set, d); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for range mostDevices {
		d := Device{Person: "a", Name: "p", Endpoint: "https://a.push.services.mozilla.com/" + strings.Repeat("x", len(r.Of("a"))), Keys: key}
		if _, err := r.Add(set, d); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Add(set, Device{Person: "a", Name: "p", Endpoint: "https://fcm.googleapis.com/1", Keys: key}); !fault.Is(err, fault.Conflict) {
		t.Errorf("one more: %v", err)
	}
	for _, s := range []Setting{{}, {Contact: "shift@example.org"}, {Contact: "mailto:a@b", Services: []string{"https://x"}}} {
		if s.Validate() == nil {
			t.Errorf("%+v is taken", s)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, File), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: dir}); !fault.Is(err, fault.Corrupt) {
		t.Errorf("a damaged file: %v", err)
	}
}

// A service that does not answer takes as long as the caller allows, and is said.
func TestAServiceThatIsAwayIsSaid(t *testing.T) {
	r, err := Open(Options{Dir: t.TempDir(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	set := &Setting{Contact: "mailto:a@example.org", Services: []string{"127.0.0.1:" + peers.FreePort(t)}}
	key := Keys{P256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", Auth: "BTBZMqHH6r4Tts7J_aSIgg"}
	if _, err := r.Add(set, Device{Person: "a", Name: "phone", Endpoint: "https://" + set.Services[0] + "/1", Keys: key}); err != nil {
		t.Fatal(err)
	}
	if err := r.Push(context.Background(), set, "a", &Note{}); err == nil || !strings.Contains(err.Error(), "phone") || len(r.Of("a")) != 1 {
		t.Errorf("away: %v", err)
	}
}
