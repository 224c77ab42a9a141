package mail_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
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

// TestFilesAreAttached reads a letter with the parser of the standard library, as a server took it.
func TestFilesAreAttached(t *testing.T) {
	peer := peers.Mail(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := mail.Server{Address: peer.Addr, From: "plant@example.org", User: peer.User, Password: peer.Password, Authorities: pool(t, peer.CA)}
	data := bytes.Repeat([]byte{0, '.', '\r', '\n', 0xff}, 1000)
	letter := &mail.Letter{To: "ada@example.org", Subject: "week", Text: "für\nAda\n", Files: []mail.File{{Name: "Müll \"1\".pdf", Media: "application/pdf", Data: data}}}
	if err := s.Send(ctx, letter); err != nil {
		t.Fatal(err)
	}
	var got struct{ Content string }
	if err := json.Unmarshal([]byte(peer.Await(t, "letter")), &got); err != nil {
		t.Fatal(err)
	}
	read, err := netmail.ReadMessage(strings.NewReader(got.Content))
	if err != nil {
		t.Fatal(err)
	}
	media, params, err := mime.ParseMediaType(read.Header.Get("Content-Type"))
	if err != nil || media != "multipart/mixed" {
		t.Fatal(media, err)
	}
	parts := multipart.NewReader(read.Body, params["boundary"])
	text, err := parts.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	if said, err := io.ReadAll(text); err != nil || string(said) != "für\r\nAda\r\n" {
		t.Errorf("the text is %q, %v", said, err)
	}
	file, err := parts.NextPart()
	if err != nil || file.FileName() != "Müll \"1\".pdf" || file.Header.Get("Content-Type") != "application/pdf" {
		t.Fatalf("the file is %v, %v", file, err)
	}
	if got, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, file)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("the file is another one: %d bytes, %v", len(got), err)
	}
}
