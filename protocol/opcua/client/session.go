package client

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/gopcua/opcua/ua"
)

// User is who a session is for. The zero User is anonymous.
type User struct {
	Name, Password string
	Plain          bool // the password may be sent readable, if the server wants it so
}

// session is what the server knows the session by.
type session struct {
	token   *ua.NodeID
	timeout time.Duration
}

// SessionTimeout returns how long the server keeps the session without a request.
func (c *Conn) SessionTimeout() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session.timeout
}

// The errors of a session that no status code tells.
var (
	errForged     = errors.New("the server cannot prove that it has the key of its certificate")
	errNoPassword = errors.New("the server takes no user names at this endpoint; remove user and password_file")
	errAnonymous  = errors.New("the server takes nobody without a user name; write user and password_file")
	errPlain      = errors.New("the server wants the password readable; choose another security, or write plain_password: true if the network may see it")
)

// StartSession creates and activates a session (Part 4, clauses 5.7.2 and 5.7.3).
func (c *Conn) StartSession(ctx context.Context, applicationURI string, user User) error {
	created, nonce, err := createSession(ctx, c, applicationURI)
	if err != nil {
		return err
	}
	s := &c.opts.Security
	if !s.none() {
		algo, err := s.asymmetric(s.policy())
		if err != nil {
			return err
		}
		if created.ServerSignature == nil || !sameLeaf(created.ServerCertificate, s.ServerCertificate) ||
			algo.VerifySignature(append(append([]byte{}, s.Certificate...), nonce...), created.ServerSignature.Signature) != nil {
			return errForged
		}
	}
	c.mu.Lock()
	c.session = session{token: created.AuthenticationToken, timeout: time.Duration(created.RevisedSessionTimeout * float64(time.Millisecond))}
	c.mu.Unlock()
	return c.activate(ctx, created, user)
}

func createSession(ctx context.Context, c *Conn, applicationURI string) (*ua.CreateSessionResponse, []byte, error) {
	nonce := make([]byte, 32)
	if _, err := rand.Read(nonce); err != nil {
		return nil, nil, err
	}
	host, _ := os.Hostname()
	req := &ua.CreateSessionRequest{
		ClientDescription: &ua.ApplicationDescription{
			ApplicationURI: applicationURI, ProductURI: "urn:voltbus", ApplicationName: ua.NewLocalizedText("Voltbus"), ApplicationType: ua.ApplicationTypeClient,
		},
		EndpointURL: c.opts.Endpoint, SessionName: "Voltbus on " + host, ClientNonce: nonce, ClientCertificate: c.opts.Security.Certificate,
		RequestedSessionTimeout: float64(2 * time.Minute / time.Millisecond),
	}
	resp, err := c.Do(ctx, req, c.opts.Timeout)
	if err != nil {
		return nil, nil, err
	}
	created, is := resp.(*ua.CreateSessionResponse)
	if !is {
		return nil, nil, fmt.Errorf("the server answers %T to the request for a session", resp)
	}
	return created, nonce, nil
}

func (c *Conn) activate(ctx context.Context, created *ua.CreateSessionResponse, user User) error {
	s := &c.opts.Security
	token, err := s.identity(created, user)
	if err != nil {
		return err
	}
	req := &ua.ActivateSessionRequest{UserIdentityToken: ua.NewExtensionObject(token), ClientSignature: &ua.SignatureData{}, UserTokenSignature: &ua.SignatureData{}}
	if !s.none() {
		algo, err := s.asymmetric(s.policy())
		if err != nil {
			return err
		}
		signature, err := algo.Signature(append(append([]byte{}, created.ServerCertificate...), created.ServerNonce...))
		if err != nil {
			return err
		}
		req.ClientSignature = &ua.SignatureData{Algorithm: algo.SignatureURI(), Signature: signature}
	}
	_, err = c.Do(ctx, req, c.opts.Timeout)
	return err
}

// identity returns the token of a user in the form that the server wants (Part 4, clause 7.41).
func (s *Security) identity(created *ua.CreateSessionResponse, user User) (any, error) {
	wanted := ua.UserTokenTypeAnonymous
	if user.Name != "" {
		wanted = ua.UserTokenTypeUserName
	}
	policy := s.tokenPolicy(created.ServerEndpoints, wanted)
	switch {
	case policy == nil && user.Name != "":
		return nil, errNoPassword
	case policy == nil:
		return nil, errAnonymous
	case user.Name == "":
		return &ua.AnonymousIdentityToken{PolicyID: policy.PolicyID}, nil
	}
	token := &ua.UserNameIdentityToken{PolicyID: policy.PolicyID, UserName: user.Name}
	uri := policy.SecurityPolicyURI
	if uri == "" {
		uri = s.policy()
	}
	if uri == ua.SecurityPolicyURINone {
		if s.mode() != ua.MessageSecurityModeSignAndEncrypt && !user.Plain {
			return nil, errPlain
		}
		token.Password = []byte(user.Password)
		return token, nil
	}
	if s.none() && !sameLeaf(created.ServerCertificate, s.ServerCertificate) {
		return nil, errForged // the password would be for somebody else to read
	}
	algo, err := s.asymmetric(uri)
	if err != nil {
		return nil, err
	}
	secret := ua.NewBuffer(nil)
	secret.WriteUint32(uint32(len(user.Password) + len(created.ServerNonce))) //nolint:gosec // bounded by files and messages
	secret.Write([]byte(user.Password))
	secret.Write(created.ServerNonce)
	if token.Password, err = algo.Encrypt(secret.Bytes()); err != nil {
		return nil, err
	}
	token.EncryptionAlgorithm = algo.EncryptionURI()
	return token, nil
}

// tokenPolicy finds how the server wants users of a kind at the endpoint in use; nil if it takes none.
func (s *Security) tokenPolicy(endpoints []*ua.EndpointDescription, wanted ua.UserTokenType) *ua.UserTokenPolicy {
	for _, e := range endpoints {
		if e == nil || e.SecurityMode != s.mode() || e.SecurityPolicyURI != s.policy() {
			continue
		}
		for _, p := range e.UserIdentityTokens {
			if p != nil && p.TokenType == wanted {
				return p
			}
		}
	}
	return nil
}

// CloseSession tells the server that the session is over, and waits a moment for it.
func (c *Conn) CloseSession(ctx context.Context) {
	_, _ = c.Do(ctx, &ua.CloseSessionRequest{DeleteSubscriptions: true}, min(c.opts.Timeout, time.Second)) // it notices anyway
}
