package mail_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"voltbus/mail"
	"voltbus/testing/peers"
)

func pool(t *testing.T, file string) *x509.CertPool {
	t.Helper()
	pem, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM(pem) {
		t.Fatal("no certificate")
	}
	return p
}

func TestALetterIsEncryptedAndAServerOfAWrongNameGetsNone(t *testing.T) {
	peer := peers.Mail(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := mail.Server{Address: peer.Addr, From: "Plant <plant@example.org>", User: peer.User, Password: peer.Password}
	letter := &mail.Letter{To: "ada@example.org", Subject: "Störung", Text: "too hot\n.\nat 85 °C\n"}
	if err := s.Send(ctx, letter); err == nil || !strings.Contains(err.Error(), "certificate of the mail server 127.0.0.1 is not valid") {
		t.Fatalf("a certificate of nobody: %v", err)
	}
	s.Authorities, s.Password = pool(t, peer.CA), "another"
	if err := s.Send(ctx, letter); err == nil || !strings.Contains(err.Error(), `does not let "plant" log in`) {
		t.Errorf("a wrong password: %v", err)
	}
	s.Password = peer.Password
	if err := s.Send(ctx, letter); err != nil {
		t.Fatal(err)
	}
	var got struct {
		From, Content    string
		To               []string
		Encrypted, Login bool
	}
	if err := json.Unmarshal([]byte(peer.Await(t, "letter")), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Encrypted || !got.Login || got.From != "plant@example.org" || got.To[0] != "ada@example.org" || !strings.HasSuffix(got.Content, "too hot\r\n.\r\nat 85 °C\r\n") {
		t.Errorf("the server took %+v", got)
	}
}
